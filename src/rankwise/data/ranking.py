"""The frozen container that every reader returns."""

from __future__ import annotations

from dataclasses import dataclass

from rankwise.preferences.queries import Queries
from rankwise.types import AnyArray, Floats, Matrix


@dataclass(frozen=True)
class RankingData:
    """Judged rows, in the order they came in.

    Attributes
    ----------
    X : Matrix, shape (m, n)
        CSR or dense, float64 or float32.
    y : Floats, shape (m,)
        Labels of any real value.
    queries : Queries
        The partition of the rows into queries; ``queries.order`` leads from grouped rows back to these.
    qid : array or None, shape (m,)
        The query label of each row as it was read; None when the data has no queries.
    docs : array or None, shape (m,)
        The document label of each row.
    feature_names : tuple of str or None
    """

    X: Matrix
    y: Floats
    queries: Queries
    qid: AnyArray | None = None
    docs: AnyArray | None = None
    feature_names: tuple[str, ...] | None = None

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def n_queries(self) -> int:
        return self.queries.n_queries
