"""What a ranker takes as rows, as its parameters say."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rankwise.columns.choosing_codes import fit_encoding
from rankwise.columns.context import context_of_matrix, context_of_table, warn_of_context
from rankwise.columns.encoded_rows import rows_of
from rankwise.columns.encoding import Encoding
from rankwise.columns.inputs import Inputs, features_behind
from rankwise.columns.interaction_fitting import with_interactions
from rankwise.columns.specs import compares_rows, wanted_interactions
from rankwise.errors import DataError, ParameterError
from rankwise.factored_rows import FactoredRows
from rankwise.features import JudgedParts, features_of
from rankwise.model.history import Origin
from rankwise.model.model import Model
from rankwise.preferences.pairs import Pairs
from rankwise.preferences.queries import group_rows, one_query
from rankwise.rankers.rows_of_fit import RowsOfFit, SampledRows
from rankwise.rankers.signs import columns_with_sign
from rankwise.rows.table import Table, table_of
from rankwise.selection.interaction_search import with_wanted_interactions
from rankwise.types import Matrix
from rankwise.validation import (
    Problem,
    check_judged_rows,
    check_number,
    check_pairs_to_learn,
    check_problem,
    check_rows,
    refuse_beside_parts,
    taken_apart,
)


@dataclass(frozen=True)
class RowSettings:
    """The parameters of a ranker on which it depends how X is read; a ranker need not have all of them.

    Attributes
    ----------
    who : str
        The class of the ranker.
    parts : bool
        Whether it takes rows that other processes hold.
    columns, interactions, kernel, monotonic_cst, across_queries
        Its parameters of these names.
    """

    who: str
    parts: bool
    columns: Any = None
    interactions: Any = None
    kernel: Any = None
    monotonic_cst: Any = None
    across_queries: Any = 0.0

    @classmethod
    def of(cls, ranker: Any, parts: bool) -> Self:
        names = ("columns", "interactions", "kernel", "monotonic_cst", "across_queries")
        given = {name: getattr(ranker, name) for name in names if hasattr(ranker, name)}
        if given.get("columns") is None and given.get("interactions") is not None:
            given["columns"] = "spline"  # interactions need functions of each column beside them
        return cls(type(ranker).__name__, parts, **given)

    @property
    def takes_kernel_values(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def adds_columns_up(self) -> bool:
        """Whether scores are sums over columns, in which what is constant within queries cancels out.

        But for interactions, which these sums may contain.
        """
        linear = self.kernel is None or (isinstance(self.kernel, str) and self.kernel == "linear")
        return linear and self.beta == 0.0

    @property
    def beta(self) -> float:
        """How much pairs across queries count."""
        return check_number("across_queries", self.across_queries, minimum=0.0)

    def _with_pairs_across(self, problem: Problem) -> Problem:
        """The problem, in which pairs across queries count as much as the ranker says."""
        if self.beta == 0.0:
            return problem
        if not problem.has_queries:
            raise ParameterError(
                "across_queries weighs pairs of rows of different queries, so fit needs a qid; without one, "
                "all rows are compared anyway."
            )
        return replace(problem, across_queries=self.beta)

    def read(
        self,
        X: Any,
        y: Any,
        qid: ArrayLike | Iterable[Hashable] | None,
        sample_weight: ArrayLike | None,
        *,
        query_weight: Any = None,
        group: Any = None,
        multi_output: bool = False,
    ) -> tuple[Problem, RowsOfFit]:
        """Check the arguments of `fit`, and search for interactions if that is wanted.

        X may be a data set, which stands for y, qid and sample_weight as well. If other processes hold the
        rows, what stands for a `Problem` is returned.
        """
        if isinstance(X, JudgedParts):
            inputs, others = self._inputs_of_parts(X), {"y": y, "qid": qid, "group": group}
            refuse_beside_parts(X, **others, sample_weight=sample_weight, query_weight=query_weight)
            problem = X.problem()
            return problem, RowsOfFit(inputs, Origin.of(problem))
        y, qid, sample_weight = taken_apart(X, y, qid, sample_weight, group)
        if self.columns is not None:
            problem, inputs, table = self._read_table(X, y, qid, sample_weight, query_weight)
        else:
            problem, inputs = self._read_matrix(X, y, qid, sample_weight, query_weight, multi_output)
            table = None
        sample = SampledRows.of(problem.X, problem.y, problem.queries, table)
        return self._with_pairs_across(problem), RowsOfFit(inputs, Origin.of(problem), sample)

    def _read_matrix(
        self,
        X: Any,
        y: Any,
        qid: Any,
        sample_weight: ArrayLike | None,
        query_weight: Any,
        multi_output: bool,
    ) -> tuple[Problem, Inputs]:
        """The rest of `read`, if X holds features."""
        sparse = not self.takes_kernel_values
        features = features_of(X)
        rows, y = check_judged_rows(X, y, who=self.who, sparse=sparse, least=2, multi_output=multi_output)
        problem = check_problem(X, rows, y, qid, sample_weight, query_weight)
        context: tuple[str, ...] = ()
        if self.adds_columns_up and problem.has_queries:
            context = tuple(map(features.label, context_of_matrix(problem.X, problem.queries).tolist()))
        features = replace(features, count=rows.shape[1])
        return problem, Inputs(self.who, features, sparse=sparse, context=context)

    def _read_table(
        self, X: Any, y: Any, qid: Any, sample_weight: ArrayLike | None, query_weight: Any
    ) -> tuple[Problem, Inputs, Table]:
        """The rest of `read`, if columns are encoded."""
        encoding, table = self._encoding_of(X, qid)
        wanted = wanted_interactions(self.interactions)
        # One column stands for the features, of which a search encodes what it needs.
        rows, y = check_judged_rows(np.zeros((table.n_rows, 1)), y, who=self.who, least=2)
        if not wanted.at_most:
            rows = self._features(encoding, table)
        problem = check_problem(X, rows, y, qid, sample_weight, query_weight)
        context: tuple[str, ...] = ()
        if self.adds_columns_up and problem.has_queries:
            used = table.matched(list(encoding.codes), encoding.labels)
            context = context_of_table(used, problem.queries)
        if context and self.interactions is None:
            warn_of_context(context)
        inputs = Inputs(self.who, features_behind(X, encoding), encoding)
        signed = columns_with_sign(self.monotonic_cst, encoding)
        problem, inputs = with_wanted_interactions(problem, inputs, table, wanted, signed)
        found = inputs.encoding.interactions if inputs.encoding is not None else ()
        paired = {column for code in found for column in code.columns}
        context = tuple(column for column in context if column not in paired)
        return problem, replace(inputs, context=context), table

    def read_preferences(
        self, X: Any, pairs: Any, magnitude: ArrayLike | None, weight: ArrayLike | None
    ) -> tuple[Matrix, Pairs, RowsOfFit]:
        """Check the arguments of `fit_preferences`."""
        if self.beta > 0.0:
            raise ParameterError(
                "across_queries weighs pairs of judged rows, which fit compares; fit_preferences takes pairs "
                "of any rows, so leave it at 0."
            )
        if isinstance(X, JudgedParts):
            of_fit = RowsOfFit(self._inputs_of_parts(X), Origin.now(X.n_rows, method="fit_preferences"))
            return *X.preferences(check_pairs_to_learn(pairs, X.n_rows, magnitude, weight)), of_fit
        table = None
        if self.columns is None:
            sparse = not self.takes_kernel_values
            features = features_of(X)
            rows = check_rows(X, who=self.who, sparse=sparse, least=2)
            inputs = Inputs(self.who, replace(features, count=rows.shape[1]), sparse=sparse)
        else:
            if wanted_interactions(self.interactions).at_most:
                raise ParameterError(
                    f"Searching for interactions needs labels; name the pairs of columns instead of "
                    f"interactions={self.interactions!r}."
                )
            encoding, table = self._encoding_of(X, taken_apart(X, None, None)[1])
            rows = self._features(encoding, table)
            inputs = Inputs(self.who, features_behind(X, encoding), encoding)
        n_rows = rows.shape[0]
        sample = replace(SampledRows.of(rows, None, one_query(n_rows), table), sizes=None)
        of_fit = RowsOfFit(inputs, Origin.now(n_rows, method="fit_preferences"), sample)
        return rows, check_pairs_to_learn(pairs, n_rows, magnitude, weight), of_fit

    def _features(self, encoding: Encoding, table: Table) -> Any:
        """The features of a table, as the ranker takes them."""
        features = rows_of(encoding, table) if self.kernel is None else encoding.encode(table)
        if isinstance(features, FactoredRows):
            return features
        return check_rows(features, who=self.who, least=2)

    def _encoding_of(self, X: Any, qid: Any) -> tuple[Encoding, Table]:
        """What the columns of X become, and the columns."""
        if self.takes_kernel_values:
            raise ParameterError(
                f"With kernel='precomputed', X holds kernel values, so columns must be None; "
                f"got {self.columns!r}."
            )
        table = table_of(X)
        queries = None
        if qid is not None and compares_rows(self.columns):
            queries = group_rows(qid, table.n_rows)
        encoding = fit_encoding(table, self.columns, queries)
        table = encoding.in_queries(table, queries)
        return with_interactions(encoding, table, wanted_interactions(self.interactions).named), table

    def _inputs_of_parts(self, data: JudgedParts) -> Inputs:
        name = type(data).__name__
        if not self.parts:
            raise DataError(f"{self.who} needs all rows in this process; got {name}.")
        if self.columns is not None:
            raise DataError(f"Columns can be encoded only in this process; a {name} must hold features.")
        if self.beta > 0.0:
            raise ParameterError(
                "across_queries needs all rows in this process; leave it at 0 for rows in parts."
            )
        return Inputs(self.who, data.features)

    def rows_of(self, model: Model) -> RowsOfFit:
        """The rows of the fit that found a model, by a ranker with these parameters."""
        context = tuple(model.outcome.context_columns or ())
        sparse = not self.takes_kernel_values
        inputs = Inputs(model.class_name, model.features, model.encoding, sparse, context)
        return RowsOfFit(inputs, model.origin)

    def tag(self, tags: Any) -> None:
        """Say which rows the ranker takes, as scikit-learn does in tags."""
        tags.pairwise = self.takes_kernel_values
        tags.sparse = not tags.pairwise and self.columns is None
        if self.columns is not None:
            tags.allow_nan = tags.string = tags.categorical = True
