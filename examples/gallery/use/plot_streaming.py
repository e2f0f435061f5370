"""
Learning week by week
=====================

New judgments arrive every week. ``RankRLSCV.partial_fit`` scores each week before learning from it, so its
errors are unbiased, and the model equals a fit to all weeks. With a half-life, old weeks count less.
"""

import matplotlib.pyplot as plt
import numpy as np

import rankwise

REDESIGN = 30


def judged(week):
    """20 queries a week; after a redesign of the shop, users care about other things."""
    rng = np.random.default_rng(week)
    X = rng.normal(size=(300, 6))
    taste = [1.0, 0.6, 0.2, 0.0, 0.0, 0.0] if week < REDESIGN else [0.2, 0.6, 0.2, 1.0, 0.0, 0.0]
    y = np.digitize(X @ taste + rng.normal(size=300), [-1.0, 0.0, 1.0])
    return X, y, [f"{week}-{query}" for query in np.repeat(np.arange(20), 15)]


models = {"everything": rankwise.RankRLSCV(), "half-life of 4 weeks": rankwise.RankRLSCV(half_life=4.0)}
for week in range(60):
    for model in models.values():
        model.partial_fit(*judged(week))

figure, axis = plt.subplots(figsize=(9, 4), layout="constrained")
for name, model in models.items():
    errors = model.progress_.min(axis=1)
    axis.plot(np.arange(1, 60), errors, label=name)
axis.axvline(REDESIGN, color="0.6", linewidth=1)
axis.annotate("redesign", (REDESIGN, 0.4), xytext=(-60, 0), textcoords="offset points")
axis.set(xlabel="week", ylabel="pairs in the wrong order, before learning", ylim=(0.1, 0.45))
axis.legend()
plt.show()

# %%
# Forgetting is exact, too: ``forget`` removes rows from the model, as if they had never been learned.
model = rankwise.RankRLS().partial_fit(*judged(0)).partial_fit(*judged(1)).forget(*judged(0))
print(np.abs(model.coef_ - rankwise.RankRLS().fit(*judged(1)).coef_).max())
