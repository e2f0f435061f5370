"""Where to draw the function of a column: at values that rows have."""

from __future__ import annotations

import numpy as np

from rankwise.types import AnyArray, Reading

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
