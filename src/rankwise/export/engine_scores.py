"""What becomes of scores in an engine: their signs, and their order in single precision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from rankwise.errors import warn_caller
from rankwise.scoring.additive import AdditiveFunction, Term
from rankwise.scoring.shapes import Flag, Lookup, NumberShape, OfAge, PiecewiseLinear, Relative, Shape
from rankwise.types import AnyArray, Floats, Ints

# The values of the columns of some rows, as the shapes of a function take them.
Values: TypeAlias = Mapping[str, AnyArray]

# An offset leaves this share of the range of scores below the lowest one.
MARGIN = 0.1
# Scores are the same if they differ by no more than rounding, relative to the largest one.
ROUNDING = 1e-12


def double_scores(function: AdditiveFunction, values: Values) -> Floats:
    """Return the scores as `predict` computes them."""
    scores = np.zeros(len(next(iter(values.values()))))
    for term in function.terms:
        scores += term.shape(values[term.column])
    for one in function.interactions:
        scores += one(*(values[column] for column in one.columns))
    return scores


def warn_if_negative(function: AdditiveFunction, values: Values | None) -> None:
    """Warn if scores are negative, in rows or, without rows, for some features that are not."""
    if values is None:
        of_pairs = sum(min(map(min, interaction.values)) for interaction in function.interactions)
        if sum(_least(term.shape) for term in function.terms) + of_pairs >= 0.0:
            return
        found, how = "Scores of this model can be negative", "with rows X (--data) for the offset"
    else:
        share = float((double_scores(function, values) < 0.0).mean())
        if share == 0.0:
            return
        found, how = f"{share:.0%} of the scores are negative", "for an offset"
    warn_caller(
        f"{found}, which can put rescored documents below those that the engine does not rescore; pass "
        f"nonnegative=True (--nonnegative) {how}."
    )


def warn_if_reordered(scores: Floats, in_engine: Floats, query: Ints, or_else: str = "") -> None:
    """Warn if an engine's scores of rows, of each target, are in another order than `predict`'s, or tied."""
    targets = zip(np.atleast_2d(scores.T), np.atleast_2d(in_engine.T), strict=True)
    swapped, apart = np.sum([_reordered(*target, query) for target in targets], axis=0).tolist()
    if swapped:
        warn_caller(
            f"The engine computes in single precision, in which {swapped:,} of {apart:,} neighbors in the "
            "order of `predict` are tied or change places; standardize the features before training"
            f"{or_else and f', or {or_else}'}."
        )


def _reordered(scores: Floats, in_engine: Floats, query: Ints) -> tuple[int, int]:
    """How many neighbors in the order of scores an engine does not keep apart, and of how many."""
    order = np.lexsort((scores, query))
    apart = (np.diff(query[order]) == 0) & (
        np.diff(scores[order]) > ROUNDING * np.abs(scores).max(initial=0.0)
    )
    with np.errstate(invalid="ignore"):  # scores that overflow are not in an order
        kept = np.diff(in_engine[order]) > 0.0
    return int((apart & ~kept).sum()), int(apart.sum())


def raised(function: AdditiveFunction, values: Values) -> AdditiveFunction:
    """Add a constant, in the first term that varies, which leaves the scores of these rows well above 0."""
    scores = double_scores(function, values)
    offset = MARGIN * float(np.ptp(scores)) - float(scores.min())
    place = next(
        (place for place, term in enumerate(function.terms) if np.ptp(term.shape(values[term.column]))), 0
    )
    terms = list(function.terms)
    terms[place] = Term(terms[place].column, _raised(terms[place].shape, offset))
    return replace(function, terms=tuple(terms))


def _raised(shape: Shape, by: float) -> Shape:
    match shape:
        case OfAge() | Relative():
            return replace(shape, shape=_raised_number(shape.shape, by))
        case Lookup():
            values = tuple(value + by for value in shape.values)
            return replace(shape, values=values, other=shape.other + by, missing=shape.missing + by)
        case Flag():
            return replace(shape, true=shape.true + by, false=shape.false + by, missing=shape.missing + by)
        case _:
            return _raised_number(shape, by)


def _raised_number(shape: NumberShape, by: float) -> NumberShape:
    if isinstance(shape, PiecewiseLinear):
        values = tuple(value + by for value in shape.values)
        return replace(shape, values=values, missing=shape.missing + by)
    return replace(shape, value=shape.value + by, missing=shape.missing + by)


def _least(shape: Shape) -> float:
    """The least value of a shape where numbers are not negative."""
    match shape:
        case OfAge() | Relative():
            return _least(shape.shape)
        case Lookup():
            return min(*shape.values, shape.other, shape.missing)
        case Flag():
            return min(shape.true, shape.false, shape.missing)
        case PiecewiseLinear():
            last, numbers = shape.slopes[-1], [0.0, *(knot for knot in shape.knots if knot > 0.0)]
        case _:
            last, numbers = shape.slope, [0.0]
    return -np.inf if last < 0.0 else float(np.nanmin([*shape(np.array(numbers)), shape.missing]))
