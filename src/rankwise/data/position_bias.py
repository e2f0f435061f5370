"""How much less users look at results further down, estimated from the clicks themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rankwise.errors import DataError, warn_caller
from rankwise.types import Floats, Ints

_MAX_ROUNDS, _TOLERANCE = 1000, 1e-8


def estimate_position_bias(row: Ints, position: Ints, clicked: NDArray[np.bool_]) -> Floats:
    """The probability that users look at the place of each result shown, up to a common factor.

    Assumes the position-based model: a row r in place k is clicked with probability θ_k γ_r. Rows that were
    shown in several places tell the two apart, so the engine must not always have shown the same order. θ and
    γ solve Σ_r c_rk = θ_k Σ_r n_rk γ_r and Σ_k c_rk = γ_r Σ_k n_rk θ_k, with c clicks in n showings: the
    expected clicks of every place and of every row are those observed. They are found by turns; a turn costs
    O(different pairs of row and place).

    Returns
    -------
    Floats, one per result shown
        θ of its place, the largest 1. A place without a click counts as if it had one.
    """
    places, place = np.unique(position, return_inverse=True)
    _, item = np.unique(row, return_inverse=True)
    shape = (int(item.max()) + 1, len(places))
    shown: Any = sparse.csr_array((np.ones(len(row)), (item, place)), shape=shape)
    _check_connected(shown, places)
    clicks_of_place = np.maximum(np.bincount(place, clicked, len(places)), 1.0)
    n_shown = np.bincount(place)
    clicks_of_row = np.bincount(item, clicked, shape[0])
    look = np.ones(len(places))
    for _ in range(_MAX_ROUNDS):
        liking = clicks_of_row / (shown @ look)
        expected = shown.T @ liking
        update = clicks_of_place / np.where(expected > 0, expected, n_shown)
        update /= update.max()
        change = float(np.abs(update - look).max())
        look = update
        if change < _TOLERANCE:
            break
    else:
        _warn_unfinished(change)
    return look[place]


def _check_connected(shown: Any, places: Ints) -> None:
    """Every two places must be linked by rows that were shown in several."""
    links = (shown.T @ shown) > 0
    n_islands, island = sparse.csgraph.connected_components(links, directed=False)
    if n_islands > 1:
        apart = places[(island != island[0]).argmax()]
        raise DataError(
            f"The position bias cannot be estimated: no row links positions {places[0]} and {apart} by being "
            "shown in both, directly or through others; give the propensities, or a log that explores more."
        )


def _warn_unfinished(change: float) -> None:
    from sklearn.exceptions import ConvergenceWarning

    message = f"The estimate of the position bias still changes by {change:.1e} after {_MAX_ROUNDS} rounds."
    warn_caller(message, ConvergenceWarning)
