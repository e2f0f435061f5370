"""Simulated click logs: what users of an engine, or of two that are interleaved, see and click."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankwise.clicks.interleaving import team_draft
from rankwise.clicks.log import ClickLog
from rankwise.clicks.users import Users
from rankwise.preferences.queries import members
from rankwise.rows.ranking import RankingData
from rankwise.types import AnyArray, Bools, Floats, Ints, RandomSource
from rankwise.validation import check_count, check_labels, check_number, check_random_state


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
        The number of sessions.
    n_shown : int, default=10
        The number of results shown per session; fewer if the query has fewer rows.
    exploration : float, default=0.3
        The scale of the Gumbel noise that the engine adds to scores standardized within the query. With 0,
        the order is always the same, and clicks reveal nothing about rows that are never shown.
    position_bias : float, default=1
        How fast attention falls with the position; 0 means that users examine every result shown.
    click_noise : float, default=0.1
        The probability of clicking an examined row of grade 0.
    random_state : int, RandomState, Generator or None, default=0
        The seed of the simulation.

    Returns
    -------
    ClickLog
        With the true propensities of the simulated users.

    Examples
    --------
    >>> from rankwise import make_search_data
    >>> from rankwise.clicks import make_click_log
    >>> data = make_search_data(50, random_state=0)
    >>> make_click_log(data, scores=data.X[:, 0], n_sessions=100)
    ClickLog(100 sessions, 862 results shown, 78 clicks)
    """
    n_sessions, n_shown = check_count("n_sessions", n_sessions), check_count("n_shown", n_shown)
    exploration = check_number("exploration", exploration, minimum=0.0)
    users = Users(data, position_bias, click_noise)
    rng = check_random_state("random_state", random_state)
    queries = data.queries
    score = queries.grouped(_standardized(check_labels(scores, data.n_rows, name="scores"), data))

    query = users.queries(n_sessions, rng)
    session, row, rank = members(queries.offsets, query)
    by_score = np.lexsort((-(score[row] + exploration * rng.gumbel(size=len(row))), session))
    # Sorting does not move sessions, so `rank` still counts from the start of each.
    shown = rank < n_shown
    session, row, position = session[shown], row[by_score][shown], rank[shown] + 1

    row = row if queries.order is None else queries.order[row]
    return ClickLog(
        session=session,
        row=row,
        position=position,
        clicked=users.click(row, position, rng),
        propensity=users.look(position),
    )


@dataclass(frozen=True, eq=False, repr=False)
class InterleavedLog:
    """The result of `make_interleaved_log`, with one entry per result shown.

    Attributes
    ----------
    session : Ints
        The session; each is shown one list.
    row : Ints
        The row of the data that was shown.
    position : Ints
        The position at which it was shown, counted from 1.
    team : array of str
        "a", "b", or "" for a result without a team.
    clicked : bool array
        Whether it was clicked.

    See Also
    --------
    make_interleaved_log : Makes it.

    Examples
    --------
    >>> from rankwise import make_search_data
    >>> from rankwise.clicks import make_interleaved_log
    >>> data = make_search_data(50, random_state=0)
    >>> log = make_interleaved_log(data, data.X[:, 0], data.X[:, 1], n_sessions=100)
    >>> len(log.session), int(log.clicked.sum()), log.team[:4].tolist()
    (862, 68, ['', '', 'a', 'b'])
    """

    session: Ints
    row: Ints
    position: Ints
    team: AnyArray
    clicked: Bools


def make_interleaved_log(
    data: RankingData,
    a: ArrayLike,
    b: ArrayLike,
    *,
    n_sessions: int = 2000,
    n_shown: int = 10,
    position_bias: float = 1.0,
    click_noise: float = 0.1,
    random_state: RandomSource = 0,
) -> InterleavedLog:
    """Simulate users who are shown two rankers interleaved by `team_draft`.

    Pass the log to `interleaving_test` to see how often each ranker can be expected to win; its `n_to_detect`
    is the number of sessions with real users that a test needs. Users are those of `make_click_log`.

    Parameters
    ----------
    data : RankingData
        Its labels, which must not be negative, are the grades that users perceive when they examine a row.
    a, b : array-like, shape (m,)
        The scores of the two rankers.
    n_sessions : int, default=2000
        The number of sessions.
    n_shown : int, default=10
        The number of results shown per session; fewer if the query has fewer rows.
    position_bias : float, default=1
        How fast attention falls with the position; 0 means that users examine every result shown.
    click_noise : float, default=0.1
        The probability of clicking an examined row of grade 0.
    random_state : int, RandomState, Generator or None, default=0
        The seed of the simulation.

    Returns
    -------
    InterleavedLog

    See Also
    --------
    interleaving_test : Which ranker users prefer.
    make_click_log : Simulate users of one ranker.

    Examples
    --------
    >>> from rankwise import make_search_data
    >>> from rankwise.clicks import interleaving_test, make_interleaved_log
    >>> data = make_search_data(100, random_state=0)
    >>> old, new = data.X[:, 0], data.X[:, 0] + data.X[:, 1]
    >>> log = make_interleaved_log(data, old, new, n_sessions=2000)
    >>> result = interleaving_test(log.session, log.team, log.clicked)
    >>> result.n_to_detect(result.shares["b"])
    209
    """
    n_sessions, n_shown = check_count("n_sessions", n_sessions), check_count("n_shown", n_shown)
    users = Users(data, position_bias, click_noise)
    rng = check_random_state("random_state", random_state)
    a, b = check_labels(a, data.n_rows, name="a"), check_labels(b, data.n_rows, name="b")
    query = users.queries(n_sessions, rng)
    rankings = {q: _best_first(data.queries.rows_of(q), a, b) for q in np.unique(query).tolist()}
    lists = [team_draft(*rankings[q], n=n_shown, random_state=rng) for q in query.tolist()]
    size = np.array([len(shown) for shown in lists])
    row = np.array([document for shown in lists for document, _ in shown])
    position = np.concatenate([np.arange(1, n + 1) for n in size])
    return InterleavedLog(
        session=np.repeat(np.arange(n_sessions), size),
        row=row,
        position=position,
        team=np.array([team or "" for shown in lists for _, team in shown]),
        clicked=users.click(row, position, rng),
    )


def _best_first(rows: Ints, a: Floats, b: Floats) -> tuple[list[int], list[int]]:
    """The rows of a query in the order of either ranker."""
    first, second = (rows[np.argsort(-scores[rows], kind="stable")].tolist() for scores in (a, b))
    return first, second


def _standardized(scores: Floats, data: RankingData) -> Floats:
    """Scores standardized to mean 0 and deviation 1 within each query (0 where all are equal)."""
    query, size = data.queries.query_of_row(), data.queries.sizes
    centered = scores - (np.bincount(query, scores) / size)[query]
    deviation = np.sqrt(np.bincount(query, centered**2) / size)
    return centered / np.where(deviation > 0, deviation, 1.0)[query]
