"""Digests of query labels: 64-bit numbers that are the same wherever a query has rows."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwise.types import Ints


def label_digests(labels: Sequence[Any]) -> Ints:
    """Digests that do not depend on the process.

    1, 1.0 and "1" are the same label, because text files cannot tell them apart, unless several of them
    occur together.
    """
    texts = [_text(label) for label in labels]
    if len(set(texts)) < len(texts):
        texts = [repr(label) for label in labels]
    return np.array([_digest(text) for text in texts], dtype=np.int64)


def _text(label: Any) -> str:
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def _digest(text: str) -> int:
    hashed = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(hashed, "little", signed=True)
