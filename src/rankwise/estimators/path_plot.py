"""A drawing of a regularization path."""

from __future__ import annotations

from typing import Any

from rankwise.errors import MissingExtraError
from rankwise.types import Floats, Ints


def draw_path(alphas: Floats, active_size: Ints, measured: Floats | None, chosen: float, title: str) -> Any:
    """What was measured along the path, if anything was, above the number of pairs on the margin."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("Drawing a path", "plot") from None

    figure = Figure(figsize=(8, 6), layout="constrained")
    *above, below = figure.subplots(1 if measured is None else 2, 1, sharex=True, squeeze=False)[:, 0]
    for place in above:
        place.plot(alphas, measured)
        place.axvline(chosen, color="black", linestyle=":", label=f"chosen: {chosen:.4g}")
        place.legend()
    below.step(alphas, active_size, where="post")
    below.set(xlabel="alpha", ylabel="pairs on the margin", xscale="log")
    below.invert_xaxis()
    figure.suptitle(title)
    return figure
