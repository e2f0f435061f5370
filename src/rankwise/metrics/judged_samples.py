"""Measures by the labels of people on some queries, made more precise by those of a model on all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError, ParameterError
from rankwise.metrics.evaluation import DEFAULT_MEASURES, QueryValues, prepare_measures
from rankwise.metrics.measure import QueryLike
from rankwise.metrics.named_measures import MeasureLike
from rankwise.metrics.prediction_powered import LEAST_QUERIES, Part, combine
from rankwise.preferences.queries import Queries, group_rows
from rankwise.rendering import Cell, html_table, jsonable, text_table
from rankwise.types import Bools
from rankwise.validation import check_labels
from rankwise.validation.arrays import as_floats


@dataclass(frozen=True)
class SampledMean:
    """The estimated mean of a measure for some scores, or for the difference of two, named ``a - b``.

    Attributes
    ----------
    measure, scores : str
        The names of the measure and of the scores.
    mean, margin : float
        The estimate from both kinds of labels; a 95 % confidence interval is ``mean ± margin``.
    people, people_margin : float
        The estimate from human labels alone.
    model : float
        The mean over all queries by the model's labels alone, which is biased.
    weight : float
        The weight λ of the model's labels.
    correlation : float
        The correlation over queries between the values by human labels and by the model's.

    See Also
    --------
    evaluate_sampled : Returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwise.metrics import evaluate_sampled
    >>> rng = np.random.default_rng(0)
    >>> qid, truth = np.repeat(np.arange(100), 10), rng.integers(0, 3, 1000)
    >>> judge, scores = np.minimum(truth + (rng.random(1000) < 0.2), 2), truth + rng.normal(size=1000)
    >>> people = np.ma.masked_array(truth, mask=qid >= 20)
    >>> (mean,) = evaluate_sampled(judge, people, scores, qid, "ndcg@10").means
    >>> mean.measure, mean.scores, mean.weight > 0.0
    ('ndcg@10', 'scores', True)
    """

    measure: str
    scores: str
    mean: float
    margin: float
    people: float
    people_margin: float
    model: float
    weight: float
    correlation: float


@dataclass(frozen=True, repr=False, eq=False)
class SampledEvaluation:
    """The result of `evaluate_sampled`.

    Attributes
    ----------
    means, differences : tuple of SampledMean
        One per measure and scores; with several scores, one per difference from the first.
    n_sampled, n_queries : int
        The number of queries that people judged, and of all queries.

    See Also
    --------
    evaluate_sampled : Returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwise.metrics import evaluate_sampled
    >>> rng = np.random.default_rng(0)
    >>> qid, truth = np.repeat(np.arange(100), 10), rng.integers(0, 3, 1000)
    >>> judge, scores = np.minimum(truth + (rng.random(1000) < 0.2), 2), truth + rng.normal(size=1000)
    >>> people = np.ma.masked_array(truth, mask=qid >= 20)
    >>> found = evaluate_sampled(judge, people, scores, qid, "ndcg@10")
    >>> found.means[0].margin < found.means[0].people_margin
    True
    """

    means: tuple[SampledMean, ...]
    differences: tuple[SampledMean, ...]
    n_sampled: int
    n_queries: int

    def _table(self) -> tuple[list[str], list[list[Cell]]]:
        header = [field.name.replace("_", " ") for field in fields(SampledMean)]
        return header, [list(asdict(one).values()) for one in (*self.means, *self.differences)]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, with None for NaN: ready for JSON."""
        found: dict[str, Any] = jsonable(asdict(self))
        return found

    def __repr__(self) -> str:
        return f"SampledEvaluation({self.n_sampled:,} of {self.n_queries:,} queries judged by people)"

    def __str__(self) -> str:
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())


def evaluate_sampled(
    y: ArrayLike,
    people: Any,
    scores: ArrayLike | Mapping[str, ArrayLike],
    qid: QueryLike,
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT_MEASURES,
    *,
    preset: str | None = None,
) -> SampledEvaluation:
    """Measure scores with human labels for some queries and a model's labels for all.

    Parameters
    ----------
    y : array-like, shape (m,)
        The model's label of each row.
    people : masked array, shape (m,)
        Human labels, masked where there are none. The queries that people judged must be a random sample, and
        every row of them must be judged.
    scores : array-like, shape (m,), or mapping of names to such
        With several, their differences from the first are measured as well.
    qid, measures, preset
        As in `evaluate`.

    Returns
    -------
    SampledEvaluation

    References
    ----------
    Angelopoulos, Duchi and Zrnic, "PPI++: Efficient Prediction-Powered Inference" (2023).

    See Also
    --------
    evaluate : With labels of one kind.
    SampledEvaluation : The result.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwise.metrics import evaluate_sampled
    >>> rng = np.random.default_rng(0)
    >>> qid, truth = np.repeat(np.arange(100), 10), rng.integers(0, 3, 1000)
    >>> judge, scores = np.minimum(truth + (rng.random(1000) < 0.2), 2), truth + rng.normal(size=1000)
    >>> people = np.ma.masked_array(truth, mask=qid >= 20)
    >>> evaluate_sampled(judge, people, scores, qid, "ndcg@10")
    SampledEvaluation(20 of 100 queries judged by people)
    """
    labels = check_labels(y)
    queries = qid if isinstance(qid, Queries) else group_rows(qid, len(labels))
    true, sampled = sampled_queries(people, queries)
    named = scores if isinstance(scores, Mapping) else {"scores": scores}
    if not named:
        raise ParameterError("The 'scores' parameter must contain at least one array of scores.")
    judged = np.where(np.ma.getmaskarray(true), labels, true.data)
    by_people = prepare_measures(judged, queries, measures, preset=preset)
    by_model = prepare_measures(labels, queries, measures, preset=preset)
    means, differences = [], []
    for person, model in zip(by_people, by_model, strict=True):
        found = {
            name: (QueryValues.of(person, one), QueryValues.of(model, one)) for name, one in named.items()
        }
        means += [_mean(name, h, f, sampled) for name, (h, f) in found.items()]
        first, *others = found
        h0, f0 = found[first]
        for name in others:
            h, f = found[name]
            apart = replace(h, values=h.values - h0.values), replace(f, values=f.values - f0.values)
            differences.append(_mean(f"{name} - {first}", *apart, sampled))
    return SampledEvaluation(tuple(means), tuple(differences), int(sampled.sum()), queries.n_queries)


def sampled_queries(people: Any, queries: Queries) -> tuple[Any, Bools]:
    """People's labels, and the queries that they judged, which must be whole."""
    given = np.ma.asarray(people)
    mask = np.ma.getmaskarray(given)
    if given.ndim != 1 or len(given) != queries.n_rows:
        raise DataError(
            f"The 'people' parameter must have one entry per row, {queries.n_rows}; got {given.shape}."
        )
    values = as_floats("people", np.where(mask, 0, given.data))
    counts = np.bincount(queries.query_of_row()[~mask], minlength=queries.n_queries)
    partly = (counts > 0) & (counts < queries.sizes)
    if partly.any():
        at = int(partly.argmax())
        name = "" if queries.labels is None else f" {queries.labels[at]}"
        raise DataError(
            f"People judged {counts[at]} of the {queries.sizes[at]} rows of query{name}; a query must be "
            f"judged as a whole, or not at all, for a measure of it."
        )
    sampled = counts > 0
    n_sampled = int(sampled.sum())
    if n_sampled < LEAST_QUERIES:
        raise DataError(f"People judged {n_sampled} queries; at least {LEAST_QUERIES} are needed.")
    return np.ma.masked_array(check_labels(values), mask), sampled


def _mean(name: str, h: QueryValues, f: QueryValues, sampled: Bools) -> SampledMean:
    """The estimate from the values by people, which count in the sample only, and those by the model."""
    of_people, in_sample, outside = Part.of(h, sampled), Part.of(f, sampled), Part.of(f, ~sampled)
    found = combine(of_people, in_sample, outside)
    return SampledMean(
        h.measure.name,
        name,
        found.mean,
        found.margin,
        of_people.mean,
        of_people.margin,
        Part.of(f, np.ones(len(sampled), dtype=np.bool_)).mean,
        found.weight,
        found.correlation,
    )
