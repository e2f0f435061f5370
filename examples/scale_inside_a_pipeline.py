"""Per-query scaling and RankRLS in a scikit-learn pipeline, with folds that keep queries whole.

Run: python examples/scale_inside_a_pipeline.py
"""

import numpy as np
import sklearn
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline

import rankwise
from rankwise import QueryMinMaxScaler, RankRLS

# With metadata routing, qid reaches every step that asks for it; no set_fit_request is needed.
sklearn.set_config(enable_metadata_routing=True)

data = rankwise.make_search_data(n_queries=200, seed=5)
folds = list(GroupKFold(5).split(data.X, data.y, groups=data.qid))
for alpha in 10.0 ** np.arange(-2, 4):
    ndcg = []
    for train, test in folds:
        pipeline = make_pipeline(QueryMinMaxScaler(), RankRLS(alpha=alpha))
        pipeline.fit(data.X[train], data.y[train], qid=data.qid[train])
        scores = pipeline.predict(data.X[test], qid=data.qid[test])
        ndcg.append(rankwise.metrics.ndcg(data.y[test], scores, data.qid[test], k=10))
    print(f"alpha {alpha:7g}: NDCG@10 {np.mean(ndcg):.4f} ± {np.std(ndcg):.4f}")
