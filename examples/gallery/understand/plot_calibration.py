"""
How sure is the ranker?
=======================

Scores have no unit. A logistic function, fitted to pairs of left-out queries, turns a difference of scores
into the probability that the first row is judged above the second. The curve shows whether these
probabilities can be trusted.
"""

import matplotlib.pyplot as plt
import numpy as np

import rankwise

train, test = rankwise.make_search_data(300, random_state=0).split(0.6)
model = rankwise.RankRLSCV().fit(train)
on_test = model.measure_calibration(test)

figure, axis = plt.subplots(figsize=(5.5, 5), layout="constrained")
axis.plot([0.5, 1], [0.5, 1], color="0.7", linewidth=1)
for name, calibration in {"left-out queries": model.calibration_, "test queries": on_test}.items():
    error = calibration.expected_calibration_error
    axis.plot(calibration.predicted, calibration.observed, "o-", label=f"{name}: {error:.3f}")
axis.set(xlabel="predicted probability", ylabel="share of pairs in that order", aspect="equal")
axis.legend(title="expected calibration error")
plt.show()

# %%
# The probability for two rows of a query, and the contribution of each feature:
first, second = model.rank(test.X, test.qid)[:2]
print(np.round(model.predict_preference_proba(test.X, [[first, second]]), 3))
print(model.explain(test.X, first, second))
