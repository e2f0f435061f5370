"""
How many judgments are enough?
==============================

Judgments are expensive. A learning curve shows whether more of them would still help, and whether a simpler
or a more flexible ranker suits those that you have.
"""

import matplotlib.pyplot as plt
import numpy as np

import rankwise

train, test = rankwise.make_search_data(360, random_state=2).scale_per_query().split(0.5)
queries = np.unique(train.qid)
sizes = [5, 10, 20, 40, 80, 160]
rankers = {
    "RankRLSCV": rankwise.RankRLSCV(measure="ndcg@10"),
    "KernelRankRLSCV, 100 basis rows": rankwise.KernelRankRLSCV(gamma=[0.1], basis=100, measure="ndcg@10"),
}

figure, axis = plt.subplots(figsize=(8, 4.5), layout="constrained")
for name, ranker in rankers.items():
    curve = []
    for size in sizes:
        model = ranker.fit(train.select(queries=queries[:size]))
        curve.append(rankwise.metrics.ndcg(test.y, model.predict(test.X), test.qid, k=10))
    axis.semilogx(sizes, curve, "o-", base=2, label=name)
best_feature = max(rankwise.metrics.ndcg(test.y, column, test.qid, k=10) for column in test.X.T)
axis.axhline(best_feature, color="0.6", linestyle="--", label="best single feature")
axis.set(xlabel="judged queries", ylabel="NDCG@10 on other queries", xticks=sizes, xticklabels=sizes)
axis.legend()
plt.show()
