"""Create `HeldOut` rows from the user's ``eval_set`` or from a part of the training data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, singledispatch
from typing import Any, Protocol

import numpy as np
from sklearn.utils import get_tags

from rankwise.columns.inputs import Inputs
from rankwise.errors import DataError, ParameterError
from rankwise.features import JudgedRows
from rankwise.held_out import EvalResults, HeldOut
from rankwise.mapped import is_on_disk
from rankwise.metrics.evaluation import listed_measures
from rankwise.metrics.kinds import KINDS
from rankwise.metrics.measure import Measure
from rankwise.metrics.named_measures import get_measure
from rankwise.metrics.pair_functions import contradicted
from rankwise.preferences.pairs import Pairs
from rankwise.preferences.queries import group_rows
from rankwise.preferences.samples import sample_judged_pairs, sample_of_pairs
from rankwise.types import Bools, Floats, Matrix, RandomSource
from rankwise.validation import (
    Problem,
    check_count,
    check_eval_parts,
    check_eval_sets,
    check_flag,
    check_labels,
    check_number,
    check_pairs,
    check_random_state,
)


class StopsEarly(Protocol):
    """The parameters of a ranker that can stop early."""

    early_stopping: bool
    validation_fraction: float
    measure: str
    random_state: RandomSource


@dataclass(frozen=True, eq=False)
class EvalArguments:
    """The arguments of `fit` that say on which rows, and by which measures, to evaluate the model.

    Attributes
    ----------
    eval_set : (X, y), (X, y, qid), data set, list of these, or None
    eval_group, eval_qid : list or None
        Sizes of queries, or a qid, for each eval_set.
    eval_metric, eval_at : list or None
        Measures besides that of the ranker, and cutoffs of those that take one.
    """

    eval_set: Any = None
    eval_group: Any = None
    eval_qid: Any = None
    eval_metric: Any = None
    eval_at: Any = None

    def rows(self, inputs: Inputs, training: Problem) -> list[Problem]:
        """The rows of every eval_set, checked against those of the fit."""
        sets = check_eval_sets(self.eval_set, self.eval_group, self.eval_qid)
        if not sets and (self.eval_metric is not None or self.eval_at is not None):
            name = "eval_metric" if self.eval_at is None else "eval_at"
            raise ParameterError(f"{name} needs an eval_set.")
        return [_rows_of(inputs, training, *one) for one in sets]

    def measures(self, first: Measure) -> list[Measure]:
        """The measure of the ranker, and the others."""
        names = listed_measures("ndcg" if self.eval_metric is None else self.eval_metric)
        if self.eval_metric is None and self.eval_at is None:
            return [first]
        found = {first.name: first}
        for measure in map(get_measure, names):
            open_end = measure.cutoff is None and KINDS[measure.kind].cutoff != "none"
            for k in self._cutoffs() if open_end and self.eval_at is not None else [measure.cutoff]:
                one = replace(measure, cutoff=k)
                found.setdefault(one.name, one)
        return list(found.values())

    def _cutoffs(self) -> list[int]:
        return [check_count("eval_at", k) for k in np.atleast_1d(self.eval_at).tolist()]


def hold_out_rows(
    ranker: StopsEarly, inputs: Inputs, problem: Problem, evals: EvalArguments
) -> tuple[Problem, HeldOut | None]:
    """The rows to train on, and those held out: the eval_set or, for early stopping, a part of the rows."""
    stop_early, fraction, measure, random = _checked(ranker)
    if (evals.eval_set is not None or stop_early) and problem.n_targets is not None:
        raise ParameterError(f"eval_set and early_stopping support one target; y has {problem.n_targets}.")
    held_out = eval_rows(inputs, problem, measure, evals)
    if held_out is not None or not stop_early:
        return problem, held_out
    if get_tags(ranker).input_tags.pairwise:
        raise ParameterError("early_stopping with kernel='precomputed' needs an eval_set.")
    if inputs.encoding is not None and inputs.encoding.search is not None:
        raise ParameterError(
            "early_stopping with a search for interactions needs an eval_set, because the search sees all "
            "rows of fit."
        )
    return split_rows(problem, fraction, measure, random)


def hold_out_pairs(
    ranker: StopsEarly, inputs: Inputs, X: Matrix, pairs: Pairs, eval_set: Any
) -> tuple[Pairs, HeldOut | None]:
    """The pairs to train on, and those held out."""
    stop_early, fraction, _, random = _checked(ranker)
    if eval_set is not None:
        return pairs, eval_pairs(inputs, eval_set)
    return split_pairs(X, pairs, fraction, random) if stop_early else (pairs, None)


def _checked(ranker: StopsEarly) -> tuple[bool, float, Measure, np.random.Generator]:
    """The parameters, checked even if nothing is held out."""
    fraction = check_number(
        "validation_fraction", ranker.validation_fraction, minimum=0.0, maximum=1.0, exclusive=True
    )
    random = check_random_state("random_state", ranker.random_state)
    stop_early = check_flag("early_stopping", ranker.early_stopping)
    return stop_early, fraction, get_measure(ranker.measure), random


def eval_rows(inputs: Inputs, training: Problem, measure: Measure, evals: EvalArguments) -> HeldOut | None:
    """The last eval_set, which decides, with what evaluates a function on all of them; None without any."""
    sets = evals.rows(inputs, training)
    if not sets:
        return None
    evaluated = partial(_evaluated, sets, evals.measures(measure))
    return replace(_measured_rows(sets[-1], measure, "eval_set"), evaluated=evaluated)


def _evaluated(
    sets: Sequence[Problem], measures: Sequence[Measure], scores_of: Callable[[Matrix], Floats]
) -> EvalResults:
    """One value for each set and measure, in a list: there are models of several iterations elsewhere."""
    results: EvalResults = {}
    for place, rows in enumerate(sets):
        scores = scores_of(rows.X)
        values = {measure.name: [measure(rows.y, scores, rows.queries)] for measure in measures}
        results[f"valid_{place}"] = values
    return results


def _rows_of(inputs: Inputs, training: Problem, called: str, X: Any, y: Any, qid: Any) -> Problem:
    """The rows of one eval_set, with the features of the training data."""
    if qid is None and training.has_queries:
        raise DataError(
            f"{called} must be (X, y, qid), or come with eval_group or eval_qid, because fit was given a qid."
        )
    rows = _rows_of_eval_set(inputs, X, None if isinstance(X, JudgedRows) else qid, called)
    labels = check_labels(y, rows.shape[0], name=f"y in {called}")
    return Problem(rows, labels, group_rows(qid, rows.shape[0]), None)


def eval_pairs(inputs: Inputs, eval_set: Any) -> HeldOut:
    """``(X, pairs)`` or ``(X, pairs, weight)`` with the features of the training data."""
    X, pairs, weight = check_eval_parts(eval_set, ("X", "pairs", "weight"))
    rows = _rows_of_eval_set(inputs, X)
    try:
        checked = check_pairs(pairs, rows.shape[0], None, weight)
    except DataError as error:
        raise DataError(f"eval_set: {error}") from error
    if checked.weight is not None and not checked.weight.any():
        raise DataError("eval_set cannot be measured: all its pairs have weight 0.")
    return _measured_pairs(rows, checked, "eval_set")


def _rows_of_eval_set(inputs: Inputs, X: Any, qid: Any = None, called: str = "eval_set") -> Matrix:
    try:
        return inputs.rows(X, qid=qid)
    except ValueError as error:
        raise DataError(f"{called}: {error}") from error


@singledispatch
def split_rows(
    problem: Problem, fraction: float, measure: Measure, random: np.random.Generator
) -> tuple[Problem, HeldOut]:
    """Hold out a random fraction of the queries, or of the rows of one global ranking.

    `cluster/variants.py` names the function for rows in parts.
    """
    queries = problem.queries
    if queries.n_queries > 1:
        held = _draw(queries.n_queries, fraction, random)[queries.query_of_row()]
    else:
        held = _draw(queries.n_rows, fraction, random)
    # A matrix on disk is not copied; instead, the held-out rows get weight 0.
    rest = problem.without(held) if is_on_disk(problem.X) else problem.select(np.flatnonzero(~held))
    name = f"validation_fraction={fraction:g} of the training data"
    return rest, _measured_rows(problem.select(np.flatnonzero(held)), measure, name)


@singledispatch
def split_pairs(
    X: Matrix, pairs: Pairs, fraction: float, random: np.random.Generator
) -> tuple[Pairs, HeldOut]:
    """Hold out a random fraction of the pairs; `cluster/variants.py` names the function for parts."""
    if len(pairs) < 2:
        raise DataError("early_stopping holds out pairs, but there is only one; pass an eval_set.")
    held = _draw(len(pairs), fraction, random)
    name = f"validation_fraction={fraction:g} of the training pairs"
    return pairs.chosen(~held), _measured_pairs(X, pairs.chosen(held), name)


def _measured_rows(rows: Problem, measure: Measure, name: str) -> HeldOut:
    """Rows measured against their labels; `name` says in error messages where they came from."""
    prepared = measure.prepare(rows.y, rows.queries)
    if prepared.left_out.all():
        raise DataError(
            f"{name} cannot be measured by {measure.name!r}: {prepared.left_out_reason} in every query."
        )
    sample = partial(sample_judged_pairs, rows.y, rows.queries.query_of_row())
    return HeldOut(rows.X, prepared, measure.higher_is_better, sample, name)


def _measured_pairs(X: Matrix, pairs: Pairs, name: str) -> HeldOut:
    """Rows measured by the fraction of pairs that their scores contradict (paper C, equation 2)."""

    def error(scores: Floats) -> float:
        return contradicted(scores[pairs.better] - scores[pairs.worse], pairs.weight)

    return HeldOut(X, error, sample=partial(sample_of_pairs, pairs, X.shape[0]), name=name)


def _draw(n: int, fraction: float, random: np.random.Generator) -> Bools:
    if n < 2:
        raise DataError("early_stopping holds out rows, but there is only one; pass an eval_set.")
    held = np.zeros(n, dtype=np.bool_)
    held[random.choice(n, min(n - 1, max(1, round(fraction * n))), replace=False)] = True
    return held
