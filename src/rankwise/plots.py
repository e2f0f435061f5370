"""Plots of paths, calibration and functions of columns, and at which values to draw these."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np

from rankwise.errors import MissingExtraError, ParameterError
from rankwise.scoring.additive import AdditiveFunction, Term
from rankwise.scoring.calibration import Calibration
from rankwise.scoring.functions import ScoringFunction
from rankwise.scoring.interactions import Interaction
from rankwise.types import AnyArray, Floats, Ints, Reading

# Functions of columns: those drawn at most, beside each other, and points of a curve.
MAX_FUNCTIONS, PER_LINE, N_POINTS = 12, 3, 200


# The most frequent categories are drawn, and no others.
MAX_CATEGORIES = 12


def points_of(values: AnyArray, reading: Reading, n_points: int) -> AnyArray:
    """Quantiles of numbers and dates, both flags, or the most frequent categories."""
    if reading is Reading.FLAG:
        return np.array([0.0, 1.0])
    if reading is Reading.TEXT:
        known, counts = np.unique([str(value) for value in values if value is not None], return_counts=True)
        return known[np.argsort(-counts, kind="stable")[:MAX_CATEGORIES]].astype(object)
    known = np.sort(values[values == values])
    if not len(known):
        return known[:0]
    return np.unique(known[np.linspace(0, len(known) - 1, n_points).astype(int)])


def labels_of(points: AnyArray, reading: Reading) -> list[str]:
    """Flags, dates and categories as text."""
    if reading is Reading.FLAG:
        return ["no", "yes"]
    return [str(point)[:10] if reading is Reading.DATE else str(point) for point in points]


def _figures(purpose: str) -> Any:
    """The class of figures, which notebooks show whether or not pyplot was imported."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError(purpose, "plot") from None

    class ShownFigure(Figure):
        def _repr_png_(self) -> bytes:
            file = BytesIO()
            self.savefig(file, format="png")
            return file.getvalue()

    return ShownFigure


def draw_path(alphas: Floats, active_size: Ints, measured: Floats | None, chosen: float, title: str) -> Any:
    """Plot the measure along the path, if any, above the number of pairs on the margin."""
    figure_of = _figures("Plotting a path")
    from matplotlib.ticker import MaxNLocator

    figure = figure_of(figsize=(8, 6), layout="constrained")
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


def draw_sizes(curves: dict[str, Floats], errors: Floats, chosen: int, measure: str, title: str) -> Any:
    """Plot a measure by the number of features; the errors are those of the first curve."""
    figure_of = _figures("Plotting a path")
    from matplotlib.ticker import MaxNLocator

    figure = figure_of(figsize=(8, 5), layout="constrained")
    place, sizes = figure.subplots(), np.arange(1, len(errors) + 1)
    (honest, values), *others = curves.items()
    place.errorbar(sizes, values, yerr=errors, fmt="o-", capsize=3, label=honest)
    for name, flattering in others:
        place.plot(sizes, flattering, linestyle="--", color="gray", label=name)
    place.axvline(chosen, color="black", linestyle=":", linewidth=0.8, label=f"chosen: {chosen}")
    place.xaxis.set_major_locator(MaxNLocator(integer=True))
    place.set(xlabel="number of features", ylabel=measure, title=title)
    place.legend(frameon=False)
    place.grid(alpha=0.3)
    place.spines[["top", "right"]].set_visible(False)
    return figure


def draw_calibration(calibration: Calibration, title: str) -> Any:
    """Plot observed against predicted probabilities, with error bars of two standard errors."""
    figure_of = _figures("Plotting a calibration")

    figure = figure_of(figsize=(5, 5), layout="constrained")
    place = figure.subplots()
    place.plot([0.5, 1.0], [0.5, 1.0], color="black", linestyle=":", linewidth=0.8)
    place.errorbar(
        calibration.predicted, calibration.observed, yerr=2.0 * calibration.observed_error, fmt="o", capsize=3
    )
    place.set(
        xlabel="predicted probability that the preferred row is judged above",
        ylabel="observed fraction",
        title=f"{title}\nexpected calibration error {calibration.expected_calibration_error:.3f}",
        aspect="equal",
    )
    place.grid(alpha=0.3)
    place.spines[["top", "right"]].set_visible(False)
    return figure


def draw_functions(function: ScoringFunction, rows: Any, title: str) -> Any:
    """Plot the functions of the columns that move the scores of the rows most, largest first."""
    if not isinstance(function, AdditiveFunction):
        raise ParameterError(
            "plot_columns needs a linear ranker with 'columns', such as RankRLS(columns='spline')."
        )
    figure_of = _figures("Plotting functions of columns")

    rows = rows.matched([term.column for term in function.terms], function.labels)
    spread = np.ptp(function.contributions(rows), axis=0)
    parts = (*function.terms, *function.interactions)
    drawn = [parts[c] for c in np.argsort(-spread, kind="stable")[:MAX_FUNCTIONS]]
    n_lines = -(-len(drawn) // PER_LINE)
    figure = figure_of(figsize=(4 * PER_LINE, 3 * n_lines), layout="constrained")
    places = figure.subplots(n_lines, PER_LINE, squeeze=False).ravel()
    curves = []
    for place, part in zip(places, drawn, strict=False):
        if isinstance(part, Interaction):
            _draw_interaction(place, part)
        else:
            _draw_function(place, part, rows)
            curves.append(place)
    for place in curves[1:]:
        place.sharey(curves[0])
    for place in places[len(drawn) :]:
        place.set_axis_off()
    figure.supylabel("added to the score")
    figure.suptitle(title)
    return figure


def _draw_interaction(place: Any, interaction: Interaction) -> None:
    """The table as a map of colors, without what it says of missing values."""
    first, second = (axis.points[: -len(axis.special)] for axis in interaction.axes)
    values = np.array(interaction.values)[: len(first), : len(second)]
    most = float(np.abs(values).max()) or 1.0
    image = place.imshow(values, cmap="RdBu", vmin=-most, vmax=most, aspect="auto", origin="lower")
    place.set_xticks(range(len(second)), second, rotation=30)
    place.set_yticks(range(len(first)), first)
    place.set(xlabel=interaction.columns[1], ylabel=interaction.columns[0])
    place.figure.colorbar(image, ax=place)


def _draw_function(place: Any, term: Term, rows: Any) -> None:
    """Lines for numbers and dates, dots for categories and flags; only differences matter: the mean is 0."""
    shape = term.shape
    points = points_of(rows.read(term.column, shape.reading), shape.reading, N_POINTS)
    values = shape(points)
    values, missing = values - values.mean(), shape.missing - values.mean()
    if shape.reading not in (Reading.TEXT, Reading.FLAG):
        place.plot(points, values)
    else:
        place.plot(labels_of(points, shape.reading), values, "o")
    place.axhline(missing, color="gray", linestyle=":", linewidth=0.8, label="missing")
    place.legend(frameon=False)
    place.tick_params(axis="x", rotation=30)
    place.set(xlabel=term.name)
    place.grid(alpha=0.3)
    place.spines[["top", "right"]].set_visible(False)
