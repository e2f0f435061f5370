"""Faults of single columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from rankwise.auditing.date_faults import look_at_dates, look_at_text_of_dates
from rankwise.auditing.faults import EXAMPLES, Fault, Repair, Severity, rows_shown
from rankwise.auditing.sentinels import SENTINELS, sentinel_fault, sentinels
from rankwise.columns.odd_words import dates_among_text, words_among_numbers
from rankwise.columns.specs import DEFAULT_CATEGORIES
from rankwise.numerals import is_number
from rankwise.rendering import counted
from rankwise.rows.column import Column
from rankwise.types import Bools, Floats, Ints, Reading

# At most this share of the values are negative by mistake; more than a few must be as large as most others.
FEW_NEGATIVE, MOST_NEGATIVE = 0.01, 0.05
# A column of text with this share of different values is an identifier, and one of whole numbers.
UNIQUE_TEXT, UNIQUE_NUMBERS, LEAST_ROWS = 0.9, 0.99, 50
# Names of identifiers, which are so even if they occur in several queries.
ID_NAME = re.compile(r"(^|_|\b)(id|uuid|guid|sku|asin|ean)$|(?<=[a-z])(Id|ID)$")
# Identifiers by name have at least so many values.
MANY_IDS = 500


@dataclass(frozen=True, eq=False)
class ColumnFacts:
    """What one look at a column finds.

    Attributes
    ----------
    faults : list of Fault
    needs_encoding : str or None
        Why the column needs `columns`: text, dates, missing values.
    distinct : float
        The number of different values, as a share of those that are not missing.
    """

    faults: list[Fault]
    needs_encoding: str | None = None
    distinct: float = 0.0


def look_at(column: Column, name: str, *, named: bool = True) -> ColumnFacts:
    """The faults of a column, whatever it holds; O(m log m). Options name columns only if `named`."""
    facts = _look_at(column, name)
    if named:
        return facts
    said = "Leave it out of the data, unless it is an amount."
    return replace(
        facts,
        faults=[replace(one, remedy=said) if one.kind == "identifier" else one for one in facts.faults],
    )


def _look_at(column: Column, name: str) -> ColumnFacts:
    missing = column.missing()
    if missing.all():
        found = f"{name!r}: all values are missing"
        training = "With --columns auto, training ignores it; otherwise, it stops."
        return ColumnFacts(
            [
                Fault(
                    "all missing",
                    Severity.NOTE,
                    name,
                    len(missing),
                    found,
                    training,
                    "",
                    repair=Repair.DROP_COLUMN,
                )
            ],
            "missing values",
        )
    words = words_among_numbers(column) if column.reading is Reading.TEXT else np.empty(0, dtype=np.int64)
    if column.reading is None:
        return ColumnFacts(list(_without_reading(column, name)), "text")
    if len(words):
        numbers = Column(Reading.NUMBER, column.numbers_among()[0])
        rest = _look_at_numbers(numbers, name, numbers.missing())
        return replace(rest, faults=[_words(column, name, words), *rest.faults])
    if column.reading is Reading.TEXT:
        dates = dates_among_text(column)
        if dates is not None:
            return ColumnFacts(look_at_text_of_dates(column, name, dates), "text")
        return _look_at_text(column, name, missing)
    if column.reading is Reading.DATE:
        constant = not missing.any() and (column.values == column.values[0]).all()
        return ColumnFacts(
            [_constant(name, len(missing))] if constant else look_at_dates(column.values, name), "dates"
        )
    if column.values.dtype.kind == "O":  # integers that float64 cannot hold
        return _look_at_text(column, name, missing)
    return _look_at_numbers(column, name, missing)


def _without_reading(column: Column, name: str) -> Iterator[Fault]:
    numbers, others = column.numbers_among()
    n_words, n_numbers = int(others.sum()), int((~np.isnan(numbers)).sum())
    if n_words and n_words < n_numbers:
        yield _words(column, name, np.flatnonzero(others))
        return
    yield Fault(
        "mixed kinds",
        Severity.MUST_FIX,
        name,
        len(column.values),
        f"{name!r} holds {column.kinds()}",
        "Training stops.",
        f'Name its code, with --columns FILE of {{"{name}": "category", "*": "auto"}}, or --exclude {name}.',
    )


def _words(column: Column, name: str, rows: Ints) -> Fault:
    most = Counter(str(column.values[row]) for row in rows.tolist()).most_common(EXAMPLES)
    return Fault(
        "text in a column of numbers",
        Severity.MUST_FIX,
        name,
        len(rows),
        f"{name!r} holds numbers, but {counted(len(rows), 'value is', 'values are')} text",
        f"Training stops at row {rows[0]}.",
        "",
        tuple(f"{text!r:.40}: {counted(times, 'time')}" for text, times in most),
        Repair.BLANK,
        rows,
    )


def _look_at_text(column: Column, name: str, missing: Bools) -> ColumnFacts:
    counts = Counter(column.values.tolist())
    counts.pop(None, None)
    n_present = len(missing) - int(missing.sum())
    is_unique = n_present >= LEAST_ROWS and len(counts) >= UNIQUE_TEXT * n_present
    if len(counts) == 1:
        return ColumnFacts([_constant(name, len(missing))] if not missing.any() else [], "text")
    if is_unique or (ID_NAME.search(name) and len(counts) >= MANY_IDS):
        return ColumnFacts([_identifier(name, len(counts), n_present)], "text", len(counts) / n_present)
    faults = []
    if len(counts) > DEFAULT_CATEGORIES:
        most = sum(times for _, times in counts.most_common(DEFAULT_CATEGORIES))
        faults.append(
            Fault(
                "many categories",
                Severity.NOTE,
                name,
                len(counts),
                f"{name!r} has {len(counts):,} categories; the {DEFAULT_CATEGORIES} most frequent are "
                f"{most / n_present:.0%} of its rows",
                "With --columns auto, the others share one weight, and so do those that occur once.",
                f'--columns FILE with {{"{name}": "category:1000", "*": "auto"}} keeps more.',
                tuple(f"{text!r:.40}" for text, _ in counts.most_common(EXAMPLES)),
            )
        )
    if column.reading is Reading.TEXT and all(map(is_number, counts)):
        faults.append(
            Fault(
                "numbers as text",
                Severity.LOOK,
                name,
                n_present,
                f"{name!r} holds numbers as text",
                "Training treats them as categories.",
                "If they are numbers, store them as such.",
                tuple(str(text) for text, _ in counts.most_common(EXAMPLES)),
            )
        )
    return ColumnFacts(faults, "text", len(counts) / n_present)


def _look_at_numbers(column: Column, name: str, missing: Bools) -> ColumnFacts:
    x: Floats = column.values
    faults = []
    infinite = np.isinf(x)
    if infinite.any():
        rows = np.flatnonzero(infinite)
        faults.append(
            Fault(
                "infinite values",
                Severity.MUST_FIX,
                name,
                len(rows),
                f"{name!r}: {counted(len(rows), 'value is', 'values are')} infinite",
                "Training stops at the first of them.",
                "",
                rows_shown(rows),
                Repair.BLANK,
                rows,
            )
        )
    finite = x[~(missing | infinite)] if infinite.any() or missing.any() else x
    values, counts = np.unique(finite, return_counts=True)
    if len(values) == 1 and not missing.any():
        faults.append(_constant(name, len(x)))
    distinct = len(values) / max(len(finite), 1)
    is_unique = len(finite) >= LEAST_ROWS and distinct >= UNIQUE_NUMBERS
    if len(values) > 1 and column.reading is Reading.NUMBER and bool((values == np.floor(values)).all()):
        by_name = ID_NAME.search(name) is not None and len(values) >= MANY_IDS
        if by_name or (is_unique and _is_numbering(values)):
            faults.append(_identifier(name, len(values), len(finite)))
            return ColumnFacts(faults, "missing values" if missing.any() else None, distinct)
    standing = sentinels(values, counts)
    faults += [sentinel_fault(name, f"{one:g}", np.flatnonzero(x == one), len(x)) for one in standing]
    rest = values[~np.isin(values, standing)]
    negative = (x < 0.0) & ~np.isin(x, SENTINELS) & ~infinite
    if _by_mistake(x[negative], finite, rest):
        rows = np.flatnonzero(negative)
        faults.append(
            Fault(
                "negative values",
                Severity.LOOK,
                name,
                len(rows),
                f"{name!r}: {counted(len(rows), 'value is', 'values are')} negative, but all others are far "
                "above 0",
                "Training uses them as they are, and cannot take the logarithm of the column.",
                "",
                tuple(f"{x[row]:g} in row {row}" for row in rows[:EXAMPLES].tolist()),
                Repair.BLANK,
                rows,
            )
        )
    return ColumnFacts(faults, "missing values" if missing.any() or infinite.any() else None, distinct)


def _is_numbering(values: Floats) -> bool:
    """Whether whole numbers are rather evenly spread, as identifiers are, and quantities are not."""
    quartiles = np.quantile(values, [0.0, 0.25, 0.5, 0.75, 1.0])
    gaps = np.diff(quartiles)
    return bool(gaps.min() > 0.0 and gaps.max() < 1.5 * gaps.min())


def _by_mistake(negative: Floats, finite: Floats, values: Floats) -> bool:
    """Whether few numbers are negative, and as large as the others, as a wrong sign makes them."""
    if not 0 < len(negative) <= MOST_NEGATIVE * len(finite) or len(values) < 4:
        return False
    positive = finite[finite > 0.0]
    level = 0.02 if len(negative) <= FEW_NEGATIVE * len(finite) else 0.25
    usual = float(np.quantile(positive, level)) if len(positive) else 0.0
    return usual > 0.0 and bool(np.median(-negative) >= usual) and _leaves_a_gap(values, usual)


def _leaves_a_gap(values: Floats, usual: float) -> bool:
    """Whether a column seldom has values near zero on both sides, as one centred at zero has."""
    return bool((np.abs(values) >= 0.05 * usual).mean() > 0.9)


def _constant(name: str, n_rows: int) -> Fault:
    found, training = f"{name!r} has the same value in all rows", "Training learns nothing from it."
    return Fault("constant", Severity.NOTE, name, n_rows, found, training, "", repair=Repair.DROP_COLUMN)


def _identifier(name: str, n_values: int, n_present: int) -> Fault:
    return Fault(
        "identifier",
        Severity.LOOK,
        name,
        n_values,
        f"{name!r} has {n_values:,} different values in {n_present:,} rows: it seems to name things",
        "Training would memorize names, or treat ids as amounts.",
        f"Leave it out with --exclude {name} or, if it names documents or queries, use it as --doc or --qid.",
        repair=Repair.DROP_COLUMN,
    )
