"""What every target needs: options from the input, refusals, and comparisons."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import rankwise
from rankwise.errors import RankwiseError
from rankwise.rows.ranking import RankingData

Result = TypeVar("Result")

# Files may claim more features than it is worth waiting for.
FEW_FEATURES = 1000


class Choice:
    """Options encoded in the first byte of an input."""

    def __init__(self, content: bytes) -> None:
        self._number = content[0] if content else 0

    def of(self, *options: Any) -> Any:
        self._number, chosen = divmod(self._number, len(options))
        return options[chosen]


def attempt(use: Callable[..., Result], *args: Any, **options: Any) -> Result | None:
    """What a function returns, or None if it refuses in one sentence of bearable length."""
    try:
        return use(*args, **options)
    except RankwiseError as error:
        sentence = str(error)
        assert sentence.isprintable(), f"not one line: {sentence!r}"
        assert len(sentence) < 1000, f"{len(sentence)} characters: {sentence[:1000]!r}"
        return None


def round_trip(data: RankingData, store: Path) -> None:
    """Save data as a store, unless a store cannot hold its labels, and compare."""
    shutil.rmtree(store, ignore_errors=True)
    attempt(rankwise.save_store, data, store)
    if store.exists():
        assert_same(rankwise.open_store(store), data, comments=False)


def assert_same(found: RankingData, expected: RankingData, *, comments: bool = True) -> None:
    """Two data sets agree in every bit."""
    names = ["y", "qid", "docs", "sample_weight", "feature_names"] + (["comments"] if comments else [])
    for name in names:
        assert_equal(getattr(found, name), getattr(expected, name))
    assert_equal(found.queries.offsets, expected.queries.offsets)
    assert found.X.shape == expected.X.shape
    assert isinstance(found.X, np.ndarray) == isinstance(expected.X, np.ndarray)
    if isinstance(expected.X, np.ndarray):
        assert_equal(found.X, expected.X)
    elif expected.X.has_canonical_format:  # writing sorts and adds up entries
        for part in ("data", "indices", "indptr"):
            assert_equal(getattr(found.X, part), getattr(expected.X, part))


def assert_equal(found: Any, expected: Any) -> None:
    """Two arrays, or tuples of names, agree in every bit; None only equals itself."""
    assert _comparable(found) == _comparable(expected), f"{found!r} instead of {expected!r}"


def _comparable(values: Any) -> Any:
    if not isinstance(values, np.ndarray):
        return values
    return values.shape, values.tolist() if values.dtype.kind in "OU" else values.tobytes()
