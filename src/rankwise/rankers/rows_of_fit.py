"""What a ranker keeps of the rows of a fit: which rows it takes, how many there were, and some of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from rankwise.columns.effects import column_effects
from rankwise.columns.inputs import Inputs
from rankwise.columns.profile import MOST_COLUMNS, Profile
from rankwise.factored_rows import FactoredRows
from rankwise.held_out import HeldOut
from rankwise.mapped import is_on_disk, rows_at
from rankwise.model.history import Origin
from rankwise.model.model import FormMoments, FormProfile, Model
from rankwise.model.outcome import Outcome
from rankwise.preferences.digests import label_digests, mixed, repeated, row_digests
from rankwise.preferences.queries import Queries, members
from rankwise.rows.table import Table
from rankwise.scoring.calibration import Calibration
from rankwise.scoring.functions import FeatureFunction
from rankwise.selection.calibrating import calibrate_on
from rankwise.types import AnyArray, Floats, Ints, Matrix, is_sparse

# So many rows are kept as they are.
FEW_ROWS = 1 << 14
# Of more, or of rows with more numbers than this, so many are copied, which must not delay a fit.
MOST_ROWS, MOST_NUMBERS = 1 << 13, 2_000_000
# Of a batch that a model learns besides, which costs little as well.
MOST_OF_BATCH = 1 << 11
# Rows of a query beyond so many times the mean number of those that are wanted are thinned.
LONGEST = 8
# Numbers whose digests are formed at once: new memory for more takes longer than the digests.
BLOCK = 1 << 16
# Columns that tell most rows apart, if labels do not.
COLUMNS_FIRST = 4

# Returns numbers of rows, of which each has about so many.
_Look: TypeAlias = tuple[Callable[[Ints], Matrix], float]


@dataclass(frozen=True, eq=False)
class RowsOfFit:
    """The rows that a ranker was fitted to.

    Attributes
    ----------
    inputs : Inputs
        With which other rows must agree.
    origin : Origin
        How many there were.
    sample : SampledRows, Floats or None
        Some of them, by which columns and their effects are described; in a copy of the ranker, the effects.
    """

    inputs: Inputs
    origin: Origin
    sample: SampledRows | Floats | None = None

    def model(
        self,
        function: FeatureFunction,
        outcome: Outcome,
        calibration: Calibration | None = None,
        form_moments: FormMoments | None = None,
        held_out: HeldOut | None = None,
        form_profile: FormProfile | None = None,
    ) -> Model:
        """The model that a fit found; what is held out says how good it is, and how sure."""
        results = None if held_out is None else held_out.results_of(function.scores)
        if held_out is not None and calibration is None:
            calibration = calibrate_on(held_out, function)
        context = list(self.inputs.context) or None
        return Model(
            self.inputs.who,
            function,
            self.inputs.features,
            self.inputs.encoding,
            calibration,
            outcome=replace(outcome, context_columns=context, evals_result=results),
            origin=self.origin,
            form_moments=form_moments,
            form_profile=form_profile or self.form_profile(function),
        )

    def form_profile(self, function: FeatureFunction) -> FormProfile | None:
        """Forms the description of their columns, and of what these add to the scores of a function."""
        if not isinstance(self.sample, SampledRows):
            return None
        return partial(self.sample.profile, self.inputs, function)

    def effects(self, function: FeatureFunction) -> Floats:
        """How much each column separates rows by a function."""
        sample = self.sample
        effects = sample.effects(function, self.inputs) if isinstance(sample, SampledRows) else sample
        if effects is None:
            raise AttributeError(
                f"This {self.inputs.who} has no attribute 'feature_importances_': only linear "
                f"rankers that were fitted to labels in this process, and their copies, have it."
            )
        return effects


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Queries of the rows of a fit; all of them if there are few.

    Which ones depends on the labels of the queries, and of a query that is much larger than others, on what
    is in its rows, but never on their order.

    Attributes
    ----------
    X : Matrix
        Their features.
    sizes : Ints or None
        The number of rows of each query; None if they were given as pairs, within which nothing is compared.
    order : Ints or None
        Where the rows of the queries are, one query after the other; None if they are in this order.
    table : Table or None
        The columns that the features were made of, if there are any.
    of_rows : int
        The number of all rows.
    """

    X: Matrix
    sizes: Ints | None
    order: Ints | None = None
    table: Table | None = None
    of_rows: int = 0

    @classmethod
    def of(
        cls, X: Any, y: Floats | None, queries: Queries, table: Table | None, *, batch: bool = False
    ) -> SampledRows:
        """Some of these rows; y, their labels, tells apart those of a long query."""
        few, most = (MOST_OF_BATCH, MOST_OF_BATCH) if batch else (FEW_ROWS, MOST_ROWS)
        within_numbers = max(2, int(MOST_NUMBERS // _numbers_per_row(X)))
        if queries.n_rows <= min(few, within_numbers) and not is_on_disk(X):
            kept = X[:] if isinstance(X, FactoredRows) else X
            return cls(kept, queries.sizes, queries.order, table, queries.n_rows)
        most = min(most, within_numbers)
        wanted = max(1, int(most * queries.n_queries / queries.n_rows))
        chosen = np.arange(queries.n_queries)
        if queries.labels is not None and wanted < queries.n_queries:
            chosen = np.sort(np.argpartition(_numbers_of(queries.labels), wanted - 1)[:wanted])
        longest = max(2, min(most, LONGEST * most // len(chosen)))
        sizes = queries.sizes[chosen]
        if sizes.max() > longest:
            looks, each = _looks(X, y), map(queries.rows_of, chosen.tolist())
            rows = np.concatenate([_drawn(looks, own, longest) for own in each])
        else:
            _, grouped, _ = members(queries.offsets, chosen)
            rows = grouped if queries.order is None else queries.order[grouped]
        kept_table = None if table is None else table[rows]
        return cls(rows_at(X, rows), np.minimum(sizes, longest), table=kept_table, of_rows=queries.n_rows)

    def profile(self, inputs: Inputs, function: FeatureFunction) -> Profile | None:
        """How their columns are distributed, and what these add to the scores.

        None for kernel values, and for more columns than tell much.
        """
        if not inputs.sparse or len(inputs.features.labels) > MOST_COLUMNS:
            return None
        rows = self.X if self.table is None else self.table
        found = Profile.of(rows, inputs.encoding, inputs.features.labels)
        added = self._added(function, inputs)
        if added is None:
            return found
        names = inputs.features.labels if inputs.encoding is None else inputs.encoding.columns
        return found.with_effects(*(dict(zip(names, own.tolist(), strict=True)) for own in added))

    def effects(self, function: FeatureFunction, inputs: Inputs) -> Floats | None:
        """The standard deviation within queries of what each column adds; None unless that adds up."""
        added = self._added(function, inputs)
        return None if added is None else added[1]

    def _added(self, function: FeatureFunction, inputs: Inputs) -> tuple[Floats, Floats] | None:
        weights = function.weights
        if weights is None or weights.ndim != 1 or self.sizes is None:
            return None
        shares = None if inputs.encoding is None else inputs.encoding.shares()
        return column_effects(self.X, self.sizes, self.order, weights, shares)


def _numbers_per_row(X: Any) -> float:
    """About so many; the size of a sparse matrix is that of what it stores."""
    return float(max(1.0, X.size / X.shape[0]))


def _looks(X: Any, y: Floats | None) -> list[_Look]:
    """What tells rows apart: most of them by little, and all that differ by what comes last."""
    looks: list[_Look] = [] if y is None else [(partial(rows_at, y.reshape(len(y), -1)), y.size / len(y))]
    if isinstance(X, np.ndarray) and not is_on_disk(X):
        looks.append((partial(rows_at, X[:, :COLUMNS_FIRST]), COLUMNS_FIRST))
    elif is_sparse(X) and not is_on_disk(X):
        looks.append((partial(_outer_entries, X), COLUMNS_FIRST))
    return [*looks, (partial(rows_at, X), _numbers_per_row(X))]


def _outer_entries(X: Any, rows: Ints) -> Floats:
    """The number of entries in rows of a sparse matrix, and the first and the last of them."""
    start, stop = X.indptr[rows], X.indptr[rows + 1]
    found, occupied = np.zeros((len(rows), 5)), start < stop
    found[:, 0] = stop - start
    for column, entry in ((1, start[occupied]), (3, stop[occupied] - 1)):
        found[occupied, column], found[occupied, column + 1] = X.indices[entry], X.data[entry]
    return found


def _drawn(looks: list[_Look], rows: Ints, n: int) -> Ints:
    """Draw at most n of these rows, by digests of the first look at which they differ from others."""
    if len(rows) <= n:
        return rows
    first, *others = looks
    digests = _digests(rows, *first)
    tied = np.flatnonzero(np.isin(digests, repeated(digests)))
    for look in others:
        if len(tied) == 0:
            break
        found = digests[tied] = _digests(rows[tied], *look)
        tied = tied[np.isin(found, repeated(found))]
    if len(tied):
        digests[tied] = _told_apart(digests[tied])
    return rows[np.sort(np.argpartition(digests, n - 1)[:n])]


def _digests(rows: Ints, numbers_of: Callable[[Ints], Matrix], per_row: float) -> AnyArray:
    at_once = max(1, int(BLOCK // per_row))
    parts = (rows[start : start + at_once] for start in range(0, len(rows), at_once))
    return np.concatenate([row_digests(numbers_of(part)) for part in parts])


def _told_apart(digests: AnyArray) -> AnyArray:
    """Digests of rows of which equal ones are drawn one by one, as if each had a digest of its own."""
    order = np.argsort(digests)
    ordered, place = digests[order], np.arange(len(order))
    is_first = np.append(True, ordered[1:] != ordered[:-1])
    repeats = place - np.maximum.accumulate(np.where(is_first, place, 0))
    own = np.empty_like(digests)
    own[order] = mixed(ordered + mixed(repeats.astype(np.uint64)))
    return own


def _numbers_of(labels: AnyArray) -> AnyArray:
    """Numbers that labels draw; those of arrays of integers and text are formed all at once."""
    if labels.dtype.kind in "iu":
        return np.asarray(mixed(labels.astype(np.uint64)))
    if labels.dtype.kind == "U":
        characters: Any = np.ascontiguousarray(labels).view(np.uint32).reshape(len(labels), -1)
        return np.asarray(row_digests(characters))
    return label_digests(labels.tolist())
