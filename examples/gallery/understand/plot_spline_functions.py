"""
One function per column
=======================

A linear ranker assumes that more of a feature is always better, or always worse. With ``columns="spline"``,
each column gets a piecewise linear function of its own. The score is their sum, so each function can be
drawn.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import rankwise

rng = np.random.default_rng(0)
n = 3000
table = pd.DataFrame(
    {
        "price": np.exp(rng.normal(3.0, 0.7, n)),
        "rating": rng.uniform(1, 5, n).round(1),
        "age_days": rng.integers(0, 700, n).astype(float),
    }
)
liking = {
    "price": -2 * np.abs(np.log(table["price"]) - 3.0),  # users have a budget
    "rating": 0.5 * table["rating"],
    "age_days": -np.minimum(table["age_days"], 100) / 50,  # new things are interesting, for a while
}
grade = np.digitize(sum(liking.values()) + 0.7 * rng.normal(size=n), [-2, -1, 0, 1])
query = np.arange(n) % 150
train = query < 100

models = {name: rankwise.RankRLSCV(columns=name) for name in ("auto", "spline")}
for name, model in models.items():
    model.fit(table[train], grade[train], query[train])
    scores = model.predict(table[~train])
    print(f"{name:7} NDCG@10 {rankwise.metrics.ndcg(grade[~train], scores, query[~train], k=10):.3f}")

# %%
# Each function is drawn by varying one column and keeping the others fixed. The dashed line is the true
# function of the simulation, up to a constant and a factor.
figure, axes = plt.subplots(1, 3, figsize=(11, 3.5), layout="constrained")
for axis, column in zip(axes, table, strict=True):
    values = np.linspace(*table[column].quantile([0.01, 0.99]), 200)
    probe = pd.concat([table.iloc[:1]] * 200, ignore_index=True).assign(**{column: values})
    for name, model in models.items():
        scores = model.predict(probe)
        axis.plot(values, scores - scores.mean(), label=name)
    order = np.argsort(table[column])
    truth = np.interp(values, table[column].iloc[order], liking[column].iloc[order])
    axis.plot(values, 0.6 * (truth - truth.mean()), "k--", linewidth=1, label="truth")
    axis.set(xlabel=column)
axes[0].set(ylabel="added to the score")
axes[0].legend()
plt.show()
