"""Models of LightGBM and XGBoost: their scores, and the contributions of columns, which add up exactly.

Both packages attribute the score of a row to its columns by TreeSHAP (Lundberg and others, 2020):
contributions and a constant add up to the score.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from rankwise.errors import DataError, FileFormatError
from rankwise.operators.blocks import dense
from rankwise.rows.ranking import RankingData
from rankwise.types import Floats, Matrix


@dataclass(frozen=True, eq=False)
class PeerModel(ABC):
    """The booster of another package."""

    booster: Any
    kind: ClassVar[str]

    @property
    @abstractmethod
    def n_columns(self) -> int: ...

    @property
    @abstractmethod
    def names(self) -> list[str] | None:
        """The names of the columns; None if they are only numbered."""

    @abstractmethod
    def scores(self, X: Matrix) -> Floats: ...

    @abstractmethod
    def contributions(self, X: Matrix) -> Floats:
        """Shape (m, n_columns); rows differ by as much as their scores."""

    def sources(self, data: RankingData) -> list[int]:
        """The feature of the data that each column of the model is, by name or else by position.

        −1 for the empty column 0 that both packages keep for text that numbers its features from 1.
        """
        known = data.feature_names
        if self.names is not None and known is not None:
            return _found_by_name(self.names, known, self.kind)
        if self.n_columns == data.n_features:
            return list(range(data.n_features))
        if data.numbered_from == 1 and self.n_columns == data.n_features + 1:
            return [-1, *range(data.n_features)]
        raise DataError(
            f"The data has {data.n_features} features, but the {self.kind} model was trained on "
            f"{self.n_columns}."
        )


def _found_by_name(names: Sequence[str], known: Sequence[str], kind: str) -> list[int]:
    # LightGBM replaces white space in names.
    places = {"_".join(name.split()): k for k, name in enumerate(known)}
    missing = [name for name in names if "_".join(name.split()) not in places]
    if missing:
        raise DataError(
            f"The {kind} model was trained on {len(names)} features; {len(missing)} of them, such as "
            f"{missing[0]!r}, are not in the data."
        )
    return [places["_".join(name.split())] for name in names]


class LightGBMModel(PeerModel):
    """A booster of LightGBM."""

    kind = "LightGBM"

    @property
    def n_columns(self) -> int:
        return int(self.booster.num_feature())

    @property
    def names(self) -> list[str] | None:
        names = self.booster.feature_name()
        return None if names == [f"Column_{k}" for k in range(len(names))] else names

    def scores(self, X: Matrix) -> Floats:
        return np.asarray(self.booster.predict(X, raw_score=True), dtype=np.float64)

    def contributions(self, X: Matrix) -> Floats:
        return dense(self.booster.predict(X, pred_contrib=True))[:, :-1]


class XGBoostModel(PeerModel):
    """A booster of XGBoost."""

    kind = "XGBoost"

    @property
    def n_columns(self) -> int:
        return int(self.booster.num_features())

    @property
    def names(self) -> list[str] | None:
        names: list[str] | None = self.booster.feature_names
        return names

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


def arranged(X: Matrix, sources: Sequence[int]) -> Matrix:
    """The columns of X in this order, and an empty one for each −1."""
    if list(sources) == list(range(X.shape[1])):
        return X
    if isinstance(X, np.ndarray):
        found = X[:, sources]
        found[:, np.array(sources) < 0] = 0.0
        return found
    # A product with columns of an identity matrix is as fast as any other way.
    places = np.flatnonzero(np.array(sources) >= 0)
    columns = np.array(sources)[places]
    chosen = type(X)((np.ones(len(places)), (columns, places)), shape=(X.shape[1], len(sources)))
    ordered: Matrix = (X @ chosen).tocsr()
    return ordered
