"""How quality grows with the number of judged queries, and how far it would grow with more of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise.errors import DataError, GridWarning
from rankwise.long_tasks import step, task
from rankwise.metrics.evaluation import chosen_measures
from rankwise.metrics.measure import Measure
from rankwise.metrics.named_measures import MeasureLike
from rankwise.rendering import Cell, html_table, text_table
from rankwise.rows.ranking import RankingData
from rankwise.selection.learner_comparison import check_learner, query_by_query, scores_without
from rankwise.selection.power_law import DECAY, Points
from rankwise.types import Floats, Ints, RandomSource
from rankwise.validation import check_kind, check_random_state
from rankwise.validation.parameters import check_count, check_number

# Each draw trains on at most 4 of 5 parts of the queries, and tests on the others. Of many others, so many or
# a fifth of all queries are enough.
N_PARTS, ENOUGH_TESTED = 5, 200
# Training sizes, each smaller than the next by this factor, and the least.
N_SIZES, GROWTH, LEAST = 6, 1.6, 10
# Three sizes tell a straight line from a curve, which takes so many queries.
LEAST_SIZES, LEAST_QUERIES = 3, 32
HEADER = ("queries", "judgments", "mean", "±", "gain over all", "±", "")


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve:
    """The result of `learning_curve`.

    Attributes
    ----------
    measure : Measure
        What was measured.
    points : Points
        The numbers of training queries, the means, and their errors.
    rows_per_query : float
        The mean number of judgments per query.

    See Also
    --------
    rankwise.learning_curve : Returns it.

    Examples
    --------
    >>> from rankwise import RankRLSCV, learning_curve, make_search_data
    >>> curve = learning_curve(make_search_data(60, random_state=0), RankRLSCV(), n_draws=10)
    >>> curve.sizes
    array([12, 19, 30, 48])
    >>> mean, margin = curve.predict(120)
    >>> curve.means[-1] < mean < 1.0
    True
    """

    measure: Measure
    points: Points
    rows_per_query: float

    @property
    def sizes(self) -> Ints:
        """Numbers of training queries."""
        return self.points.sizes

    @property
    def means(self) -> Floats:
        """The measure on queries that were not trained on, by the number of training queries."""
        return self.points.means

    @property
    def margins(self) -> Floats:
        """Half of 95 % intervals of the means: of the quality on new queries, averaged over training sets."""
        return self.points.margins

    def predict(self, n_queries: float) -> tuple[float, float]:
        """Predict the measure of a model trained on this number of queries, those of the data among them.

        Parameters
        ----------
        n_queries : float
            Up to about twice the number of queries in the data, where the intervals were checked.

        Returns
        -------
        mean, margin : float
            A 95 % interval is ``mean ± margin``.
        """
        return self.points.predict(check_number("n_queries", n_queries, minimum=1.0))

    def gain(self, n_queries: float) -> tuple[float, float]:
        """Predict the gain of such a model over one trained on all queries of the data.

        Both are measured on the same queries, so the gain is far more certain than either measure.

        Parameters
        ----------
        n_queries : float
            As in `predict`.

        Returns
        -------
        mean, margin : float
        """
        return self.points.predict(check_number("n_queries", n_queries, minimum=1.0), gain=True)

    def rows(self, more: Any = None) -> list[tuple[Cell, ...]]:
        """The rows of the table: what was measured, and what is predicted for more queries.

        Parameters
        ----------
        more : sequence of int, optional
            Numbers of training queries; by default all queries of the data, and twice as many.
        """
        n = self.points.n_queries
        measured = zip(self.sizes.tolist(), self.means.tolist(), self.margins.tolist(), strict=True)
        lines: list[tuple[Any, ...]] = [(*line, None, None, "measured") for line in measured]
        for size in [n, 2 * n] if more is None else more:
            gain = (None, None) if size == n else self.gain(size)
            lines.append((size, *self.predict(size), *gain, "predicted"))
        return [(size, round(size * self.rows_per_query), *rest) for size, *rest in lines]

    def to_dict(self, more: Any = None) -> dict[str, Any]:
        """Plain numbers, strings and lists: ready for JSON."""
        names = ("queries", "judgments", "mean", "margin", "gain", "gain_margin", "source")
        rows = [dict(zip(names, row, strict=True)) for row in self.rows(more)]
        return {"measure": self.measure.name, "curve": rows}

    def __repr__(self) -> str:
        return f"LearningCurve({self.measure.name}, {self.sizes[0]} to {self.sizes[-1]} training queries)"

    def __str__(self) -> str:
        return f"{self!r}\n{text_table(HEADER, self.rows())}"

    def _repr_html_(self) -> str:
        return f"<p>{self!r}</p>{html_table(HEADER, self.rows())}"


def learning_curve(
    data: RankingData,
    learner: Any,
    measure: MeasureLike = "ndcg@10",
    *,
    n_draws: int = 20,
    random_state: RandomSource = 0,
) -> LearningCurve:
    """Measure quality by the number of training queries, and predict it for more of them.

    Each draw trains on more and more of the queries, in random order and up to four fifths of them, and tests
    every model on the queries that it was not trained on; of many, on 200 or on the last fifth. The judged
    queries must be a random sample: a curve of judgments that were chosen because a model learns most from
    them says nothing about queries to come. Fits to few queries issue no `GridWarning`, because their best
    alpha often ends its grid.

    Parameters
    ----------
    data : RankingData
        With queries.
    learner : estimator
        As in `compare_learners`; cloned. It should choose its alpha, because the best depends on the number
        of queries.
    measure : str, Measure or callable, default="ndcg@10"
        A name such as "map", or what `rankwise.metrics.get_measure` takes.
    n_draws : int, default=20
        At least 10, so that every query is tested twice by the largest models.
    random_state : int, RandomState, Generator or None, default=0
        The seed of the draws.

    Returns
    -------
    LearningCurve

    See Also
    --------
    compare_learners : Several learners, trained on all queries but those left out.
    rankwise.selection.learning_curve.LearningCurve : The result.

    Examples
    --------
    >>> from rankwise import RankRLSCV, learning_curve, make_search_data
    >>> curve = learning_curve(make_search_data(60, random_state=0), RankRLSCV(), n_draws=10)
    >>> curve
    LearningCurve(ndcg@10, 12 to 48 training queries)
    """
    data = check_kind("data", data, RankingData)
    n_draws = check_count("n_draws", n_draws, minimum=2 * N_PARTS)
    (chosen,) = chosen_measures(measure, None)
    rng = check_random_state("random_state", random_state)
    if data.queries.labels is None:
        raise DataError("A learning curve leaves out queries, but the data has none.")
    check_learner("learner", learner, data)
    sizes = training_sizes(data.n_queries)
    values = np.full((n_draws, len(sizes), data.n_queries), np.nan)
    first_tested = min(sizes[-1], max(data.n_queries - ENOUGH_TESTED, 0))
    with task("Learning from more and more queries"):
        for draw, order in enumerate(_orders(data.n_queries, n_draws, rng)):
            step(f"draw {draw + 1} of {n_draws}", done=draw / n_draws)
            for at, size in enumerate(sizes.tolist()):
                training, _ = _of_queries(data, order[:size])
                if at == 0 or size > first_tested:
                    tested, places = _of_queries(data, order[max(size, first_tested) :])
                    measured = chosen.prepare(tested.y, tested.queries, docs=tested.docs)
                try:
                    scores = _scores(learner, query_by_query(training), tested)
                except DataError as error:
                    raise DataError(f"With {size} training queries: {error}") from error
                values[draw, at, places] = measured.per_query(scores)
    whole = chosen.prepare(data.y, data.queries, docs=data.docs)
    weight = np.where(whole.left_out, 0.0, whole.query_weight)
    return LearningCurve(chosen, points_of(sizes, values, weight), data.n_rows / data.n_queries)


def training_sizes(n_queries: int) -> Ints:
    """Numbers of training queries, up to all but a fifth."""
    most = n_queries - -(-n_queries // N_PARTS)
    sizes = sorted({round(most / GROWTH**power) for power in range(N_SIZES)})
    sizes = [size for size in sizes if size >= LEAST]
    if len(sizes) < LEAST_SIZES:
        raise DataError(f"A learning curve needs at least {LEAST_QUERIES} queries; the data has {n_queries}.")
    return np.array(sizes)


def _orders(n_queries: int, n_draws: int, rng: np.random.Generator) -> Iterator[Ints]:
    """The queries in random order; all have their turn in the last fifth, on which no model is trained."""
    parts: list[Ints] = []
    for _ in range(n_draws):
        parts = parts or np.array_split(rng.permutation(n_queries), N_PARTS)
        last = parts.pop()
        yield np.append(rng.permutation(np.setdiff1d(np.arange(n_queries), last)), last)


def _scores(learner: Any, training: RankingData, tested: RankingData) -> Floats:
    """Scores by a learner fitted to a few queries, whose best alpha may well be an end of the grid."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridWarning)
        return scores_without(learner, training, tested, type(learner).__name__)


def _of_queries(data: RankingData, chosen: Ints) -> tuple[RankingData, Ints]:
    """The rows of some queries, and the numbers of these in the order of the selection."""
    query_of_row = data.queries.query_of_row()
    rows = np.flatnonzero(np.isin(query_of_row, chosen))
    part = data.select(rows)
    order = np.arange(part.n_rows) if part.queries.order is None else part.queries.order
    return part, query_of_row[rows[order[part.queries.offsets[:-1]]]]


def points_of(sizes: Ints, values: Floats, weight: Floats) -> Points:
    """What the values of each draw, size and query say; NaN where a query was not tested."""
    tested = ~np.isnan(values).all(axis=0).any(axis=0) & (weight > 0.0)
    values, share = values[:, :, tested], weight[tested] / weight[tested].sum()
    by_query = np.nanmean(values, axis=0).T
    means = share @ by_query
    effects = (by_query - means) * share[:, None]
    tau = variance_of_models(sizes, values, share)
    return Points(sizes, means, effects, *tau, len(values), len(weight))


def variance_of_models(sizes: Ints, values: Floats, share: Floats) -> tuple[float, float]:
    """The variance between models of n queries, times ``n ** DECAY``, and its error.

    From how much draws gain with each size. Both models of a gain are tested on the same queries, whatever
    these are like; which ones they are is chance, whose part of the variance the queries of the draws tell.
    """
    gains = np.diff(values, axis=1)
    own = np.where(np.isnan(gains), 0.0, share)
    n_tested = np.count_nonzero(own, axis=2).mean(axis=0)
    own /= np.maximum(own.sum(axis=2, keepdims=True), 1e-300)  # a draw may have tested nothing that counts
    gains = np.where(own > 0.0, gains, 0.0)
    mean = (own * gains).sum(axis=2)
    chance = (np.square(own) * np.square(gains - mean[:, :, None])).sum(axis=2)
    chance /= np.maximum(1.0 - np.square(own).sum(axis=2), 1e-12)
    n_draws, falls = len(values), sizes[:-1] ** -DECAY - sizes[1:] ** -DECAY
    counts = n_tested / n_tested.sum()  # the more queries test a gain, the less of its variance is chance
    spread = np.square(mean - mean.mean(axis=0)) * (n_draws / (n_draws - 1.0)) / falls @ counts
    by_draw = spread - chance / falls @ counts
    # A few draws may happen to agree: at least half of their spread is taken for the variance between models.
    found = max(float(by_draw.mean()), 0.5 * float(spread.mean()))
    return found, float(by_draw.std(ddof=1) / np.sqrt(n_draws))
