"""Simulated users of a search engine, who look mostly at the top of the list."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rankwise.clicks.log import ClickLog
from rankwise.errors import DataError
from rankwise.preferences.queries import members
from rankwise.rows.ranking import RankingData
from rankwise.types import Floats, RandomSource
from rankwise.validation import check_count, check_kind, check_labels, check_number, check_random_state


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
    position_bias = check_number("position_bias", position_bias, minimum=0.0)
    click_noise = check_number("click_noise", click_noise, minimum=0.0, maximum=1.0)
    if check_kind("data", data, RankingData).y.min() < 0:
        raise DataError("Simulating clicks requires non-negative grades, but the data has negative labels.")
    rng = check_random_state("random_state", random_state)
    queries = data.queries
    score = queries.grouped(_standardized(check_labels(scores, data.n_rows, name="scores"), data))

    fame = 1.0 / (1.0 + rng.permutation(queries.n_queries))
    query = rng.choice(queries.n_queries, size=n_sessions, p=fame / fame.sum())
    session, row, rank = members(queries.offsets, query)
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


def _standardized(scores: Floats, data: RankingData) -> Floats:
    """Scores standardized to mean 0 and deviation 1 within each query (0 where all are equal)."""
    query, size = data.queries.query_of_row(), data.queries.sizes
    centered = scores - (np.bincount(query, scores) / size)[query]
    deviation = np.sqrt(np.bincount(query, centered**2) / size)
    return centered / np.where(deviation > 0, deviation, 1.0)[query]
