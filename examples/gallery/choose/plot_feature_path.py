"""
How many features are enough?
=============================

Every feature has to be computed, monitored and explained. ``RankRLSPath`` adds features one by one, always
the one that improves left-out queries most, and chooses the smallest model that is about as good as the best.
"""

import matplotlib.pyplot as plt
import numpy as np

import rankwise

data = rankwise.make_search_data(120, random_state=0)
model = rankwise.RankRLSPath(max_features=8, measure="ndcg@10").fit(data)
table = model.path_table()

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
sizes = [row["n_features"] for row in table]
left.errorbar(
    sizes, [row["score"] for row in table], [row["standard_error"] for row in table], fmt="o-", capsize=3
)
left.axvline(model.n_features_, color="0.6", linewidth=1)
left.set(xlabel="features", ylabel="NDCG@10 on folds of queries", title=f"{model.n_features_} are enough")
for row in table:
    column = data.feature_names.index(row["feature"])
    weights = np.where(model.coefs_[:, column] != 0, model.coefs_[:, column], np.nan)
    right.plot(sizes, weights * data.X[:, column].std(), "o-", markersize=3, label=row["feature"])
right.axhline(0, color="black", linewidth=0.8)
right.set(xlabel="features", ylabel="weight × standard deviation")
right.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()
