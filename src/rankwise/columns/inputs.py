"""What a ranker takes: rows with certain features, or tables whose columns become features."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwise.columns.choosing_codes import fit_encoding
from rankwise.columns.context import context_of_matrix, context_of_table, warn_of_context
from rankwise.columns.encoding import Encoding
from rankwise.columns.interaction_fitting import with_interactions
from rankwise.columns.interaction_specs import wanted_interactions
from rankwise.columns.specs import compares_rows
from rankwise.errors import DataError, ParameterError
from rankwise.features import Features, JudgedParts, JudgedRows, features_of
from rankwise.preferences.pairs import Pairs
from rankwise.preferences.queries import group_rows
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
        return check_rows(X, who=self.who, like=self.features, **how)[0]

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
    ) -> Problem:
        """Check more rows to learn, as `read_problem` does the first ones."""
        y, qid, sample_weight = taken_apart(X, y, qid, sample_weight, group)
        given = None if isinstance(X, JudgedRows) else qid
        if self.encoding is None:
            how: dict[str, Any] = {"sparse": self.sparse, "multi_output": multi_output}
            rows, y, _ = check_judged_rows(X, y, who=self.who, like=self.features, **how)
        else:
            rows, y, _ = check_judged_rows(
                self.encoding.encode(self._table(X, given, self.encoding)), y, who=self.who
            )
        return check_problem(X, rows, y, qid, sample_weight, query_weight)


def read_problem(
    X: Any,
    y: Any,
    qid: ArrayLike | Iterable[Hashable] | None,
    sample_weight: ArrayLike | None,
    *,
    who: str,
    columns: Any = None,
    interactions: Any = None,
    sparse: bool = True,
    parts: bool = False,
    additive: bool = True,
    query_weight: Any = None,
    group: Any = None,
    multi_output: bool = False,
) -> tuple[Problem, Inputs]:
    """Check the arguments of `fit`.

    X may be a data set, which stands for y, qid and sample_weight as well. If other processes hold the rows,
    what stands for a `Problem` is returned.

    Parameters
    ----------
    who : str
        The class of the ranker.
    columns, interactions : optional
        Its parameters of these names. A search for interactions needs the labels, and comes later.
    sparse, parts, multi_output : bool
        Whether it takes sparse rows, rows that other processes hold, and labels of several targets.
    additive : bool
        Whether its scores are sums over columns, to which those that are constant within queries add nothing.
    """
    if isinstance(X, JudgedParts):
        inputs = _inputs_of_parts(X, who, columns, parts)
        others = {"y": y, "qid": qid, "group": group}
        refuse_beside_parts(X, **others, sample_weight=sample_weight, query_weight=query_weight)
        return X.problem(), inputs
    y, qid, sample_weight = taken_apart(X, y, qid, sample_weight, group)
    encoded, encoding, table = _encoded(X, columns, interactions, qid)
    multi_output = multi_output and encoding is None
    rows, y, found = check_judged_rows(
        encoded, y, who=who, sparse=sparse or encoding is not None, least=2, multi_output=multi_output
    )
    problem = check_problem(X, rows, y, qid, sample_weight, query_weight)
    features = found if encoding is None else _encoded_features(X, encoding)
    context: tuple[str, ...] = ()
    if additive and problem.has_queries:
        context = _context(problem, features, encoding, table)
    return problem, Inputs(who, features, encoding, sparse, context)


def read_preferences(
    X: Any,
    pairs: Any,
    magnitude: ArrayLike | None,
    weight: ArrayLike | None,
    *,
    who: str,
    columns: Any = None,
    interactions: Any = None,
    sparse: bool = True,
    parts: bool = False,
) -> tuple[Matrix, Pairs, Inputs]:
    """Check the arguments of `fit_preferences`, as `read_problem` does those of `fit`."""
    if isinstance(X, JudgedParts):
        inputs = _inputs_of_parts(X, who, columns, parts)
        checked = check_pairs_to_learn(pairs, X.n_rows, magnitude, weight)
        return *X.preferences(checked), inputs
    if wanted_interactions(interactions).at_most:
        raise ParameterError(
            f"A search for interactions needs labels; name the pairs of columns instead of "
            f"interactions={interactions!r}."
        )
    encoded, encoding, _ = _encoded(X, columns, interactions, taken_apart(X, None, None)[1])
    rows, found = check_rows(encoded, who=who, sparse=sparse or encoding is not None, least=2)
    inputs = Inputs(who, found if encoding is None else _encoded_features(X, encoding), encoding, sparse)
    return rows, check_pairs_to_learn(pairs, rows.shape[0], magnitude, weight), inputs


def _encoded(X: Any, columns: Any, interactions: Any, qid: Any) -> tuple[Any, Encoding | None, Table | None]:
    """The features that the columns of X become, how, and the columns; X itself if nothing is encoded."""
    if columns is None:
        return X, None, None
    refuse_parts(X)
    table = table_of(X)
    queries = group_rows(qid, table.n_rows) if qid is not None and compares_rows(columns) else None
    encoding = fit_encoding(table, columns, queries)
    table = encoding.in_queries(table, queries)
    encoding = with_interactions(encoding, table, wanted_interactions(interactions).named)
    return encoding.encode(table), encoding, table


def _context(
    problem: Problem, features: Features, encoding: Encoding | None, table: Table | None
) -> tuple[str, ...]:
    """The columns that are constant within queries; warns of those that a table is said to be ranked by."""
    if encoding is None or table is None:
        return tuple(features.label(c) for c in context_of_matrix(problem.X, problem.queries).tolist())
    used = table.matched(list(encoding.codes), encoding.labels)
    context = context_of_table(used, problem.queries)
    if context:
        warn_of_context(context)
    return context


def _encoded_features(X: Any, encoding: Encoding) -> Features:
    return replace(encoding.features, scaled_per_query=features_of(X).scaled_per_query)


def _inputs_of_parts(data: JudgedParts, who: str, columns: Any, parts: bool) -> Inputs:
    name = type(data).__name__
    if not parts:
        raise DataError(f"{who} needs all rows in this process; got {name}.")
    if columns is not None:
        raise DataError(f"Columns can be encoded only in this process; a {name} must hold features.")
    return Inputs(who, data.features)
