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
from rankwise.ridge.moments.open_queries import Group, OpenQuery, Pool
from rankwise.ridge.moments.quadratic import Quadratic
from rankwise.tensor_file import Content, RefusedError, read_tensors, write_tensors
from rankwise.types import AnyArray, Floats, Ties, Weighting

CLASS = "Moments"
PREFIX = "moments."
_VALUES = f"{PREFIX}values"
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
    open_queries = list(moments.open_queries.items())
    groups = [
        (at, level, group)
        for at, (_, query) in enumerate(open_queries)
        for level, group in query.groups.items()
    ]
    if groups:
        tensors["open.query"] = np.array([at for at, _, _ in groups])
        tensors["open.level"] = np.array([level for _, level, _ in groups])
        tensors["open.count"] = np.array([group.count for _, _, group in groups])
        tensors["open.weight"] = np.array([group.weight for _, _, group in groups])
        tensors["open.origin"] = np.stack([group.origin for _, _, group in groups])
        tensors["open.shift"] = np.stack([group.shift for _, _, group in groups])
    for number, (_, _, group) in enumerate(groups):
        if group.scatter is not None:
            tensors |= _packed(group.scatter, f"open.{number}.")
    prefixed = {PREFIX + name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    content.tensors |= prefixed
    content.values[_VALUES] = {
        "ties": str(moments.ties),
        "weighting": str(moments.weighting),
        "n_rows": moments.n_rows,
        "n_pairs": moments.n_pairs,
        "n_queries": moments.n_queries,
        "has_qid": moments.has_qid,
        "open": [
            [key, query.label, str(query.content), query.weight, query.told and list(query.told.items())]
            for key, query in open_queries
        ],
        "checksum": _checksum(prefixed),
    }


def unpack_moments(content: Content, feature_names: tuple[str, ...] | None = None) -> Moments:
    """Take moments out of the content of a file, checked."""
    values = content.values.pop(_VALUES, None)
    if not isinstance(values, dict):
        raise RefusedError("the values of the moments are missing")
    own = {name: tensor for name, tensor in content.tensors.items() if name.startswith(PREFIX)}
    if values.get("checksum") != _checksum(own):
        raise RefusedError("the moments do not match their checksum, so they were changed or damaged")
    quadratic = _unpacked(content, "")
    learned = LearnedQueries(
        content.take_tensor(f"{PREFIX}labels", "i", "learned").astype(np.int64),
        content.take_tensor(f"{PREFIX}contents", "i", "learned").astype(np.int64),
        content.take_tensor(f"{PREFIX}weights", "f", "learned").astype(np.float64),
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


def _open_queries(content: Content, entries: Any, pool: Pool) -> dict[int, OpenQuery]:
    if not entries:
        return {}
    content.sizes["columns"] = pool.shape[0] + int(np.prod(pool.shape[1:], dtype=np.int64))
    query = content.take_tensor(f"{PREFIX}open.query", "i", "groups").tolist()
    level = content.take_tensor(f"{PREFIX}open.level", "f", "groups").tolist()
    count = content.take_tensor(f"{PREFIX}open.count", "i", "groups").tolist()
    weight = content.take_tensor(f"{PREFIX}open.weight", "f", "groups").tolist()
    origin = content.take_tensor(f"{PREFIX}open.origin", "f", "groups columns")
    shift = content.take_tensor(f"{PREFIX}open.shift", "f", "groups columns")
    groups: list[dict[float, Group]] = [{} for _ in entries]
    for number, at in enumerate(query):
        carried = f"{PREFIX}open.{number}.triangle" in content.tensors
        scatter = _unpacked(content, f"open.{number}.") if carried else None
        if not (count[number] > 0 and weight[number] >= 0.0 and 0 <= at < len(entries)):
            raise ValueError(f"the open group {number} is not one of rows")
        group = Group(count[number], weight[number], origin[number], shift[number], scatter)
        groups[at][level[number]] = group
    opened = {}
    for own, (key, label, digest, query_weight, told) in zip(groups, entries, strict=True):
        if not (own and isinstance(label, str)):
            raise ValueError("an open query has no rows or no label")
        sizes = None if told is None else {float(one): _weight(total, or_zero=True) for one, total in told}
        is_pooled = pool.knows_factors(sizes)
        if any((group.scatter is None) != is_pooled for group in own.values()):
            raise ValueError("the scatter of an open query is missing, or does not belong there")
        opened[_digest(key, -(2**63))] = OpenQuery(
            label, _digest(int(str(digest)), 0), _weight(query_weight), own, sizes
        )
    return opened


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
        raise RefusedError("the moments are not those of any rows: a sum of squares is negative")
    length = np.sqrt(np.maximum(squares, 0.0) + 2.0 * off)  # (d + ρ)^½ (e + σ)^½ ≥ (de)^½ + (ρσ)^½
    bound = np.outer(length[: len(A)], length)
    if (np.abs(np.hstack([A, b])) > bound * (1.0 + _ROUNDING) + slack).any():
        raise RefusedError("the moments are not those of any rows: a product exceeds the squares")


def _checksum(tensors: dict[str, AnyArray]) -> str:
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype} {tensors[name].shape}".encode())
        digest.update(np.ascontiguousarray(tensors[name]).tobytes())
    return digest.hexdigest()
