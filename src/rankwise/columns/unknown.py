"""Categories that an encoding does not know, and encodings that do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from rankwise.columns.codes import CategoryCode
from rankwise.columns.encoding import Encoding
from rankwise.rows.table import Table
from rankwise.types import AnyArray, Ints


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


def with_categories(encoding: Encoding, found: Mapping[str, Iterable[str]]) -> tuple[Encoding, Ints]:
    """An encoding with a feature for more categories, and the places of the old features among all.

    Parameters
    ----------
    encoding : Encoding
    found : mapping of str to iterable of str
        The categories to add to columns of categories, by column.
    """
    codes, at, start = dict(encoding.codes), [], 0
    for column, code in encoding.codes.items():
        added = tuple(sorted(found.get(column, ())))
        old = np.arange(code.width)
        if isinstance(code, CategoryCode) and added:
            codes[column] = replace(code, categories=(*code.categories, *added))
            # Those of other and of missing values follow the categories.
            old[len(code.categories) :] += len(added)
        at.append(start + old)
        start += codes[column].width
    n_interactions = sum(code.width for code in encoding.interactions)
    at.append(start + np.arange(n_interactions))
    return replace(encoding, codes=codes), np.concatenate(at)
