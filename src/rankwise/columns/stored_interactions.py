"""Interactions as plain values for files, and back, with nothing taken on trust."""

from __future__ import annotations

import itertools
import math
import sys
from dataclasses import asdict, replace
from typing import Any

from rankwise.columns.axes import AxisBasis, AxisCode
from rankwise.columns.encoding import Encoding
from rankwise.columns.interaction_codes import FoundInteraction, InteractionCode, InteractionSearch
from rankwise.columns.stored_codes import code_from, is_reference, plain_code
from rankwise.tensor_file import RefusedError


def plain_interactions(encoding: Encoding) -> dict[str, Any]:
    """The interactions as numbers, names, lists and dictionaries, and how they were found."""
    stored = [
        {
            "columns": list(code.columns),
            "axes": [_plain_axis(axis) for axis in code.axes],
            "kept": None if code.kept is None else list(code.kept),
        }
        for code in encoding.interactions
    ]
    return {"interactions": stored, "search": None if encoding.search is None else asdict(encoding.search)}


def _plain_axis(axis: AxisCode) -> dict[str, Any]:
    return {"of": plain_code(axis.of), "means": list(axis.means), "reference": axis.reference}


def with_stored_interactions(encoding: Encoding, stored: dict[str, Any]) -> Encoding:
    """The encoding with the interactions that plain values describe; files without any have no entry."""
    codes = stored.get("interactions", [])
    if not isinstance(codes, list):
        raise RefusedError("the interactions of columns must be a list")
    interactions = tuple(_interaction(code, encoding) for code in codes)
    pairs = {frozenset(code.columns) for code in interactions}
    if len(pairs) < len(interactions):
        raise RefusedError("the interactions of columns must be distinct")
    search = stored.get("search")
    return replace(encoding, interactions=interactions, search=None if search is None else _search(search))


def _interaction(stored: Any, encoding: Encoding) -> InteractionCode:
    if not isinstance(stored, dict) or stored.keys() != {"columns", "axes", "kept"}:
        raise RefusedError("an interaction must have columns, axes and kept")
    columns = _two_columns(stored["columns"])
    if not set(columns) <= set(encoding.codes):
        raise RefusedError(f"the interaction of {columns[0]!r:.40} and {columns[1]!r:.40} lacks a column")
    axes = stored["axes"]
    if not isinstance(axes, list) or len(axes) != 2:
        raise RefusedError("an interaction must have two axes")
    first, second = (_axis(axis, column) for axis, column in zip(axes, columns, strict=True))
    for axis, column in zip((first, second), columns, strict=True):
        if axis.reading is not encoding.codes[column].reading:
            raise RefusedError(f"the axis of column '{column}' reads it in another way than its code")
    kept = stored["kept"]
    if kept is not None:
        n = first.width * second.width
        are_places = isinstance(kept, list) and all(type(place) is int and 0 <= place < n for place in kept)
        if not are_places or any(a >= b for a, b in itertools.pairwise(kept)):
            raise RefusedError(f"the products kept of an interaction must be ascending, from 0 to {n - 1}")
        kept = tuple(kept)
    return InteractionCode(columns, (first, second), kept)


def _axis(stored: Any, column: str) -> AxisCode:
    if not isinstance(stored, dict) or stored.keys() != {"of", "means", "reference"}:
        raise RefusedError(f"the axis of column '{column}' must have a code, means and a reference")
    of, means, reference = code_from(stored["of"], column), stored["means"], stored["reference"]
    if not isinstance(of, AxisBasis) or of.width == 0 or getattr(of, "marks_missing", False):
        raise RefusedError(f"the code of the axis of column '{column}' makes none")
    if not isinstance(means, list) or len(means) != of.width or not all(map(_is_finite, means)):
        raise RefusedError(f"the axis of column '{column}' must have a mean for each of its functions")
    if reference is not None and not (isinstance(reference, str) and is_reference(reference)):
        raise RefusedError(f"the axis of column '{column}' must count ages from a date")
    return AxisCode(of, tuple(map(float, means)), reference)


def _search(stored: Any) -> InteractionSearch:
    fault = RefusedError("what is said of the search for interactions is damaged")
    if not isinstance(stored, dict) or stored.keys() != {"found", "tried", "alphas"}:
        raise fault
    found, tried, alphas = stored["found"], stored["tried"], stored["alphas"]
    if not (isinstance(found, list | tuple) and isinstance(alphas, list | tuple) and type(tried) is int):
        raise fault
    names = {"columns", "gain", "z", "stage"}
    for one in found:
        if not isinstance(one, dict) or one.keys() != names or type(one["stage"]) is not int:
            raise fault
        if not (_is_finite(one["gain"]) and _is_finite(one["z"])):
            raise fault
    if not all(map(_is_finite, alphas)):
        raise fault
    of_found = (
        FoundInteraction(_two_columns(one["columns"]), float(one["gain"]), float(one["z"]), one["stage"])
        for one in found
    )
    return InteractionSearch(tuple(of_found), tried, tuple(map(float, alphas)))


def _two_columns(stored: Any) -> tuple[str, str]:
    are_names = isinstance(stored, list | tuple) and len(stored) == 2
    if not are_names or not all(isinstance(name, str) for name in stored) or stored[0] == stored[1]:
        raise RefusedError("an interaction must name two columns")
    return stored[0], stored[1]


def _is_finite(number: Any) -> bool:
    is_number = type(number) in (int, float)
    return is_number and abs(number) <= sys.float_info.max and math.isfinite(number)
