"""What a ranker takes: rows with certain features, or tables whose columns become features."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwise.columns.encoding import Encoding
from rankwise.columns.fitting import fit_encoding
from rankwise.errors import DataError
from rankwise.features import Features, JudgedParts, features_of
from rankwise.preferences.pairs import Pairs
from rankwise.rows.table import Table, table_of
from rankwise.types import AnyArray, Matrix
from rankwise.validation import (
    Problem,
    check_judged_rows,
    check_pairs_to_learn,
    check_problem,
    check_rows,
    check_scaling,
    refuse_beside_parts,
    refuse_parts,
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
    """

    who: str
    features: Features
    encoding: Encoding | None = None
    sparse: bool = True

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

    def rows_to_score(self, X: Any, finite: bool = True) -> Matrix | Table:
        """Rows as the function of the model takes them: a table if columns are encoded."""
        return self.rows(X, finite) if self.encoding is None else self._table(X)

    def rows(self, X: Any, finite: bool = True) -> Matrix:
        """The matrix of the features that have weights."""
        if self.encoding is not None:
            return self.encoding.encode(self._table(X))
        how = {"sparse": self.sparse, "finite": finite}
        return check_rows(X, who=self.who, like=self.features, **how)[0]

    def _table(self, X: Any) -> Table:
        refuse_parts(X)
        check_scaling(X, self.features)
        return table_of(X)

    def problem(
        self,
        X: Any,
        y: Any,
        qid: ArrayLike | Iterable[Hashable] | None,
        sample_weight: ArrayLike | None,
        *,
        query_weight: Any = None,
        multi_output: bool = False,
    ) -> Problem:
        """Check more rows to learn, as `read_problem` does the first ones."""
        _, y, qid = taken_apart(X, y, qid)
        if self.encoding is None:
            how: dict[str, Any] = {"sparse": self.sparse, "multi_output": multi_output}
            rows, y, _ = check_judged_rows(X, y, who=self.who, like=self.features, **how)
        else:
            rows, y, _ = check_judged_rows(self.encoding.encode(self._table(X)), y, who=self.who)
        return check_problem(X, rows, y, qid, sample_weight, query_weight)


def read_problem(
    X: Any,
    y: Any,
    qid: ArrayLike | Iterable[Hashable] | None,
    sample_weight: ArrayLike | None,
    *,
    who: str,
    columns: Any = None,
    sparse: bool = True,
    parts: bool = False,
    query_weight: Any = None,
    multi_output: bool = False,
) -> tuple[Problem, Inputs]:
    """Check the arguments of `fit`.

    X may be a data set, which stands for y and qid as well. If other processes hold the rows, what stands
    for a `Problem` is returned.

    Parameters
    ----------
    who : str
        The class of the ranker.
    columns : str or dict, optional
        Its parameter of that name.
    sparse, parts, multi_output : bool
        Whether it takes sparse rows, rows that other processes hold, and labels of several targets.
    """
    if isinstance(X, JudgedParts):
        inputs = _inputs_of_parts(X, who, columns, parts)
        refuse_beside_parts(X, y=y, qid=qid, sample_weight=sample_weight, query_weight=query_weight)
        return X.problem(), inputs
    _, y, qid = taken_apart(X, y, qid)
    encoded, encoding = _encoded(X, columns)
    multi_output = multi_output and encoding is None
    rows, y, found = check_judged_rows(
        encoded, y, who=who, sparse=sparse or encoding is not None, least=2, multi_output=multi_output
    )
    inputs = Inputs(who, found if encoding is None else _encoded_features(X, encoding), encoding, sparse)
    return check_problem(X, rows, y, qid, sample_weight, query_weight), inputs


def read_preferences(
    X: Any,
    pairs: Any,
    magnitude: ArrayLike | None,
    weight: ArrayLike | None,
    *,
    who: str,
    columns: Any = None,
    sparse: bool = True,
    parts: bool = False,
) -> tuple[Matrix, Pairs, Inputs]:
    """Check the arguments of `fit_preferences`, as `read_problem` does those of `fit`."""
    if isinstance(X, JudgedParts):
        inputs = _inputs_of_parts(X, who, columns, parts)
        checked = check_pairs_to_learn(pairs, X.n_rows, magnitude, weight)
        return *X.preferences(checked), inputs
    encoded, encoding = _encoded(X, columns)
    rows, found = check_rows(encoded, who=who, sparse=sparse or encoding is not None, least=2)
    inputs = Inputs(who, found if encoding is None else _encoded_features(X, encoding), encoding, sparse)
    return rows, check_pairs_to_learn(pairs, rows.shape[0], magnitude, weight), inputs


def _encoded(X: Any, columns: Any) -> tuple[Any, Encoding | None]:
    """The features that the columns of X become, and how; X itself if nothing is to be encoded."""
    if columns is None:
        return X, None
    refuse_parts(X)
    table = table_of(X)
    encoding = fit_encoding(table, columns)
    return encoding.encode(table), encoding


def _encoded_features(X: Any, encoding: Encoding) -> Features:
    return replace(encoding.features, scaled_per_query=features_of(X).scaled_per_query)


def _inputs_of_parts(data: JudgedParts, who: str, columns: Any, parts: bool) -> Inputs:
    name = type(data).__name__
    if not parts:
        raise DataError(f"{who} needs all rows in this process; got {name}.")
    if columns is not None:
        raise DataError(f"Columns can be encoded only in this process; a {name} must hold features.")
    features = replace(data.features, count=data.n_features, scaled_per_query=data.scaled_per_query)
    return Inputs(who, features)
