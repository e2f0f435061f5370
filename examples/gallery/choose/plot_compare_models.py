"""
Comparing models
================

A mean over a hundred queries means little without its uncertainty. ``compare`` computes confidence intervals
and two paired tests with Holm's correction, and keeps the values of every query, because a good mean may hide
losses.
"""

import matplotlib.pyplot as plt
import numpy as np

import rankwise

train, test = rankwise.make_search_data(250, random_state=4).split(0.6)
rankers = {
    "RankRLSCV": rankwise.RankRLSCV(measure="ndcg@10"),
    "RankSVMCV": rankwise.RankSVMCV(measure="ndcg@10"),
}
scores = {"title_bm25": test.X[:, test.feature_names.index("title_bm25")]}
scores |= {name: ranker.fit(train).predict(test.X) for name, ranker in rankers.items()}
result = rankwise.metrics.compare(test.y, scores, test.qid, ["ndcg@10"], baseline="title_bm25")
print(result)

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), width_ratios=(2, 3), layout="constrained")
for place, evaluation in enumerate(result.evaluations.values()):
    left.errorbar(evaluation.means["ndcg@10"], place, xerr=evaluation.margins["ndcg@10"], fmt="o", capsize=4)
left.invert_yaxis()
left.set(yticks=range(len(scores)), yticklabels=scores, xlabel="NDCG@10, with 95 % intervals")
per_query = {name: evaluation.per_query["ndcg@10"] for name, evaluation in result.evaluations.items()}
change = np.sort(per_query["RankRLSCV"] - per_query["title_bm25"])
right.bar(range(len(change)), change, width=1.0, color=np.where(change < 0, "C3", "C0"))
right.set(xlabel="queries, from the largest loss to the largest gain", ylabel="RankRLSCV − title_bm25")
plt.show()
