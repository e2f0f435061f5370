"""
Weights with the right signs
============================

With few judgments, a feature that should help may get a negative weight by chance, which is hard to justify.
``monotonic_cst`` computes the exact optimum among the weights with given signs, here without a loss of
quality.
"""

import matplotlib.pyplot as plt
import numpy as np

import rankwise

data = rankwise.make_search_data(200, random_state=6)
train, test = data.split(0.5)
few = train.select(queries=np.unique(train.qid)[:6])
signs = {name: 1 for name in data.feature_names if name.endswith(("bm25", "_coverage", "_cosine", "rating"))}
models = {"any sign": rankwise.RankRLSCV(), "given signs": rankwise.RankRLSCV(monotonic_cst=signs)}

figure, axis = plt.subplots(figsize=(9, 4), layout="constrained")
places = np.arange(len(signs))
columns = [data.feature_names.index(name) for name in signs]
for shift, (name, model) in zip((-0.2, 0.2), models.items(), strict=True):
    model.fit(few)
    ndcg = rankwise.metrics.ndcg(test.y, model.predict(test.X), test.qid, k=10)
    weights = model.coef_ * train.X.std(axis=0)
    axis.bar(places + shift, weights[columns], width=0.4, label=f"{name}: NDCG@10 {ndcg:.3f} on test queries")
axis.axhline(0, color="black", linewidth=0.8)
axis.set_xticks(places, signs, rotation=30, ha="right")
axis.set(ylabel="weight × standard deviation", title="Learned from 6 queries", ylim=(-0.1, 0.48))
axis.legend()
plt.show()
