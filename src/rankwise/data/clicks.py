"""Click logs: which results were shown where, which were clicked, and the preferences clicks imply."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwise.data.position_bias import estimate_position_bias
from rankwise.data.ranking import RankingData
from rankwise.errors import DataError
from rankwise.preferences.pairs import PreferencePairs
from rankwise.preferences.queries import group_rows
from rankwise.types import Floats, Ints, RandomSource
from rankwise.validation import check_column, check_count, check_labels, check_number, check_random_state


@dataclass(frozen=True, eq=False, repr=False)
class ClickLog:
    """User sessions; every array has one entry per result shown.

    Attributes
    ----------
    session : Ints
        The session in which the result was shown; each session issues one query.
    row : Ints
        The row of the data that was shown.
    position : Ints
        The position at which it was shown, counted from 1.
    clicked : bool array
    propensity : Floats
        The probability, above 0, that a user examines a result at this position.

    Examples
    --------
    >>> from rankwise import ClickLog
    >>> clicked, look = [0, 1, 1, 0], [1.0, 0.5, 1.0, 0.5]
    >>> ClickLog.from_arrays(["s1", "s1", "s2", "s2"], [3, 5, 5, 3], [1, 2, 1, 2], clicked, look)
    ClickLog(2 sessions, 4 results shown, 2 clicks)
    """

    session: Ints
    row: Ints
    position: Ints
    clicked: NDArray[np.bool_]
    propensity: Floats

    @classmethod
    def from_arrays(
        cls,
        session: ArrayLike | Iterable[Hashable],
        row: ArrayLike,
        position: ArrayLike,
        clicked: ArrayLike,
        propensity: ArrayLike | None = None,
    ) -> Self:
        """Build a log from arrays after checking them; each has one entry per result shown.

        Parameters
        ----------
        session : array-like of hashables
            Session labels of any kind.
        row : array-like of int
            The row of the data that was shown, counted from 0.
        position : array-like of int
            The position at which it was shown, counted from 1.
        clicked : array-like of bool, or of 0 and 1
        propensity : array-like, optional
            The probability that users examine a result at its position, above 0 and at most 1. By default
            it is estimated from rows that were shown at several positions (`estimate_position_bias`).
        """
        rows = _whole_numbers("row", row, minimum=0)
        n = len(rows)
        places = _whole_numbers("position", position, minimum=1, n=n)
        clicks = _whole_numbers("clicked", clicked, minimum=0, maximum=1, n=n).astype(bool)
        if propensity is None:
            look = estimate_position_bias(rows, places, clicks)
        else:
            look = check_labels(propensity, n, name="propensity")
            bad = (look <= 0) | (look > 1)
            if bad.any():
                at = int(bad.argmax())
                raise DataError(f"propensity must be above 0 and at most 1; entry {at} is {look[at]}.")
        sessions = group_rows(check_column("session", session, n), n)
        return cls(sessions.query_of_row(), rows, places, clicks, look)

    @property
    def n_sessions(self) -> int:
        return len(np.unique(self.session))

    def __repr__(self) -> str:
        shown = f"{len(self.row):,} results shown"
        return f"ClickLog({self.n_sessions:,} sessions, {shown}, {int(self.clicked.sum()):,} clicks)"


def make_click_log(
    data: RankingData,
    scores: ArrayLike,
    *,
    n_sessions: int = 2000,
    n_shown: int = 10,
    exploration: float = 0.3,
    position_bias: float = 1.0,
    click_noise: float = 0.1,
    random_state: RandomSource = 0,
) -> ClickLog:
    """Simulate users of an engine that ranks by `scores`, with the position-based click model.

    A session issues a query (some are far more frequent than others) and is shown the `n_shown` best rows.
    The user examines position k with probability ``k ** -position_bias`` and, having examined it, clicks a
    row of grade g with probability ``click_noise + (1 - click_noise) (2^g - 1) / (2^g_max - 1)``.

    Parameters
    ----------
    data : RankingData
        Its labels, which must not be negative, are the grades that users perceive when they examine a row.
    scores : array-like, shape (m,)
        The scores by which the logging engine ranks.
    n_sessions : int, default=2000
    n_shown : int, default=10
        The number of results shown per session; fewer if the query has fewer rows.
    exploration : float, default=0.3
        The scale of the Gumbel noise that the engine adds to scores standardized within the query. With 0,
        the order is always the same, and clicks reveal nothing about rows that are never shown.
    position_bias : float, default=1
    click_noise : float, default=0.1
    random_state : int, RandomState, Generator or None, default=0

    Returns
    -------
    ClickLog
        With the true propensities of the simulated users.

    Examples
    --------
    >>> from rankwise import make_click_log, make_search_data
    >>> data = make_search_data(50, random_state=0)
    >>> make_click_log(data, scores=data.X[:, 0], n_sessions=100)
    ClickLog(100 sessions, 862 results shown, 78 clicks)
    """
    n_sessions, n_shown = check_count("n_sessions", n_sessions), check_count("n_shown", n_shown)
    exploration = check_number("exploration", exploration, minimum=0.0)
    position_bias = check_number("position_bias", position_bias, minimum=0.0)
    click_noise = check_number("click_noise", click_noise, minimum=0.0, maximum=1.0)
    if data.y.min() < 0:
        raise DataError("Simulating clicks requires non-negative grades, but the data has negative labels.")
    rng = check_random_state("random_state", random_state)
    queries = data.queries
    score = queries.grouped(_standardized(check_labels(scores, data.n_rows, name="scores"), data))

    fame = 1.0 / (1.0 + rng.permutation(queries.n_queries))
    query = rng.choice(queries.n_queries, size=n_sessions, p=fame / fame.sum())
    session, row, rank = _candidates(queries.offsets, query)
    by_score = np.lexsort((-(score[row] + exploration * rng.gumbel(size=len(row))), session))
    # Sorting does not move sessions, so `rank` still counts from the start of each.
    shown = rank < n_shown
    session, row, position = session[shown], row[by_score][shown], rank[shown] + 1

    gain = queries.grouped(np.exp2(data.y) - 1)[row]
    attraction = gain / max(gain.max(initial=0.0), float(np.exp2(data.y.max()) - 1), 1.0)
    propensity = position.astype(np.float64) ** -position_bias
    clicked = rng.random(len(row)) < propensity * (click_noise + (1 - click_noise) * attraction)
    return ClickLog(
        session=session,
        row=row if queries.order is None else queries.order[row],
        position=position,
        clicked=clicked,
        propensity=propensity,
    )


def pairs_from_clicks(log: ClickLog, *, max_weight: float | None = None) -> PreferencePairs:
    """Prefer every clicked row to every other row of its session, weighted by 1 / propensity of the click.

    A row low on the page is clicked less because fewer users examine it. Dividing by the probability of
    examination makes the expected weight of "i above j" proportional to how often users click i once they
    examine it, wherever it was shown [1]_. Two clicked rows yield a pair in each direction. A pair that
    occurs in several sessions is returned once, with the sum of its weights.

    Parameters
    ----------
    log : ClickLog
    max_weight : float, optional
        The largest weight of a single click, which trades a little bias for less variance. With 1, all
        clicks are weighted equally.

    Returns
    -------
    PreferencePairs
        For `fit_preferences`, on the rows to which the log refers.

    References
    ----------
    .. [1] T. Joachims, A. Swaminathan, T. Schnabel: Unbiased Learning-to-Rank with Biased Feedback, WSDM 2017

    Examples
    --------
    >>> from rankwise import RankRLS, make_search_data, pairs_from_clicks
    >>> data, log = make_search_data(50, random_state=0, clicks=True)
    >>> preferences = pairs_from_clicks(log)
    >>> model = RankRLS().fit_preferences(data.X, preferences)
    >>> round(model.score(data.X, data.y, data.qid), 2)
    0.8
    """
    sessions = group_rows(log.session, len(log.row))
    row, clicked, propensity = (sessions.grouped(part) for part in (log.row, log.clicked, log.propensity))
    session = np.repeat(np.arange(sessions.n_queries), sessions.sizes)
    clicks = np.flatnonzero(clicked)
    click, other, _ = _candidates(sessions.offsets, session[clicks])
    preferred = clicks[click]
    weight = 1.0 / propensity[preferred]
    if max_weight is not None:
        weight = np.minimum(weight, check_number("max_weight", max_weight, minimum=0.0, exclusive=True))
    keep = row[preferred] != row[other]
    return _summed(row[preferred][keep], row[other][keep], weight[keep])


def _whole_numbers(
    name: str, values: ArrayLike, *, minimum: int, maximum: int = 2**62, n: int | None = None
) -> Ints:
    array = check_column(name, values, np.size(values) if n is None else n)
    if array.dtype.kind not in "biu" or len(array) == 0:
        raise DataError(f"{name} must contain integers, one per result shown.")
    bad = (array < minimum) | (array > maximum)
    if bad.any():
        at = int(bad.argmax())
        expected = f"at least {minimum}" if maximum == 2**62 else f"{minimum} or {maximum}"
        raise DataError(f"{name} must be {expected}; entry {at} is {array[at]}.")
    return array.astype(np.int64)


def _standardized(scores: Floats, data: RankingData) -> Floats:
    """Scores standardized to mean 0 and deviation 1 within each query (0 where all are equal)."""
    query, size = data.queries.query_of_row(), data.queries.sizes
    centered = scores - (np.bincount(query, scores) / size)[query]
    deviation = np.sqrt(np.bincount(query, centered**2) / size)
    return centered / np.where(deviation > 0, deviation, 1.0)[query]


def _candidates(offsets: Ints, segments: Ints) -> tuple[Ints, Ints, Ints]:
    """All members of the requested segments: the request, the member, and its rank in its segment."""
    size = np.diff(offsets)[segments]
    request = np.repeat(np.arange(len(segments)), size)
    rank = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    return request, offsets[segments][request] + rank, rank


def _summed(preferred: Ints, other: Ints, weight: Floats) -> PreferencePairs:
    """Every pair once, with the sum of its weights, in ascending order."""
    pairs, of_pair = np.unique(np.column_stack([preferred, other]), axis=0, return_inverse=True)
    total = np.bincount(of_pair.reshape(-1), weight, len(pairs)).astype(np.float64)
    return PreferencePairs(pairs.astype(np.int64), total)
