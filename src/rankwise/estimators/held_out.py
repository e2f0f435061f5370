"""Rows that are kept out of training and judge its iterates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise.errors import DataError, ParameterError
from rankwise.mapped import is_on_disk
from rankwise.metrics.measure import Measure, get_measure
from rankwise.metrics.preferences import preference_error
from rankwise.persist.fields import Fields, array, value
from rankwise.preferences.pairs import Pairs
from rankwise.preferences.queries import group_rows
from rankwise.solvers.surface import Validation
from rankwise.types import Bools, Floats, Matrix
from rankwise.validation import (
    Problem,
    check_eval_parts,
    check_eval_rows,
    check_eval_set,
    check_flag,
    check_number,
    check_pairs,
    check_random_state,
)

CURVE_STATE: Fields = (
    value("best_iter_", int, optional=True),
    array("validation_curve_", "iterations", optional=True),
)


@dataclass(frozen=True)
class HeldOut:
    """Validated rows with the measure that judges their scores."""

    X: Matrix
    measure: Callable[[Floats], float]
    higher_is_better: bool

    def validation(self, scores: Callable[[Floats], Floats]) -> Validation:
        """Judge a model by its linear map to the scores of these rows."""
        return Validation(scores, self.measure, self.higher_is_better)


class JudgedMixin:
    """Parameters of early stopping, and what judges the iterates."""

    early_stopping: bool
    patience: int
    validation_fraction: float
    measure: str
    random_state: Any

    best_iter_: int
    validation_curve_: Floats

    @property
    def _stops_early(self) -> bool:
        return check_flag("early_stopping", self.early_stopping)

    def _hold_out(self, problem: Problem, eval_set: Any) -> tuple[Problem, HeldOut | None]:
        """The rows to train on, and those that judge: `eval_set`, or a part of the rows to stop early."""
        measure, fraction, random = self._judging()
        if eval_set is None and not self._stops_early:
            return problem, None
        if problem.y.ndim != 1:
            raise ParameterError(f"Held-out rows judge one target; y has {problem.y.shape[1]}.")
        if eval_set is not None:
            return problem, judged_eval_set(self, eval_set, problem, measure)
        return split_problem(problem, fraction, measure, random)

    def _hold_out_pairs(self, X: Matrix, pairs: Pairs, eval_set: Any) -> tuple[Pairs, HeldOut | None]:
        """The pairs to train on, and those that judge."""
        _, fraction, random = self._judging()
        if eval_set is not None:
            return pairs, judged_eval_pairs(self, eval_set)
        if not self._stops_early:
            return pairs, None
        return split_pairs(X, pairs, fraction, random)

    def _judging(self) -> tuple[Measure, float, Any]:
        """The measure, the part to hold out and what draws it: checked even if nothing is held out."""
        fraction = check_number(
            "validation_fraction", self.validation_fraction, minimum=0.0, maximum=1.0, exclusive=True
        )
        return get_measure(self.measure), fraction, check_random_state("random_state", self.random_state)


def judged_rows(rows: Problem, measure: str | Measure, name: str) -> HeldOut:
    """Rows judged by a measure; `name` says in errors where they came from."""
    judge = get_measure(measure)
    prepared = judge.on(rows.y, rows.queries)
    if prepared.left_out.all():
        raise DataError(
            f"{name} cannot be measured by {judge.name!r}: {prepared.left_out_reason} in every query."
        )
    return HeldOut(rows.X, prepared, judge.higher_is_better)


def judged_pairs(X: Matrix, pairs: Pairs) -> HeldOut:
    """Rows judged by the part of the pairs whose order they get wrong (paper C, equation 2)."""
    table = np.column_stack([pairs.better, pairs.worse])
    return HeldOut(X, lambda scores: preference_error(scores, table, weight=pairs.weight), False)


def judged_eval_set(estimator: Any, eval_set: Any, training: Problem, measure: str | Measure) -> HeldOut:
    """``(X, y)`` or ``(X, y, qid)`` with the features of the training data."""
    return judged_rows(check_eval_set(estimator, eval_set, training), measure, "eval_set")


def judged_eval_pairs(estimator: Any, eval_set: Any) -> HeldOut:
    """``(X, pairs)`` or ``(X, pairs, weight)`` with the features of the training data."""
    X, pairs, weight = check_eval_parts(eval_set, ("X", "pairs", "weight"))
    rows = check_eval_rows(estimator, X)
    try:
        checked = check_pairs(pairs, rows.shape[0], None, weight)
    except DataError as error:
        raise DataError(f"eval_set: {error}") from error
    if checked.weight is not None and not checked.weight.any():
        raise DataError("eval_set cannot judge: all its pairs have weight 0.")
    return judged_pairs(rows, checked)


def split_problem(
    problem: Problem, fraction: float, measure: Measure, random: Any
) -> tuple[Problem, HeldOut]:
    """Hold out this fraction of the queries, or of the rows of one global ranking, chosen at random."""
    queries = problem.queries
    if queries.n_queries > 1:
        chosen = _draw(queries.n_queries, fraction, random)
        held = chosen[queries.query_of_row()]
    else:
        held = _draw(queries.n_rows, fraction, random)
    rest, out = rows_without(problem, held), _rows_of(problem, held)
    name = f"validation_fraction={fraction:g} of the training data"
    return rest, judged_rows(out, measure, name)


def split_pairs(X: Matrix, pairs: Pairs, fraction: float, random: Any) -> tuple[Pairs, HeldOut]:
    """Hold out this fraction of the pairs, chosen at random."""
    if len(pairs) < 2:
        raise DataError("early_stopping holds out pairs, but there is only one; give an eval_set.")
    held = _draw(len(pairs), fraction, random)
    return pairs.chosen(~held), judged_pairs(X, pairs.chosen(held))


def _draw(n: int, fraction: float, random: Any) -> Bools:
    if n < 2:
        raise DataError("early_stopping holds out rows, but there is only one; give an eval_set.")
    held = np.zeros(n, dtype=np.bool_)
    held[random.choice(n, min(n - 1, max(1, round(fraction * n))), replace=False)] = True
    return held


def rows_without(problem: Problem, held: Bools) -> Problem:
    """The other rows; of a matrix on disk nothing is copied, but the held-out rows weigh nothing."""
    return problem.weightless(held) if is_on_disk(problem.X) else _rows_of(problem, ~held)


def _rows_of(problem: Problem, rows: Bools) -> Problem:
    weight = problem.row_weight
    kept = np.flatnonzero(rows)
    return Problem(
        X=problem.X[kept],
        y=problem.y[kept],
        queries=group_rows(problem.queries.query_of_row()[kept], len(kept)),
        row_weight=None if weight is None else weight[kept],
    )
