"""Learn from a click log instead of judgments, with and without correcting for position bias.

Run: python examples/learn_from_clicks.py
"""

import rankwise
from rankwise import RankRLS

train, test = rankwise.make_search_data(n_queries=300, random_state=3).split(0.6, random_state=1)


def engine(data):
    """The production ranking: text match only."""
    return (
        data.X[:, data.feature_names.index("title_bm25")] + data.X[:, data.feature_names.index("body_bm25")]
    )


# Users saw the engine's rankings, looked mostly at the top, and clicked what they liked among what they saw.
simulated = rankwise.make_click_log(train, engine(train), n_sessions=20_000, random_state=0)

# A log does not record where users looked; this is estimated from rows shown at several positions.
log = rankwise.ClickLog.from_arrays(simulated.session, simulated.row, simulated.position, simulated.clicked)
print(log)
for position in (1, 2, 5, 10):
    look = log.propensity[log.position == position][0]
    print(f"  estimated share of users who look at position {position:2d}: {look:.3f}")

# A click ranks its row above the others on the page. A click far down the page is rare and counts for more.
corrected = RankRLS(alpha=1.0).fit_preferences(train.X, rankwise.pairs_from_clicks(log))
alike = rankwise.pairs_from_clicks(log, max_weight=1.0)  # every click counts equally
biased = RankRLS(alpha=1.0).fit_preferences(train.X, alike)

# Evaluate on grades, which none of the above has seen.
candidates = {
    "the engine": engine(test),
    "clicks, uncorrected": biased.predict(test.X),
    "clicks, bias corrected": corrected.predict(test.X),
    "grades": RankRLS(alpha=1.0).fit(train.X, train.y, train.qid).predict(test.X),
}
for name, scores in candidates.items():
    means = rankwise.metrics.evaluate(test.y, scores, test.qid, measures=["ndcg@10", "pairwise_error"]).means
    print(f"{name:22s}", *(f"{measure} {mean:.3f}" for measure, mean in means.items()))
