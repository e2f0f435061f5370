"""
The regularization path
=======================

The solution of a kernel RankSVM, multiplied by alpha, is piecewise linear in alpha. ``RankSVMPath`` follows
it from breakpoint to breakpoint and gives the exact model for every alpha, so there is no grid that could
miss the best one.
"""

import matplotlib.pyplot as plt

import rankwise

train, rest = rankwise.make_search_data(40, random_state=1).scale_per_query().split(0.5)
model = rankwise.RankSVMPath(graph="reduced").fit(train)
model.select(rest.X, rest.y, rest.qid, "ndcg@10")

figure, (top, bottom) = plt.subplots(2, 1, figsize=(9, 6), sharex=True, layout="constrained")
top.semilogx(model.alphas_, model.scores_, linewidth=0.8)
top.axvline(model.alpha_, color="0.6", linewidth=1)
top.set(ylabel="NDCG@10, other queries", title=f"{len(model.alphas_)} breakpoints")
bottom.semilogx(model.alphas_, model.active_size_, linewidth=0.8)
bottom.axvline(model.alpha_, color="0.6", linewidth=1)
bottom.set(xlabel="alpha", ylabel="pairs on the margin")
plt.show()

# %%
# Each breakpoint records the violation of the optimality conditions, which certifies the path:
print(f"largest violation: {model.violation_.max():.1e}")
