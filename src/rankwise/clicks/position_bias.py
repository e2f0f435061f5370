"""Estimation of position bias, how much less users examine results further down, from clicks."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise.errors import DataError, warn_caller
from rankwise.types import AnyArray, Floats, Ints

_MAX_ROUNDS, _TOLERANCE = 5000, 1e-7


def estimate_position_bias(
    row: Ints, position: Ints, clicked: AnyArray, shown: Floats | None = None
) -> Floats:
    """Estimate the probability that users examine the position of each result, up to a common factor.

    Entries may be counts: `clicked` clicks in `shown` impressions.

    Assumes the position-based model: row r at position k is clicked with probability θ_k γ_r. Rows shown at
    several positions identify the two factors, so the engine must not always have shown the same order. θ
    and γ solve Σ_r c_rk = θ_k Σ_r n_rk γ_r and Σ_k c_rk = γ_r Σ_k n_rk θ_k, with c clicks in n impressions:
    for every position and every row, expected and observed clicks agree. They are updated alternately; a
    round costs O(distinct pairs of row and position).

    Returns
    -------
    Floats, one per entry
        θ of its position, scaled to a maximum of 1. A position without clicks is treated as having one.
    """
    from scipy import sparse

    places, place = np.unique(position, return_inverse=True)
    _, item = np.unique(row, return_inverse=True)
    shape = (int(item.max()) + 1, len(places))
    times = np.ones(len(row)) if shown is None else shown
    impressions: Any = sparse.csr_array((times, (item, place)), shape=shape)
    _check_connected(impressions, places)
    clicks_of_place = np.maximum(np.bincount(place, clicked, len(places)), 1.0)
    n_shown = np.bincount(place, times)
    clicks_of_row = np.bincount(item, clicked, shape[0])
    look = np.ones(len(places))
    for _ in range(_MAX_ROUNDS):
        liking = clicks_of_row / (impressions @ look)
        expected = impressions.T @ liking
        update = clicks_of_place / np.where(expected > 0, expected, n_shown)
        update /= update.max()
        change = float(np.abs(update - look).max())
        look = update
        if change < _TOLERANCE:
            break
    else:
        _warn_unfinished()
    return look[place]


def _check_connected(impressions: Any, places: Ints) -> None:
    """Check that rows shown at several positions link every two positions."""
    from scipy.sparse.csgraph import connected_components

    links = (impressions.T @ impressions) > 0
    n_islands, island = connected_components(links, directed=False)
    if n_islands > 1:
        apart = places[(island != island[0]).argmax()]
        raise DataError(
            f"The position bias cannot be estimated: no rows link positions {places[0]} and {apart} by being "
            "shown at both, directly or through other positions; the log needs more exploration or known "
            "propensities (1 for no correction)."
        )


def _warn_unfinished() -> None:
    from sklearn.exceptions import ConvergenceWarning

    message = (  # the same for every fold, so that it is shown once
        f"The position bias estimate did not converge in {_MAX_ROUNDS:,} rounds, so it may be inaccurate; "
        "a longer log would help."
    )
    warn_caller(message, ConvergenceWarning)
