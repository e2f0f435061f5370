"""Encodings as plain values for files, and back, with nothing taken on trust."""

from __future__ import annotations

from typing import Any

from rankwise.columns.encoding import Encoding
from rankwise.columns.stored_codes import code_from, plain_code
from rankwise.columns.stored_interactions import plain_interactions, with_stored_interactions
from rankwise.tensor_file import RefusedError


def plain_encoding(encoding: Encoding) -> dict[str, Any]:
    """The encoding as numbers, names, lists and dictionaries."""
    codes = [{"column": column, **plain_code(code)} for column, code in encoding.codes.items()]
    stored = {"codes": codes, "labels": None if encoding.labels is None else list(encoding.labels)}
    if encoding.interactions or encoding.search is not None:
        stored |= plain_interactions(encoding)
    return stored


def encoding_of(stored: Any) -> Encoding:
    """The encoding that plain values describe; anything else is refused."""
    keys = set(stored) if isinstance(stored, dict) else set()
    if keys - {"interactions", "search"} != {"codes", "labels"}:
        raise RefusedError("the encoding of columns must have codes and labels")
    codes, labels = stored["codes"], stored["labels"]
    if not isinstance(codes, list) or not all(isinstance(code, dict) for code in codes):
        raise RefusedError("the codes of columns must be a list of dictionaries")
    columns = [code.pop("column", None) for code in codes]
    _check_names("columns", columns)
    if labels is not None:
        _check_names("labels", labels)
        if not set(columns) <= set(labels):
            raise RefusedError("the labels of columns lack one that is encoded")
    by_column = {column: code_from(code, column) for column, code in zip(columns, codes, strict=True)}
    encoding = Encoding(by_column, None if labels is None else tuple(labels))
    encoding = with_stored_interactions(encoding, stored)
    if encoding.n_features == 0:
        raise RefusedError("the encoded columns have no features")
    return encoding


def _check_names(what: str, names: Any) -> None:
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise RefusedError(f"the {what} must be a list of names")
    if len(set(names)) < len(names):
        raise RefusedError(f"the {what} must be distinct")
