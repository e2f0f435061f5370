"""
Kernels on a few basis rows
===========================

A kernel ranker on all m rows takes O(m³). On r basis rows it takes O(m r²), and a few hundred of them are
often enough. Here, users want a price near their budget, neither lower nor higher, which no linear function
can express.
"""

import matplotlib.pyplot as plt
import numpy as np

import rankwise

rng = np.random.default_rng(0)
qid = np.repeat(np.arange(160), 15)
price, rating = rng.uniform(0, 1, size=(2, len(qid)))
wanted = 2.0 * np.exp(-(((price - 0.6) / 0.2) ** 2)) + rating
X = np.column_stack([price, rating])
y = np.digitize(wanted + 0.2 * rng.normal(size=len(qid)), [0.7, 1.4, 2.2])
train = qid < 80
sizes = [2, 4, 8, 16, 32, 64, 128]


def quality(ranker):
    ranker.fit(X[train], y[train], qid[train])
    return rankwise.metrics.ndcg(y[~train], ranker.predict(X[~train]), qid[~train], k=10)


grid = np.stack(np.meshgrid(np.linspace(0, 1, 60), np.linspace(0, 1, 60)), axis=-1)
kernel = rankwise.KernelRankRLS(alpha=0.1, gamma=5.0, basis=64, random_state=0)
curve = [quality(kernel.set_params(basis=size)) for size in sizes]

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.semilogx(sizes, curve, "o-", base=2, label="rbf kernel")
left.axhline(quality(rankwise.RankRLSCV()), color="0.6", linestyle="--", label="linear")
left.set(xlabel="basis rows", ylabel="NDCG@10 on other queries", xticks=sizes, xticklabels=sizes)
left.legend()
scores = kernel.predict(grid.reshape(-1, 2)).reshape(60, 60)
shades = right.contourf(grid[..., 0], grid[..., 1], scores, levels=12)
right.set(xlabel="price / budget", ylabel="rating", title="What was learned")
figure.colorbar(shades, label="score")
plt.show()
