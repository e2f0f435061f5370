"""From a frame of features and a click log to a ranker, evaluated on judged queries.

Needs pandas. Run: python examples/learn_from_clicks.py
"""

import pandas as pd

import rankwise
from rankwise import RankingData, RankRLS
from rankwise.clicks import ClickLog

# What a search engineer has (simulated here): the features of the results of every query, ...
train, test = rankwise.make_search_data(n_queries=300, random_state=3).split(0.6, random_state=1)


def engine(data):
    """The ranking in production: text match only."""
    match = [data.feature_names.index(name) for name in ("title_bm25", "body_bm25")]
    return data.X[:, match].sum(axis=1)


features = pd.DataFrame(train.X, columns=train.feature_names)
features["query"], features["url"] = train.qid, train.docs

# ... and a log with one line per result shown, clicked or not.
users = rankwise.clicks.make_click_log(train, engine(train), n_sessions=20_000, random_state=0)
shown = features.loc[users.row, ["query", "url"]].assign(
    session=users.session, position=users.position, clicked=users.clicked
)

# Read both; the results of the log are found in the features by query and document.
data = RankingData.from_frame(features, label=None, qid="query", doc="url")
log = ClickLog.from_frame(
    shown, query="query", doc="url", position="position", clicked="clicked", session="session"
).match(data)
print(log)

# Users look mostly at the top. Does that show in the log?
likelihood = rankwise.clicks.click_likelihood(log)
print(likelihood)
print("The position matters:", "yes" if likelihood.has_bias else "no")


def learn(log):
    """A model of clicks over expected clicks; rows that users examined more often weigh more."""
    return RankRLS(alpha=1.0).fit(rankwise.clicks.rows_from_clicks(log, data))


# Evaluate on judged queries, which decide whether to correct: see docs/clicks.md.
candidates = {
    "the engine": engine(test),
    "clicks, uncorrected": learn(log.with_propensity(1.0)).predict(test.X),
    "clicks, bias corrected": learn(log).predict(test.X),
    "grades": RankRLS(alpha=1.0).fit(train).predict(test.X),
}
for name, scores in candidates.items():
    means = rankwise.metrics.evaluate(test.y, scores, test.qid, measures=["ndcg@10", "pairwise_error"]).means
    print(f"{name:22s}", *(f"{measure} {mean:.3f}" for measure, mean in means.items()))
compared = {name: candidates[name] for name in ("clicks, bias corrected", "the engine")}
print(rankwise.metrics.compare(test.y, compared, test.qid, measures=["ndcg@10"]))
