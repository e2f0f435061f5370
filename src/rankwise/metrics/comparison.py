"""Comparison of two or more score vectors on the same queries, with significance tests."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from numpy.typing import ArrayLike

from rankwise.errors import ParameterError
from rankwise.metrics.evaluation import DEFAULT_MEASURES, Evaluation, evaluate_prepared, prepare_measures
from rankwise.metrics.measure import PreparedMeasure, QueryLike
from rankwise.metrics.named_measures import MeasureLike
from rankwise.metrics.significance import (
    clear_differences,
    holm,
    margin_of_mean,
    randomization_p,
    wilcoxon_p,
)
from rankwise.rendering import Cell, html_table, jsonable, text_table
from rankwise.types import Floats, RandomSource
from rankwise.validation import check_count

TEST_HEADER = (
    *("measure", "a", "b", "a - b", "±", "a better", "b better", "equal"),
    *("p Wilcoxon", "p randomization", "Holm Wilcoxon", "Holm randomization"),
)


@dataclass(frozen=True)
class PairedTest:
    """Two score vectors on one measure, compared query by query.

    Attributes
    ----------
    difference : float
        The mean of a minus the mean of b.
    margin : float
        A 95 % confidence interval is ``difference ± margin``, by Student's t over queries.
    n_better, n_worse, n_equal : int
        The number of queries on which a is better than, worse than and equal to b. Here and in both tests,
        values that differ only by rounding (16 units in the last place of the largest) count as equal.
    p_wilcoxon : float
        Two-sided Wilcoxon signed-rank test over the queries with a difference; 1 if there are none.
    p_randomization : float
        Two-sided paired randomization test of the mean difference: how often it is at least as large when a
        and b are swapped at random in each query.
    holm_wilcoxon, holm_randomization : float
        The same p-values after Holm's correction for all tests of the comparison.

    See Also
    --------
    compare : Returns it.

    Examples
    --------
    >>> from rankwise.metrics import compare
    >>> candidates = {"bm25": [0.2, 0.3, 0.1, 0.9, 0.8], "model": [0.9, 0.8, 0.1, 0.7, 0.2]}
    >>> (test,) = compare([2, 1, 0, 1, 0], candidates, [1, 1, 1, 2, 2], ["pairwise_error"]).tests
    >>> test.a, test.b, round(test.difference, 3), test.n_worse, test.n_equal
    ('bm25', 'model', 0.167, 1, 1)
    """

    measure: str
    a: str
    b: str
    difference: float
    margin: float
    n_better: int
    n_worse: int
    n_equal: int
    p_wilcoxon: float
    p_randomization: float
    holm_wilcoxon: float
    holm_randomization: float

    @property
    def row(self) -> tuple[Cell, ...]:
        return tuple(asdict(self).values())


@dataclass(frozen=True, repr=False, eq=False)
class Comparison:
    """The result of `compare`: an evaluation for each name, and a test for each pair that was compared.

    See Also
    --------
    compare : Returns it.
    Evaluation : One set of scores.
    PairedTest : One of its tests.

    Examples
    --------
    >>> from rankwise.metrics import compare
    >>> candidates = {"bm25": [0.2, 0.3, 0.1, 0.9, 0.8], "model": [0.9, 0.8, 0.1, 0.7, 0.2]}
    >>> result = compare([2, 1, 0, 1, 0], candidates, [1, 1, 1, 2, 2], ["pairwise_error"])
    >>> {name: round(means["pairwise_error"], 3) for name, means in result.means.items()}
    {'bm25': 0.167, 'model': 0.0}
    >>> len(result.tests)
    1
    """

    evaluations: dict[str, Evaluation]
    tests: tuple[PairedTest, ...]

    @property
    def means(self) -> dict[str, dict[str, float]]:
        """The mean of each measure, by name of the scores and of the measure."""
        return {name: evaluation.means for name, evaluation in self.evaluations.items()}

    def _mean_rows(self) -> tuple[list[str], list[list[Cell]]]:
        measures = list(next(iter(self.means.values())))
        return ["name", *measures], [[name, *means.values()] for name, means in self.means.items()]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, with None for NaN: ready for JSON."""
        margins = {name: evaluation.margins for name, evaluation in self.evaluations.items()}
        tests = [asdict(test) for test in self.tests]
        found: dict[str, Any] = jsonable({"means": self.means, "margins": margins, "tests": tests})
        return found

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.means)} by {', '.join(next(iter(self.means.values())))})"

    def __str__(self) -> str:
        tests = text_table(TEST_HEADER, [test.row for test in self.tests])
        return f"{text_table(*self._mean_rows())}\n\n{tests}"

    def _repr_html_(self) -> str:
        return html_table(*self._mean_rows()) + html_table(TEST_HEADER, [test.row for test in self.tests])


def compare(
    y: ArrayLike,
    scores: Mapping[str, ArrayLike],
    qid: QueryLike = None,
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT_MEASURES,
    *,
    baseline: str | None = None,
    preset: str | None = None,
    docs: ArrayLike | None = None,
    n_permutations: int = 10_000,
    random_state: RandomSource = 0,
) -> Comparison:
    """Compare score vectors of the same rows by means, Wilcoxon and paired randomization tests over queries.

    Parameters
    ----------
    y, qid, measures, preset, docs
        As in `evaluate`.
    scores : dict of name to array-like
        At least two score vectors.
    baseline : str, optional
        The name that all others are tested against, as ``b``; by default every pair is tested.
    n_permutations : int
        The number of random permutations in the randomization test; if no more than this many exist, all are
        evaluated and the p-value is exact.
    random_state : int, RandomState, Generator or None, default=0
        The same integer always gives the same p-values.

    Examples
    --------
    >>> from rankwise.metrics import compare
    >>> y, qid = [2, 0, 1, 0], ["a", "a", "b", "b"]
    >>> result = compare(y, {"old": [0, 1, 0, 1], "new": [1, 0, 1, 0]}, qid, ["pairwise_error"])
    >>> result.means
    {'old': {'pairwise_error': 1.0}, 'new': {'pairwise_error': 0.0}}
    >>> result.tests[0].n_worse, result.tests[0].p_randomization
    (2, 0.5)
    """
    if not isinstance(scores, Mapping):
        raise ParameterError(
            f"The 'scores' parameter must be a dict of named score vectors; got {type(scores).__name__}."
        )
    if len(scores) < 2:
        raise ParameterError(
            f"The 'scores' parameter must contain at least two score vectors; got {len(scores)}."
        )
    if baseline is not None and not (isinstance(baseline, Hashable) and baseline in scores):
        raise ParameterError(
            f"The 'baseline' parameter must be one of {', '.join(map(repr, scores))}; got {baseline!r}."
        )
    n_permutations = check_count("n_permutations", n_permutations)
    prepared = prepare_measures(y, qid, measures, preset=preset, docs=docs)
    evaluations = {name: evaluate_prepared(prepared, vector) for name, vector in scores.items()}
    if baseline is None:
        pairs = list(combinations(scores, 2))
    else:
        pairs = [(name, baseline) for name in scores if name != baseline]
    tests = [
        {"measure": measure.measure.name, "a": a, "b": b}
        | _tested(measure, evaluations[a], evaluations[b], n_permutations, random_state)
        for measure in prepared
        for a, b in pairs
    ]
    corrected = zip(
        tests,
        holm([test["p_wilcoxon"] for test in tests]),
        holm([test["p_randomization"] for test in tests]),
        strict=True,
    )
    return Comparison(
        evaluations,
        tuple(PairedTest(**test, holm_wilcoxon=w, holm_randomization=r) for test, w, r in corrected),
    )


def _tested(
    prepared: PreparedMeasure, a: Evaluation, b: Evaluation, n_permutations: int, random_state: RandomSource
) -> dict[str, Any]:
    name, counted = prepared.measure.name, ~prepared.left_out
    difference = clear_differences(_values(a, name)[counted], _values(b, name)[counted])
    gained = difference if prepared.measure.higher_is_better else -difference
    weight = prepared.query_weight[counted]
    return {
        "difference": a.means[name] - b.means[name],
        "margin": margin_of_mean(difference, weight),
        "n_better": int((gained > 0.0).sum()),
        "n_worse": int((gained < 0.0).sum()),
        "n_equal": int((gained == 0.0).sum()),
        "p_wilcoxon": wilcoxon_p(difference),
        "p_randomization": randomization_p(weight * difference, n_permutations, random_state),
    }


def _values(evaluation: Evaluation, measure: str) -> Floats:
    values: Floats = evaluation.per_query[measure]
    return values
