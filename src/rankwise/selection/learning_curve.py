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
from rankwise.metrics.significance import CONFIDENCE
from rankwise.rendering import Cell, html_table, text_table
from rankwise.rows.ranking import RankingData
from rankwise.selection.learner_comparison import check_learner, query_by_query, scores_without
from rankwise.selection.power_law import Points
from rankwise.types import Floats, Ints, RandomSource
from rankwise.validation import check_kind, check_random_state
from rankwise.validation.parameters import check_count, check_number

# Each draw trains on 4 of 5 parts of the queries, or fewer of them, and tests on the fifth.
N_PARTS = 5
# Training sizes, each smaller than the next by this factor, and the least.
N_SIZES, GROWTH, LEAST = 6, 1.6, 10
# Three sizes tell a straight line from a curve, which takes so many queries.
LEAST_SIZES, LEAST_QUERIES = 3, 32
HEADER = ("queries", "judgments", "mean", "±", "")


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
        margins: Floats = self._quantile * np.sqrt(np.diag(self.points.covariance))
        return margins

    def predict(self, n_queries: float) -> tuple[float, float]:
        """Predict the measure of a model trained on this number of queries.

        Parameters
        ----------
        n_queries : float
            Up to about twice the number of queries in the data, where the intervals were checked.

        Returns
        -------
        mean, margin : float
            A 95 % interval is ``mean ± margin``.
        """
        size = check_number("n_queries", n_queries, minimum=1.0)
        mean, error = self.points.predict(size)
        return mean, self._quantile * error

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
        size = check_number("n_queries", n_queries, minimum=1.0)
        mean, error = self.points.predict(size, self.points.n_queries)
        return mean, self._quantile * error

    @property
    def _quantile(self) -> float:
        from scipy.special import stdtrit

        return float(stdtrit(max(len(self.points.effects) - 1, 1), (1.0 + CONFIDENCE) / 2.0))

    def rows(self, more: Any = None) -> list[tuple[Cell, ...]]:
        """The rows of the table: what was measured, and what is predicted for more queries.

        Parameters
        ----------
        more : sequence of int, optional
            Numbers of training queries; by default all queries of the data, and twice as many.
        """
        n = self.points.n_queries
        measured = zip(self.sizes.tolist(), self.means.tolist(), self.margins.tolist(), strict=True)
        lines = [(size, mean, margin, "measured") for size, mean, margin in measured]
        lines += [(size, *self.predict(size), "predicted") for size in ([n, 2 * n] if more is None else more)]
        return [(size, round(size * self.rows_per_query), *rest) for size, *rest in lines]

    def to_dict(self, more: Any = None) -> dict[str, Any]:
        """Plain numbers, strings and lists: ready for JSON."""
        names = ("queries", "judgments", "mean", "margin", "source")
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

    Each draw tests on a fifth of the queries, chosen at random, and trains on more and more of the others, in
    random order. The judged queries must be a random sample: a curve of judgments that were chosen because a
    model learns most from them says nothing about queries to come. Fits to few queries issue no
    `GridWarning`, because their best alpha often ends its grid.

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
        At least 10, so that every query is tested twice.
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
    with task("Learning from more and more queries"):
        for draw, part in enumerate(_parts(data.n_queries, n_draws, rng)):
            step(f"draw {draw + 1} of {n_draws}", done=draw / n_draws)
            order = rng.permutation(np.setdiff1d(np.arange(data.n_queries), part))
            tested, places = _of_queries(data, part)
            prepared = chosen.prepare(tested.y, tested.queries, docs=tested.docs)
            for at, size in enumerate(sizes.tolist()):
                training, _ = _of_queries(data, order[:size])
                try:
                    scores = _scores(learner, query_by_query(training), tested)
                except DataError as error:
                    raise DataError(f"With {size} training queries: {error}") from error
                values[draw, at, places] = prepared.per_query(scores)
    whole = chosen.prepare(data.y, data.queries, docs=data.docs)
    weight = np.where(whole.left_out, 0.0, whole.query_weight)
    return LearningCurve(chosen, points_of(sizes, values, weight), data.n_rows / data.n_queries)


def training_sizes(n_queries: int) -> Ints:
    """Numbers of training queries, up to all that are not tested."""
    most = n_queries - -(-n_queries // N_PARTS)
    sizes = sorted({round(most / GROWTH**power) for power in range(N_SIZES)})
    sizes = [size for size in sizes if size >= LEAST]
    if len(sizes) < LEAST_SIZES:
        raise DataError(f"A learning curve needs at least {LEAST_QUERIES} queries; the data has {n_queries}.")
    return np.array(sizes)


def _parts(n_queries: int, n_draws: int, rng: np.random.Generator) -> Iterator[Ints]:
    """The queries that are tested in each draw; all have their turn before one is tested again."""
    parts: list[Ints] = []
    for _ in range(n_draws):
        parts = parts or np.array_split(rng.permutation(n_queries), N_PARTS)
        yield parts.pop()


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
    tested = ~np.isnan(values[:, 0]).all(axis=0) & (weight > 0.0)
    values, share = values[:, :, tested], weight[tested] / weight[tested].sum()
    by_query = np.nanmean(values, axis=0).T
    means = share @ by_query
    # A draw is compared with what its queries have in all draws, a few of which it is itself.
    in_draw = ~np.isnan(values[:, 0])
    own = np.where(in_draw, share, 0.0)
    own /= own.sum(axis=1, keepdims=True)
    few = int(np.flatnonzero(sizes <= values.shape[2] / 2)[-1])  # larger draws have most queries in common
    gaps = np.where(in_draw, values[:, few] - by_query[:, few], 0.0)
    apart = (own * gaps).sum(axis=1)
    by_chance = (np.square(own) * np.square(gaps - apart[:, None])).sum(axis=1)
    n_tests = in_draw.sum(axis=0).mean()
    scale = float(sizes[few] * n_tests / (n_tests - 1.0))
    spread = scale * float(np.square(apart).mean())
    tau = max(spread - scale * float(by_chance.mean()), 0.0)
    effects = (by_query - means) * share[:, None]
    return Points(sizes, means, effects, tau, spread, len(values), len(weight))
