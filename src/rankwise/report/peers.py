"""Models of LightGBM and XGBoost: their scores, and the contributions of columns, which add up exactly.

Both packages attribute the score of a row to its columns by TreeSHAP (Lundberg and others, 2020):
contributions and a constant add up to the score.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from rankwise.data.ranking import RankingData
from rankwise.errors import DataError, FileFormatError
from rankwise.operators.blocks import dense
from rankwise.types import Floats, Matrix


@dataclass(frozen=True, eq=False)
class PeerModel(ABC):
    """The booster of another package."""

    booster: Any
    kind: ClassVar[str]

    @property
    @abstractmethod
    def columns(self) -> list[str]:
        """The names of the columns."""

    @abstractmethod
    def scores(self, X: Matrix) -> Floats: ...

    @abstractmethod
    def contributions(self, X: Matrix) -> Floats:
        """Shape (m, n_columns); rows differ by as much as their scores."""

    def rows(self, data: RankingData) -> Matrix:
        """The rows of a data set with the columns that the model numbers."""
        X: Matrix = data.X
        n_columns = len(self.columns)
        if n_columns == X.shape[1]:
            return X
        # Both packages keep an empty column 0 for text that numbers its features from 1.
        if data.numbered_from == 1 and n_columns == X.shape[1] + 1:
            return _with_empty_first_column(X)
        raise DataError(
            f"The data has {X.shape[1]} features, but the {self.kind} model was trained on {n_columns}."
        )


class LightGBMModel(PeerModel):
    """A booster of LightGBM."""

    kind = "LightGBM"

    @property
    def columns(self) -> list[str]:
        return [str(name) for name in self.booster.feature_name()]

    def scores(self, X: Matrix) -> Floats:
        return np.asarray(self.booster.predict(X, raw_score=True), dtype=np.float64)

    def contributions(self, X: Matrix) -> Floats:
        return dense(self.booster.predict(X, pred_contrib=True))[:, :-1]


class XGBoostModel(PeerModel):
    """A booster of XGBoost."""

    kind = "XGBoost"

    @property
    def columns(self) -> list[str]:
        names = self.booster.feature_names
        return [f"f{k}" for k in range(self.booster.num_features())] if names is None else list(names)

    def scores(self, X: Matrix) -> Floats:
        return self._predicted(X, output_margin=True)

    def contributions(self, X: Matrix) -> Floats:
        return self._predicted(X, pred_contribs=True)[:, :-1]

    def _predicted(self, X: Matrix, **what: bool) -> Floats:
        from xgboost import DMatrix

        rows = DMatrix(X, feature_names=self.booster.feature_names)
        return np.asarray(self.booster.predict(rows, **what), dtype=np.float64)


def peer_model(ranker: Any) -> PeerModel | None:
    """A booster of LightGBM or XGBoost, or the ranker that holds one; None for anything else."""
    package = type(ranker).__module__.partition(".")[0]
    if package == "lightgbm":
        return LightGBMModel(getattr(ranker, "booster_", ranker))
    if package == "xgboost":
        return XGBoostModel(ranker.get_booster() if hasattr(ranker, "get_booster") else ranker)
    return None


def load_peer(path: Path) -> Any:
    """The booster in a file of LightGBM or XGBoost, recognized by how it begins; None for other files."""
    with path.open("rb") as file:
        start = file.read(64)
    if start.startswith(b"tree\n"):
        package, failure = "LightGBM", "LightGBMError"
    elif start.startswith(b"{") and b"learner" in start:
        package, failure = "XGBoost", "XGBoostError"
    else:
        return None
    try:
        module = import_module(package.lower())
    except ImportError:
        message = f"this is a {package} model, which can be read only if {package.lower()} is installed."
        raise FileFormatError(path, message) from None
    core = module.basic if package == "LightGBM" else module.core
    try:
        return module.Booster(model_file=str(path))
    except getattr(core, failure) as error:
        raise FileFormatError(path, f"{package} cannot read this model.") from error


def _with_empty_first_column(X: Matrix) -> Matrix:
    n_rows, n_columns = X.shape
    if isinstance(X, np.ndarray):
        return np.concatenate([np.zeros((n_rows, 1), dtype=X.dtype), X], axis=1)
    return type(X)((X.data, X.indices + 1, X.indptr), shape=(n_rows, n_columns + 1))
