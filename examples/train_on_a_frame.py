"""Train on a pandas frame, compare with baselines that do not learn to rank, and interpret the model.

Needs pandas. Run: python examples/train_on_a_frame.py
"""

import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge

import rankwise
from rankwise import RankingData, RankRLS

# A typical judgment list: one line per judged document, with the name of its query.
simulated = rankwise.make_search_data(n_queries=300, random_state=7)
frame = pd.DataFrame(simulated.X, columns=simulated.feature_names)
frame["query"] = [f"query {q}" for q in simulated.qid]
frame["doc"] = simulated.docs
frame["grade"] = simulated.y
frame = frame.sample(frac=1.0, random_state=0)  # row order does not matter

data = RankingData.from_frame(frame, label="grade", qid="query", doc="doc")
train, test = data.split(0.6, random_state=1)  # whole queries
print(data)

model = RankRLS(alpha=1.0).fit(train)
alone = [rankwise.metrics.ndcg(train.y, feature, train.qid, k=10) for feature in train.X.T]
candidates = {
    "best single feature": test.X[:, np.argmax(alone)],
    "regression on grades": Ridge(alpha=1.0).fit(train.X, train.y).predict(test.X),
    "RankRLS": model.predict(test.X),
}
for name, scores in candidates.items():
    means = rankwise.metrics.evaluate(test.y, scores, test.qid, measures=["ndcg@10", "pairwise_error"]).means
    print(f"{name:22s}", *(f"{measure} {mean:.3f}" for measure, mean in means.items()))

# The weight per unit of a feature, times its spread within queries, tells how much it moves the ranking.
inside = train.X - pd.DataFrame(train.X).groupby(train.qid).transform("mean").to_numpy()
effect = pd.Series(model.coef_ * inside.std(axis=0), index=data.feature_names)
print("\nWhat moves the ranking most:")
print(effect.sort_values(key=abs, ascending=False).head(6).round(3).to_string())
