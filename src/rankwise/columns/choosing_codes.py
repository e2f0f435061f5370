"""Choosing the codes of the columns of a table."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from rankwise.columns.codes import AgeCode, CategoryCode, Code, FlagCode, RelativeCode
from rankwise.columns.encoding import Encoding
from rankwise.columns.number_codes import NumberCode, NumericCode, SplineCode
from rankwise.columns.odd_words import refuse_mostly_numbers, warn_of_dates_as_text
from rankwise.columns.specs import DEFAULT_CATEGORIES, DEFAULT_KNOTS, RELATIVE, ColumnKind, Spec, specs_of
from rankwise.errors import DataError, warn_caller
from rankwise.preferences.queries import Queries
from rankwise.rows.column import Column
from rankwise.rows.frames import check_present
from rankwise.rows.table import Table
from rankwise.scoring.shapes import age_in_days, signed_log
from rankwise.types import AnyArray, Floats, Reading

# "auto" takes the logarithm of non-negative numbers with a skewness above this, if that halves it.
SKEWED = 1.0
# A category with fewer rows is one of the others.
LEAST_ROWS_OF_CATEGORY = 2
# Knots closer together than this fraction of their range are one.
CLOSEST_KNOTS = 1e-9


def fit_encoding(table: Table, columns: Any, queries: Queries | None = None) -> Encoding:
    """Choose a code for every column that is used, from its values alone: labels play no part.

    Parameters
    ----------
    table : Table
    columns : str or dict
        As in `rankwise.ColumnEncoder`.
    queries : Queries, optional
        Needed for columns that compare the rows of a query.
    """
    others, entries = specs_of(columns)
    check_present(list(table.columns), list(entries))
    codes: dict[str, Code] = {}
    for name, column in table.columns.items():
        spec = entries.get(name, others)
        if spec is None or spec.kind is ColumnKind.DROP:
            continue
        if column.missing().all():
            _leave_out(name, named=name in entries)
            continue
        if name not in entries or spec.kind is ColumnKind.AUTO:
            spec = _detected(column, name, numbers=spec)
        if spec.kind in RELATIVE and queries is not None:
            column = column.relative(Reading(spec.kind), queries, name)
        codes[name] = code_of(column, name, spec)
    encoding = Encoding(codes, None if table.named else tuple(table.columns))
    if encoding.n_features == 0:
        raise DataError(
            f"There is nothing to learn from {table.n_rows} sample(s): every column is left out, missing or "
            f"constant."
        )
    return encoding


def _leave_out(name: str, *, named: bool) -> None:
    what = f"Column {name!r} has only missing values"
    if named:
        raise DataError(f"{what}; leave it out.")
    warn_caller(f"{what}, so it is ignored.")


def _detected(column: Column, name: str, numbers: Spec) -> Spec:
    """What a column becomes by its values; `numbers` says what numbers and the ages of dates become."""
    if column.reading is None:
        raise DataError(
            f"Column {name!r} holds {column.kinds()}; clean it, leave it out, or say what it is, as in "
            f"columns={{{name!r}: 'category'}}."
        )
    if column.reading is Reading.TEXT:
        refuse_mostly_numbers(column, name)
        warn_of_dates_as_text(column, name)
        return Spec(ColumnKind.CATEGORY, DEFAULT_CATEGORIES)
    if column.reading is Reading.FLAG:
        return Spec(ColumnKind.FLAG)
    if column.reading is Reading.DATE:
        return Spec(
            ColumnKind.DATE,
            numbers.size,
            ColumnKind.NUMBER if numbers.kind is ColumnKind.AUTO else numbers.kind,
        )
    if numbers.kind is not ColumnKind.AUTO:
        return numbers
    return Spec(ColumnKind.LOG if _is_skewed(column.read(Reading.NUMBER, name)) else ColumnKind.NUMBER)


def _is_skewed(x: Floats) -> bool:
    present = x[~np.isnan(x)]
    skewness = _skewness(present)
    return bool(
        present.min() >= 0.0 and skewness > SKEWED and abs(_skewness(signed_log(present))) < skewness / 2.0
    )


@np.errstate(over="ignore", invalid="ignore")
def _skewness(x: Floats) -> float:
    mean, scale = _mean_and_scale(x)
    return float((((x - mean) / scale) ** 3).mean())


@np.errstate(over="ignore", invalid="ignore")
def _mean_and_scale(x: Floats) -> tuple[float, float]:
    if x.min() == x.max():  # whose mean may differ from it in the last digit
        return float(x[0]), 1.0
    return float(x.mean()), float(x.std())


def code_of(column: Column, name: str, spec: Spec) -> Code:
    """The code of a column that becomes what `spec` says, which is not "auto"."""
    if spec.kind is ColumnKind.CATEGORY:
        return _category_code(column.read(Reading.TEXT, name), spec.size)
    if spec.kind is ColumnKind.DATE:
        return _age_code(column.read(Reading.DATE, name), name, spec)
    if spec.kind in RELATIVE:
        of = Spec(spec.numeric, spec.size or DEFAULT_KNOTS)
        return RelativeCode(str(spec.kind), _number_code(column.read(Reading(spec.kind), name), name, of))
    if spec.kind is ColumnKind.FLAG:
        flags = column.read(Reading.FLAG, name)
        return FlagCode(float(np.nanmedian(flags)), bool(np.isnan(flags).any()))
    return _number_code(column.read(Reading.NUMBER, name), name, spec)


def _number_code(x: Floats, name: str, spec: Spec) -> NumericCode:
    present = x[~np.isnan(x)]
    if spec.kind is ColumnKind.SPLINE:
        present = np.sort(present)  # once, because medians, distinct numbers and quantiles all begin with it
    fill, marks = float(np.median(present)), len(present) < len(x)
    if spec.kind is ColumnKind.SPLINE:
        return SplineCode(tuple(_knots(present, spec.size).tolist()), fill, marks)
    log = spec.kind is ColumnKind.LOG
    mean, scale = _mean_and_scale(signed_log(present) if log else present)
    if not (np.isfinite(mean) and np.isfinite(scale) and scale > 0.0):
        raise DataError(f"Column {name!r} holds numbers too large or too small to be standardized; scale it.")
    return NumberCode(log, mean, scale, fill, marks)


def _knots(x: Floats, n_knots: int) -> Floats:
    """The smallest and the largest number, and quantiles between them, all of them observed.

    Numbers that are more frequent than the gap between two quantiles are knots themselves, and the quantiles
    are those of the rest: of a count that is mostly 0, the others still get knots.
    """
    values, counts = np.unique(x, return_counts=True)
    if len(values) > n_knots:
        frequent = values[counts * n_knots > len(x)]
        rest = x[~np.isin(x, frequent)]
        places = np.linspace(0.0, 1.0, n_knots - len(frequent))
        spread = np.quantile(rest, places, method="inverted_cdf")
        values = np.unique(np.concatenate([values[[0, -1]], frequent, spread]))
    far = np.diff(values) > CLOSEST_KNOTS * (values[-1] - values[0])
    knots: Floats = values[np.concatenate([[True], far])]
    return knots


def _age_code(dates: AnyArray, name: str, spec: Spec) -> AgeCode:
    reference = str(np.datetime_as_string(dates[~np.isnat(dates)].max(), unit="s"))
    of_age = Spec(spec.numeric, spec.size or DEFAULT_KNOTS)
    return AgeCode(reference, _number_code(age_in_days(dates, reference), name, of_age))


def _category_code(texts: AnyArray, at_most: int) -> CategoryCode:
    counts = Counter(texts.tolist())
    n_missing = counts.pop(None, 0)
    frequent = [text for text, count in counts.items() if count >= LEAST_ROWS_OF_CATEGORY]
    kept = sorted(frequent, key=lambda text: (-counts[text], text))[:at_most]
    return CategoryCode(tuple(sorted(kept)), has_other=len(kept) < len(counts), has_missing=n_missing > 0)
