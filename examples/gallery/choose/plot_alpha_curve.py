"""
Choosing alpha
==============

How strongly should weights be penalized? ``RankRLSCV`` and ``RankSVMCV`` evaluate a grid of alphas on
left-out queries. For RankRLS, this is exact leave-query-out, from one decomposition for all alphas.
"""

import matplotlib.pyplot as plt

import rankwise

train, test = rankwise.make_search_data(120, random_state=3).scale_per_query().split(0.5)
searches = {rankwise.RankRLS: rankwise.RankRLSCV(), rankwise.RankSVM: rankwise.RankSVMCV()}

figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
for axis, (ranker, search) in zip(axes, searches.items(), strict=True):
    search.fit(train)
    on_test = [1 - ranker(alpha).fit(train).score(test.X, test.y, test.qid) for alpha in search.alphas_]
    axis.semilogx(search.alphas_, search.scores_[0], label=f"left out ({search.cv_})")
    axis.semilogx(search.alphas_, on_test, "--", label="test queries")
    axis.axvline(search.alpha_, color="0.6", linewidth=1)
    axis.set(title=type(search).__name__, xlabel="alpha")
    axis.legend()
axes[0].set(ylabel="pairs in the wrong order")
plt.show()

# %%
# The grey lines are the chosen alphas. Both rankers are good for alphas over many orders of magnitude, as
# long as they are not far too large (on the right). RankRLS sums over pairs and RankSVM averages, so their
# alphas differ.
