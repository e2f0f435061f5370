"""Moments as tensors and plain values, in a file of their own or in that of a model."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np

import rankwise
from rankwise.errors import FileFormatError
from rankwise.ridge.moments.learned import LearnedQueries
from rankwise.ridge.moments.moments import Moments
from rankwise.ridge.moments.open_queries import OpenLevels, OpenQueries
from rankwise.ridge.moments.pool import LevelWeights, Pool
from rankwise.ridge.moments.quadratic import Quadratic
from rankwise.tensor_file import Content, RefusedError, read_tensors, write_tensors
from rankwise.types import AnyArray, Bools, Floats, Ints, Ties, Weighting

CLASS = "Moments"
PREFIX = "moments."
_VALUES = f"{PREFIX}values"
# The columns of `OpenLevels`, with their types and shapes, and those of `LevelWeights`.
_COLUMNS = {
    "query": ("i8", "groups"),
    "level": ("f8", "groups"),
    "count": ("i8", "groups"),
    "weight": ("f8", "groups"),
    "origin": ("f8", "groups columns"),
    "shift": ("f8", "groups columns"),
}
_TOLD = ("query", "level", "weight")
# Sums of weights are not larger.
LARGEST_SUM = 1e200
# Correlations above 1 by more than rounding can explain are not those of any rows.
_ROUNDING = 1e-6


def write_moments(path: str | os.PathLike[str], moments: Moments) -> None:
    """Write moments to a file of their own."""
    content, names = Content(), moments.feature_names
    pack_moments(moments, content)
    header = {
        "written_by": f"rankwise {rankwise.__version__}",
        "class": CLASS,
        "n_features": moments.n_features,
        "feature_names": None if names is None else list(names),
        "values": content.values,
    }
    write_tensors(path, header, content.tensors)


def read_moments(path: str | os.PathLike[str]) -> Moments:
    """Read and check moments; anything else is an error."""
    header, tensors = read_tensors(path)
    try:
        if header.get("class") != CLASS:
            raise RefusedError(f"its class is {header.get('class')!r}, not {CLASS!r}")
        n_features, values, names = (header.get(key) for key in ("n_features", "values", "feature_names"))
        if type(n_features) is not int or not isinstance(values, dict) or n_features < 1:
            raise RefusedError("its header is malformed")
        content = Content(tensors, values, {"features": n_features})
        if names is not None:
            are_names = isinstance(names, list) and all(isinstance(name, str) for name in names)
            if not are_names or len(names) != n_features:
                raise RefusedError(f"the header entry 'feature_names' must be a list of {n_features} strings")
            names = tuple(names)
        return unpack_moments(content, names)
    except RefusedError as reason:
        raise FileFormatError(Path(path), f"cannot be loaded: {reason}.") from None


def pack_moments(moments: Moments, content: Content) -> None:
    """Add the tensors and values of moments to those of a file."""
    learned = moments.learned
    tensors = _packed(moments.quadratic, "")
    tensors |= {"labels": learned.labels, "contents": learned.contents, "weights": learned.weights}
    tensors |= {} if learned.places is None else {"places": learned.places}
    opened, groups = moments.open_queries, moments.open_queries.groups
    if len(opened):
        tensors |= {f"open.{name}": getattr(groups, name) for name in _COLUMNS}
    for number in np.flatnonzero(~groups.is_pooled).tolist():
        tensors |= _packed(groups.scatter[number], f"open.{number}.")
    prefixed = {PREFIX + name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    content.tensors |= prefixed
    content.values[_VALUES] = {
        "ties": str(moments.ties),
        "weighting": str(moments.weighting),
        "n_rows": moments.n_rows,
        "n_pairs": moments.n_pairs,
        "n_queries": moments.n_queries,
        "has_qid": moments.has_qid,
        "open": _entries(opened),
        "checksum": _checksum(prefixed),
    }


def unpack_moments(content: Content, feature_names: tuple[str, ...] | None = None) -> Moments:
    """Take moments out of the content of a file, checked."""
    values = content.values.pop(_VALUES, None)
    if not isinstance(values, dict):
        raise RefusedError("the values of the moments are missing")
    own = {name: tensor for name, tensor in content.tensors.items() if name.startswith(PREFIX)}
    if values.get("checksum") != _checksum(own):
        raise RefusedError("the moments do not match their checksum; the file was modified or is corrupt")
    quadratic = _unpacked(content, "")
    learned = LearnedQueries(
        content.take_tensor(f"{PREFIX}labels", "i", "learned").astype(np.int64),
        content.take_tensor(f"{PREFIX}contents", "i", "learned").astype(np.int64),
        content.take_tensor(f"{PREFIX}weights", "f", "learned").astype(np.float64),
        _places(content, len(quadratic.matrix)),
    )
    if not (learned.weights > 0.0).all():
        raise RefusedError(f"the tensor '{PREFIX}weights' must hold positive numbers")
    try:
        ties, weighting = Ties(values["ties"]), Weighting(values["weighting"])
        return Moments(
            ties=ties,
            weighting=weighting,
            quadratic=quadratic,
            learned=learned,
            n_rows=_count(values["n_rows"]),
            n_pairs=_count(values["n_pairs"]),
            open_queries=_open_queries(content, values["open"], Pool(ties, weighting, quadratic.shape)),
            feature_names=feature_names,
            has_qid=bool(values["has_qid"]),
        )
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise RefusedError(f"the values of the moments are malformed ({error})") from None


def _places(content: Content, n_features: int) -> Ints | None:
    """The numbers of the features, if some were added."""
    if f"{PREFIX}places" not in content.tensors:
        return None
    places = content.take_tensor(f"{PREFIX}places", "i", "features").astype(np.int64)
    if len(np.unique(places)) != n_features or places.min() < 0 or places.max() > n_features + 1:
        raise RefusedError(f"the tensor '{PREFIX}places' must hold different numbers of features")
    return places


def _entries(opened: OpenQueries) -> list[list[Any]]:
    """One per query: the digest of its label, the label, the digest of its rows, its weight, its sizes."""
    told: list[Any] = [[] if is_told else None for is_told in opened.is_told]
    for query, *one in zip(*(getattr(opened.told, name).tolist() for name in _TOLD), strict=True):
        told[query].append(one)
    columns = (opened.digests.tolist(), opened.labels.tolist(), map(str, opened.contents.tolist()))
    return [list(entry) for entry in zip(*columns, opened.weights.tolist(), told, strict=True)]


def _open_queries(content: Content, entries: Any, pool: Pool) -> OpenQueries:
    if not entries:
        return OpenQueries.none()
    content.sizes["columns"] = pool.shape[0] + int(np.prod(pool.shape[1:], dtype=np.int64))
    columns = {
        name: content.take_tensor(f"{PREFIX}open.{name}", kind[0], sizes).astype(kind)
        for name, (kind, sizes) in _COLUMNS.items()
    }
    groups = OpenLevels(**columns, scatter=np.full(len(columns["query"]), None))
    for number in range(len(groups.query)):
        if f"{PREFIX}open.{number}.triangle" in content.tensors:
            groups.scatter[number] = _unpacked(content, f"open.{number}.")
    keys, labels, digests, weights, told = zip(*entries, strict=True)
    is_told = np.array([sizes is not None for sizes in told])
    _check_groups(groups, len(entries), pool.needs_sizes & ~is_told)
    if not all(isinstance(label, str) for label in labels):
        raise ValueError("an open query has no label")
    sizes = [
        (query, float(level), _weight(total, or_zero=True))
        for query, own in enumerate(told)
        for level, total in own or ()
    ]
    return OpenQueries(
        np.array([_digest(key, -(2**63)) for key in keys], dtype=np.int64),
        np.array(labels, dtype=object),
        np.array([_digest(int(str(digest)), 0) for digest in digests], dtype=np.uint64),
        np.array([_weight(weight) for weight in weights]),
        groups,
        LevelWeights(*map(np.array, zip(*sizes, strict=True))) if sizes else LevelWeights.none(),
    )


def _check_groups(groups: OpenLevels, n_queries: int, carries: Bools) -> None:
    """Reject groups that are not those of so many queries, of which some carry their scatter."""
    wrong = (groups.count <= 0) | (groups.weight < 0.0) | (groups.query < 0) | (groups.query >= n_queries)
    if wrong.any():
        raise ValueError(f"the open group {int(wrong.argmax())} is not one of rows")
    if (np.diff(groups.query) < 0).any() or len(groups.starts) != n_queries:
        raise ValueError("an open query has no rows, or rows of other queries")
    if (groups.is_pooled == carries[groups.query]).any():
        raise ValueError("the scatter of an open query is missing or unexpected")


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} is not a count")
    return value


def _digest(value: Any, least: int) -> int:
    if type(value) is not int or not least <= value < least + 2**64:
        raise ValueError(f"{value!r} is not a digest")
    return value


def _weight(value: Any, *, or_zero: bool = False) -> float:
    if type(value) not in (int, float) or not (0.0 < value <= LARGEST_SUM or (or_zero and value == 0.0)):
        raise ValueError(f"{value!r} is not a weight")
    return float(value)


def _packed(quadratic: Quadratic, prefix: str) -> dict[str, AnyArray]:
    """Half of the symmetric matrix, and the rest."""
    assert quadratic.rounding is not None
    return {
        f"{prefix}triangle": quadratic.matrix[np.triu_indices(len(quadratic.matrix))],
        f"{prefix}right": quadratic.right,
        f"{prefix}constant": np.atleast_1d(quadratic.constant),
        f"{prefix}rounding": quadratic.rounding,
    }


def _unpacked(content: Content, prefix: str) -> Quadratic:
    n_features = content.sizes["features"]
    content.sizes |= {"triangle": n_features * (n_features + 1) // 2, "with-label": n_features + 1}
    triangle = content.take_tensor(f"{PREFIX}{prefix}triangle", "f", "triangle")
    right = content.take_tensor(f"{PREFIX}{prefix}right", "f", "features moment-targets?")
    content.sizes.setdefault("moment-targets", 1)
    constant = content.take_tensor(f"{PREFIX}{prefix}constant", "f", "moment-targets")
    rounding = content.take_tensor(f"{PREFIX}{prefix}rounding", "f", "with-label")
    matrix = np.zeros((n_features, n_features))
    upper = np.triu_indices(n_features)
    matrix[upper] = triangle
    matrix.T[upper] = triangle
    if not (rounding >= 0.0).all():
        raise RefusedError(f"the tensor '{PREFIX}{prefix}rounding' must hold bounds of at least 0")
    _check_is_sum_of_squares(matrix, right.reshape(n_features, -1), constant, rounding)
    shaped = constant.reshape(right.shape[1:])
    return Quadratic(matrix, right.astype(np.float64), shaped, rounding.astype(np.float64))


def _check_is_sum_of_squares(A: Floats, b: Floats, c: Floats, rounding: Floats) -> None:
    """Reject what no rows can have as sums of squares and products, each off by what rounding can have done.

    If all pairs were forgotten, nothing but rounding errors is left.
    """
    squares, off = np.concatenate([np.diag(A), c]), np.append(rounding[:-1], np.full(len(c), rounding[-1]))
    slack = _ROUNDING * max(float(squares.max(initial=0.0)), 0.0)
    if (squares < -slack - off).any():
        raise RefusedError("the moments cannot come from data: a sum of squares is negative")
    length = np.sqrt(np.maximum(squares, 0.0) + 2.0 * off)  # (d + ρ)^½ (e + σ)^½ ≥ (de)^½ + (ρσ)^½
    bound = np.outer(length[: len(A)], length)
    if (np.abs(np.hstack([A, b])) > bound * (1.0 + _ROUNDING) + slack).any():
        raise RefusedError("the moments cannot come from data: a product exceeds the squares")


def _checksum(tensors: dict[str, AnyArray]) -> str:
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype} {tensors[name].shape}".encode())
        digest.update(np.ascontiguousarray(tensors[name]).tobytes())
    return digest.hexdigest()
