"""
Where a correction for clicks helps
===================================

Users look mostly at the top, so a click log reflects the engine's order as much as the quality of the
results. Correcting for the position helps with some logs and hurts with others, as this small map shows;
``python -m benchmarks clicks`` draws the large one, which :doc:`/clicks` explains.
"""

import matplotlib.pyplot as plt
import numpy as np

import rankwise

train, test = rankwise.make_search_data(160, random_state=3).split(0.6)


def standard(column):
    return (column - column.mean()) / column.std()


noise = np.random.default_rng(0).normal(size=len(train.y))
text = standard(train.X[:, train.feature_names.index("title_bm25")])
grades = standard(train.y)
engines = {"random": noise, "text match": text, "text and grades": text + grades, "grades": grades}
explorations = [0.1, 0.3, 1.0, 3.0]


def quality(log):
    """NDCG@10, on other queries, of a ranker that learned from a log."""
    model = rankwise.RankRLS().fit(rankwise.clicks.rows_from_clicks(log, train))
    return rankwise.metrics.ndcg(test.y, model.predict(test.X), test.qid, k=10)


gains = np.zeros((len(engines), len(explorations)))
for row, scores in enumerate(engines.values()):
    for column, exploration in enumerate(explorations):
        log = rankwise.clicks.make_click_log(
            train, scores, n_sessions=4000, exploration=exploration, random_state=1
        )
        gains[row, column] = quality(log) - quality(log.with_propensity(1.0))

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
image = axis.imshow(gains, cmap="RdBu", vmin=-0.07, vmax=0.07, aspect="auto")
for (row, column), gain in np.ndenumerate(gains):
    axis.text(column, row, f"{gain:+.3f}", ha="center", va="center")
axis.set_xticks(range(len(explorations)), explorations)
axis.set_yticks(range(len(engines)), engines)
axis.set(xlabel="exploration of the engine", title="Change of NDCG@10 by the correction")
figure.colorbar(image)
plt.show()

# %%
# There is one log per cell, so differences of a few thousandths are noise. The correction helps most if the
# engine is worse than the ranker could be and explores little; an engine that ranks by the grades is worth
# imitating.
