"""Choosing the codes of two columns together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from rankwise.columns.choosing_codes import code_of
from rankwise.columns.codes import AgeCode, CategoryCode, Code, FlagCode
from rankwise.columns.encoded_rows import bytes_of_large
from rankwise.columns.encoding import Encoding
from rankwise.columns.interaction_codes import AxisBasis, AxisCode, InteractionCode
from rankwise.columns.number_codes import SplineCode
from rankwise.columns.specs import ColumnKind, InteractionSpec, Spec
from rankwise.errors import DataError, ParameterError, did_you_mean
from rankwise.rows.column import Column
from rankwise.rows.table import Table
from rankwise.types import Reading

# Unless the user says otherwise, an axis has so many knots, more from so many rows on, ...
KNOTS, MORE_KNOTS, ROWS_FOR_MORE_KNOTS = 4, 6, 20_000
# ... or so many categories at most.
CATEGORIES = 20
# Of two columns of categories, the products of so many combinations are features: the most frequent ones.
COMBINATIONS = 100
# Features of more bytes than this are refused.
MOST_BYTES = 16 << 30


def with_interactions(encoding: Encoding, table: Table, specs: Sequence[InteractionSpec]) -> Encoding:
    """The encoding with these pairs of its columns as well, which are fitted to the values of the table.

    Parameters
    ----------
    encoding : Encoding
        Of the columns alone, and maybe of other pairs.
    table : Table
        The training rows.
    specs : sequence of InteractionSpec
    """
    table = table.matched(list(encoding.codes), encoding.labels)
    known = {frozenset(code.columns) for code in encoding.interactions}

    @cache  # a column may be in many pairs
    def axis_of(name: str, knots: int, categories: int) -> AxisCode | None:
        return fit_axis(table.columns[name], name, encoding.codes[name], knots, categories)

    codes = []
    for spec in specs:
        _check_columns(spec, encoding)
        if frozenset(spec.columns) in known:
            raise ParameterError(f"The 'interactions' parameter names {spec.name} twice.")
        known.add(frozenset(spec.columns))
        codes.append(_fitted(spec, axis_of, table))
    found = replace(encoding, interactions=(*encoding.interactions, *codes))
    _check_size(found, table.n_rows)
    return found


def axes_of(encoding: Encoding, table: Table, knots: int, categories: int) -> dict[str, AxisCode]:
    """The axis of every column that has functions."""
    axes = {
        name: fit_axis(table.columns[name], name, code, knots, categories)
        for name, code in encoding.codes.items()
        if not code.reading.is_relative
    }
    return {name: axis for name, axis in axes.items() if axis is not None}


def fit_axis(column: Column, name: str, main: Code, knots: int, categories: int) -> AxisCode | None:
    """The axis of a column whose own code is `main`; None if it is constant, and so has no functions."""
    becomes = {
        Reading.NUMBER: Spec(ColumnKind.SPLINE, knots),
        Reading.DATE: Spec(ColumnKind.DATE, knots, ColumnKind.SPLINE),
        Reading.FLAG: Spec(ColumnKind.FLAG),
        Reading.TEXT: Spec(ColumnKind.CATEGORY, categories),
    }
    code, reference = code_of(column, name, becomes[main.reading]), None
    if isinstance(code, AgeCode):
        reference = code.reference
        code = code.of
    if isinstance(code, SplineCode | FlagCode):
        code = replace(code, marks_missing=False)
    assert isinstance(code, AxisBasis)
    if code.width == 0:
        return None
    return AxisCode(code, (0.0,) * code.width, reference).centered(column.read(main.reading, name))


def _check_columns(spec: InteractionSpec, encoding: Encoding) -> None:
    unknown = [column for column in spec.columns if column not in encoding.codes]
    if unknown:
        raise ParameterError(
            f"The 'interactions' parameter names {unknown[0]!r}, which is not a column that the model uses; "
            f"those are {', '.join(map(repr, list(encoding.codes)[:20]))}"
            f"{did_you_mean(unknown[0], encoding.codes)}"
        )
    relative = [column for column in spec.columns if encoding.codes[column].reading.is_relative]
    if relative:
        raise ParameterError(
            f"The 'interactions' parameter names {relative[0]!r}, which is encoded relative to its query; "
            f"add a copy of the column under another name, without that encoding."
        )
    if spec.columns[0] == spec.columns[1]:
        raise ParameterError(
            f"The 'interactions' parameter pairs {spec.columns[0]!r} with itself; a function of one column "
            f"is what columns='spline' learns."
        )


def _fitted(
    spec: InteractionSpec, axis_of: Callable[[str, int, int], AxisCode | None], table: Table
) -> InteractionCode:
    knots = spec.knots or (MORE_KNOTS if table.n_rows >= ROWS_FOR_MORE_KNOTS else KNOTS)
    axes = []
    for name in spec.columns:
        axis = axis_of(name, knots, spec.categories or CATEGORIES)
        if axis is None:
            raise DataError(f"Column {name!r} is constant, so it cannot interact; leave {spec.name} out.")
        axes.append(axis)
    code = InteractionCode(spec.columns, (axes[0], axes[1]))
    of_categories = all(isinstance(axis.of, CategoryCode) for axis in axes)
    return _with_frequent_products(code, table) if of_categories else code


def _with_frequent_products(code: InteractionCode, table: Table) -> InteractionCode:
    """Keep the features of the most frequent combinations of categories."""
    if code.width <= COMBINATIONS:
        return code
    first, second = (
        axis.encode(values).argmax(axis=1) for axis, values in zip(code.axes, code.read(table), strict=True)
    )
    counts = np.bincount(first * code.axes[1].width + second, minlength=code.width)
    most = np.argsort(-counts, kind="stable")[:COMBINATIONS]
    return replace(code, kept=tuple(np.sort(most[counts[most] > 0]).tolist()))


def _check_size(encoding: Encoding, n_rows: int) -> None:
    n_bytes = bytes_of_large(encoding, n_rows)
    if n_bytes > MOST_BYTES:
        widest = max(encoding.interactions, key=lambda code: code.width)
        raise DataError(
            f"With these interactions, {n_rows:,} rows have {encoding.n_features:,} features, which take "
            f"{n_bytes / 2**30:.0f} GB; {widest.name} alone has {widest.width:,}. Name fewer pairs, or make "
            f"them smaller, as in {{{widest.columns!r}: 'spline:3'}}."
        )
