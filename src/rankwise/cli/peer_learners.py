"""Learners of other libraries, and single features, among those that ``rankwise folds`` compares."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from rankwise.errors import DataError, ParameterError

if TYPE_CHECKING:
    from rankwise.rows.ranking import RankingData
    from rankwise.types import Floats

FEATURE = "feature:"
# Iterations without a better NDCG@10 on the validation data, after which boosting ends.
PATIENCE = 20
_QUIET: dict[str, tuple[str, dict[str, Any]]] = {
    "lightgbm": ("LGBMRanker", {"n_estimators": 500, "verbose": -1, "random_state": 0}),
    "xgboost": ("XGBRanker", {"n_estimators": 500, "random_state": 0}),
}
PEERS = tuple(_QUIET)


@dataclass(frozen=True)
class BoostedTrees:
    """LambdaMART by LightGBM or XGBoost, which stops by the NDCG@10 of the validation data."""

    name: str
    kind: str
    settings: dict[str, Any]

    def make(self) -> Any:
        if find_spec(self.kind) is None:
            raise ParameterError(f"The learner {self.kind} needs the package {self.kind}; install it.")
        ranker, options = _QUIET[self.kind]
        if self.kind == "xgboost":
            options = options | {"early_stopping_rounds": PATIENCE, "eval_metric": "ndcg@10"}
        return getattr(import_module(self.kind), ranker)(**options | self.settings)

    def run(
        self, training: RankingData, validation: RankingData, test: RankingData
    ) -> tuple[Floats, dict[str, Any]]:
        """The scores of the test rows, and the number of trees."""
        from rankwise.selection.learner_comparison import fit_any, query_by_query

        held_out, learner = query_by_query(validation), self.make()
        more: dict[str, Any] = {"eval_set": [(held_out.X, held_out.y)]}
        if self.kind == "lightgbm":
            stop = import_module("lightgbm").early_stopping(PATIENCE, verbose=False)
            more |= {"eval_group": [held_out.queries.sizes], "eval_at": [10], "callbacks": [stop]}
        else:
            more |= {"eval_qid": [held_out.queries.query_of_row()], "verbose": False}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*'eval_set'")
            fit_any(learner, query_by_query(training), **more)
        trees = learner.best_iteration_ if self.kind == "lightgbm" else learner.best_iteration + 1
        return learner.predict(test.X), {"trees": int(trees), "at_the_end_of_the_grid": False}


@dataclass(frozen=True)
class OneFeature:
    """The values of a feature as scores."""

    name: str

    def run(
        self, training: RankingData, validation: RankingData, test: RankingData
    ) -> tuple[Floats, dict[str, Any]]:
        from rankwise.selection.learner_comparison import column_of

        feature = self.name.removeprefix(FEATURE)
        if feature not in test.features.labels:
            raise DataError(f"The data has no feature {feature!r}, which --learners names.")
        return column_of(test, feature), {"at_the_end_of_the_grid": False}
