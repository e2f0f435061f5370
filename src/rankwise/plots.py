"""Plot of a regularization path."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwise.errors import MissingExtraError
from rankwise.types import Floats, Ints


def draw_path(alphas: Floats, active_size: Ints, measured: Floats | None, chosen: float, title: str) -> Any:
    """Plot the measure along the path, if any, above the number of pairs on the margin."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError:
        raise MissingExtraError("Plotting a path", "plot") from None

    figure = Figure(figsize=(8, 6), layout="constrained")
    *above, below = figure.subplots(1 if measured is None else 2, 1, sharex=True, squeeze=False)[:, 0]
    for place in above:
        assert measured is not None
        place.plot(alphas, measured)
        at = np.searchsorted(alphas, chosen)  # always a breakpoint
        place.plot(chosen, measured[at], "o", color="black", label=f"alpha {chosen:.4g}: {measured[at]:.4g}")
        place.legend(frameon=False)
    # The count goes up and down by one at most breakpoints; a thick line would look like a band.
    below.step(alphas, active_size, where="pre", linewidth=0.7)
    below.yaxis.set_major_locator(MaxNLocator(integer=True))
    below.set(xlabel="alpha", ylabel="pairs on the margin", xscale="log")
    below.invert_xaxis()
    for place in (*above, below):
        place.grid(alpha=0.3)
        place.spines[["top", "right"]].set_visible(False)
        place.axvline(chosen, color="black", linestyle=":", linewidth=0.8)
    figure.suptitle(title)
    return figure
