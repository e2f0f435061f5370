"""What a ranker takes: rows with certain features, or tables whose columns become features."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwise.columns.encoding import Encoding
from rankwise.features import Features, JudgedRows, features_of, refuse_parts
from rankwise.rows.table import Table
from rankwise.types import AnyArray, Matrix
from rankwise.validation import (
    Problem,
    check_judged_rows,
    check_problem,
    check_rows,
    check_scaling,
    taken_apart,
)

_ATTRIBUTES = ("n_features_in_", "feature_names_in_", "numbered_from_", "scaled_per_query_", "encoding_")


@dataclass(frozen=True, eq=False)
class Inputs:
    """The rows that a ranker was fitted to, and with which others must agree.

    Attributes
    ----------
    who : str
        The class of the ranker, which messages name.
    features : Features
        The columns of X.
    encoding : Encoding or None
        What the columns of a table become; None if they are features already.
    sparse : bool
        Whether rows may be sparse.
    context : tuple of str
        The columns that were constant within queries, if they play no part in the model.
    """

    who: str
    features: Features
    encoding: Encoding | None = None
    sparse: bool = True
    context: tuple[str, ...] = ()

    def attributes(self) -> dict[str, Any]:
        """The attributes by which scikit-learn and model files describe X."""
        features = self.features
        names = None if features.names is None else np.array(features.names, dtype=object)
        values = (features.count, names, features.numbered_from, features.scaled_per_query, self.encoding)
        return {name: value for name, value in zip(_ATTRIBUTES, values, strict=True) if value is not None}

    def record_on(self, estimator: Any) -> None:
        """Set these attributes, and none of earlier rows."""
        for name in _ATTRIBUTES:
            estimator.__dict__.pop(name, None)
        estimator.__dict__.update(self.attributes())

    @property
    def weight_names(self) -> tuple[str, ...] | None:
        """The names of the features that have weights; None if they have none."""
        if self.encoding is not None:
            return tuple(self.encoding.feature_names)
        return None if self.features.names is None else tuple(self.features.names)

    @property
    def weight_labels(self) -> AnyArray:
        """What to call the features that have weights."""
        labels = self.features.labels if self.encoding is None else self.encoding.feature_names
        return np.array(labels, dtype=object)

    def rows_to_score(self, X: Any, finite: bool = True, *, qid: Any = None) -> Matrix | Table:
        """Rows as the function of the model takes them: a table if columns are encoded."""
        return self.rows(X, finite) if self.encoding is None else self._table(X, qid, self.encoding)

    def rows(self, X: Any, finite: bool = True, *, qid: Any = None) -> Matrix:
        """The matrix of the features that have weights; columns that compare rows need their qid."""
        if self.encoding is not None:
            return self.encoding.encode(self._table(X, qid, self.encoding))
        how = {"sparse": self.sparse, "finite": finite}
        return check_rows(X, who=self.who, like=self.features, **how)

    def _table(self, X: Any, qid: Any, encoding: Encoding) -> Table:
        refuse_parts(X)
        check_scaling(X, self.features)
        return encoding.table(X, qid)

    def problem(
        self,
        X: Any,
        y: Any,
        qid: ArrayLike | Iterable[Hashable] | None,
        sample_weight: ArrayLike | None,
        *,
        query_weight: Any = None,
        group: Any = None,
        multi_output: bool = False,
    ) -> tuple[Problem, Table | None]:
        """Check more rows to learn, as `rankwise.rankers.row_settings.RowSettings` does the first ones."""
        y, qid, sample_weight = taken_apart(X, y, qid, sample_weight, group)
        given = None if isinstance(X, JudgedRows) else qid
        table: Table | None = None
        if self.encoding is None:
            how: dict[str, Any] = {"sparse": self.sparse, "multi_output": multi_output}
            rows, y = check_judged_rows(X, y, who=self.who, like=self.features, **how)
        else:
            table = self._table(X, given, self.encoding)
            rows, y = check_judged_rows(self.encoding.encode(table), y, who=self.who)
        return check_problem(X, rows, y, qid, sample_weight, query_weight), table


def features_behind(X: Any, encoding: Encoding) -> Features:
    """The columns of a table, scaled as it is, that an encoding takes."""
    return replace(encoding.features, scaled_per_query=features_of(X).scaled_per_query)
