"""Fits whose bits a change of the house must keep, as digests of their scores.

Run as a module, with a folder that `checkout` made, it prints them as JSON.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from inspect import signature
from pathlib import Path
from typing import Any

from house.checkout import import_from


def main() -> None:
    import_from(Path(sys.argv[1]))
    warnings.simplefilter("ignore")
    print(json.dumps(digests()))


def digests() -> dict[str, str]:
    """A digest for each ranker, form of the rows and way of learning."""
    import numpy as np
    from scipy import sparse
    from sklearn.utils import get_tags

    import rankwise

    data = rankwise.make_search_data(12, random_state=0).scale_per_query()
    X, y, qid = data.X, data.y, np.asarray(data.qid)
    random = np.random.default_rng(0)
    weight, gone = random.uniform(0.5, 2.0, len(y)), qid == qid[0]
    pairs = np.column_stack([random.permutation(len(y)), random.permutation(len(y))])
    pairs = pairs[y[pairs[:, 0]] > y[pairs[:, 1]]]
    found = {}

    def note(how: str, ranker: Any, rows: Any) -> None:
        scores = ranker.predict(rows)
        found[f"{ranker} {how}"] = hashlib.sha256(scores.tobytes()).hexdigest()

    for ranker in rankers():
        for how, rows in {
            "dense": X,
            "sparse": sparse.csr_matrix(X),
            "float32": X.astype(np.float32),
        }.items():
            if how == "sparse" and not get_tags(ranker).input_tags.sparse:
                continue
            note(how, ranker.fit(rows, y, qid), rows)
        if "sample_weight" in signature(ranker.fit).parameters:
            note("weighted", ranker.fit(X, y, qid, weight), X)
        if hasattr(ranker, "fit_preferences") and ranker.get_params().get("measure") != "ndcg@10":
            note("pairs", ranker.fit_preferences(X, pairs), X)
        if hasattr(ranker, "forget"):
            note("forgets", ranker.fit(X, y, qid).forget(X[gone], y[gone], qid[gone]), X)
            note("learns", ranker.partial_fit(X[gone], y[gone], qid[gone]), X)
    return found


def rankers() -> list[Any]:
    """One of each kind, with options that change the arithmetic."""
    import rankwise

    signs = [1] * 5 + [-1] * 5 + [0] * 12
    return [
        rankwise.RankRLS(),
        rankwise.RankRLS(0.1, ties="drop", weighting="query"),
        rankwise.RankRLS(monotonic_cst=signs),
        rankwise.RankRLS(0.1, solver="dual", ties="drop"),
        rankwise.RankRLS(solver="cg", weighting="pair"),
        rankwise.RankRLS(columns="spline"),
        rankwise.RankRLSCV(measure="ndcg@10"),
        rankwise.RankRLSCV(cv=3, ties=("keep", "drop")),
        rankwise.RankRLSPath(max_features=4),
        rankwise.KernelRankRLS(gamma=0.1),
        rankwise.KernelRankRLS(gamma=0.1, basis=30, random_state=0),
        rankwise.KernelRankRLSCV(gamma=0.1, cv=3),
        rankwise.RankSVM(1e-2),
        rankwise.RankSVM(1e-2, loss="squared_hinge"),
        rankwise.RankSVMCV([1e-1, 1e-2], cv=3),
        rankwise.RankSVMPath(kernel="linear", graph="reduced"),
    ]


if __name__ == "__main__":
    main()
