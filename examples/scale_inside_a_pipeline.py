"""A scikit-learn pipeline with per-query scaling, and a grid search with folds of whole queries.

Run: python examples/scale_inside_a_pipeline.py
"""

import numpy as np
import sklearn
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline

import rankwise
from rankwise import QueryMinMaxScaler, RankRLS, rank_scorer

# With metadata routing, qid reaches every step that requests it; set_fit_request is not needed.
sklearn.set_config(enable_metadata_routing=True)

train, test = rankwise.make_search_data(n_queries=250, random_state=5).split(0.8)
search = GridSearchCV(
    make_pipeline(QueryMinMaxScaler(), RankRLS()),
    {"rankrls__alpha": 10.0 ** np.arange(-2, 4)},
    scoring=rank_scorer("ndcg@10"),
    cv=GroupKFold(5).set_split_request(groups="qid"),  # the folds are drawn by qid, too
)
search.fit(train.X, train.y, qid=train.qid)

found = search.cv_results_
for alpha, mean, deviation in zip(
    found["param_rankrls__alpha"], found["mean_test_score"], found["std_test_score"], strict=True
):
    print(f"alpha {alpha:7g}: NDCG@10 {mean:.4f} ± {deviation:.4f}")
best = search.best_params_["rankrls__alpha"]
print(f"On new queries, with alpha {best:g}: {search.score(test.X, test.y, qid=test.qid):.4f}")

# GridSearchCV.predict does not pass qid on; the best pipeline's predict accepts it.
scores = search.best_estimator_.predict(test.X, qid=test.qid)
print(rankwise.metrics.evaluate(test.y, scores, test.qid))
