"""Categories that an encoding does not know, and encodings that do."""

from __future__ import annotations

from collections import Counter

from rankwise.columns.codes import CategoryCode
from rankwise.columns.encoding import Encoding
from rankwise.rows.table import Table
from rankwise.types import AnyArray


def unknown_categories(encoding: Encoding, table: Table) -> dict[str, Counter[str]]:
    """How often each category occurs that a column of categories does not know, by column.

    Parameters
    ----------
    encoding : Encoding
    table : Table
        The columns of the encoding.
    """
    return {
        column: unknown_to(code, table.read(column, code.reading))
        for column, code in encoding.codes.items()
        if isinstance(code, CategoryCode)
    }


def unknown_to(code: CategoryCode, texts: AnyArray) -> Counter[str]:
    """How often each category occurs that a code does not know."""
    places = code.places(texts)
    is_known = (places >= 0) & (places < len(code.categories))
    return Counter(text for text in texts[~is_known].tolist() if text is not None)
