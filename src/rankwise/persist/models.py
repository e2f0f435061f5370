"""Fitted estimators as safetensors files with JSON metadata.

The metadata entry ``rankwise`` holds the schema version, the class, its parameters, the feature names and the
plain attributes; the tensors hold the rest. Loading instantiates only classes that rankwise itself exports,
and sets only attributes that the class declares, so a file may be wrong but can never execute anything.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import rankwise
from rankwise.errors import FileFormatError
from rankwise.files import parse_json, replacing_file
from rankwise.persist.fields import Content, Fields, Plain, RefusedError, plain
from rankwise.validation.csr import MAX_FEATURES

# Version 2 renamed what RankSVM paths and searches measure, and put the alphas of paths in ascending order.
SCHEMA = 2
_KEY = "rankwise"
# The safetensors names of the number types that models hold.
_TENSOR_TYPES = ("F64", "F32", "I64", "I32", "BOOL")


class Saveable:
    """Mixin that adds `save`; the class declares its fitted state (see `rankwise.persist.fields`)."""

    _fitted_state: Fields
    # Files with an older schema are rejected.
    _oldest_schema: ClassVar[int] = 1

    def _check_loaded(self) -> None:
        """Raise `RefusedError` if attributes from a file do not fit each other; a class may add checks."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fitted model to a file, which `rankwise.load_model` reads.

        The file is written under a temporary name and moved into place, so a failed save leaves an existing
        model intact.
        """
        from safetensors.numpy import save

        header, tensors = _pack(self)
        encoded = save(tensors, metadata={_KEY: json.dumps(header)})
        with replacing_file(path) as beside:
            beside.write_bytes(encoded)


def load_model(path: str | os.PathLike[str]) -> Any:
    """Load a model saved with its `save` method; the file holds numbers and names, never code.

    Parameters
    ----------
    path : path

    Returns
    -------
    estimator
        A fitted estimator of the saved class; its predictions are bit-identical.

    Raises
    ------
    FileFormatError
        If the file is not a model file, is damaged, or contains something unknown to this version.

    Examples
    --------
    >>> from rankwise import RankRLS, load_model, make_search_data
    >>> data = make_search_data(20, random_state=0)
    >>> model = RankRLS(alpha=0.1).fit(data.X, data.y, data.qid)
    >>> model.save("model.safetensors")
    >>> load_model("model.safetensors")
    RankRLS(alpha=0.1)
    >>> bool((load_model("model.safetensors").predict(data.X) == model.predict(data.X)).all())
    True
    """
    header, tensors = _read(Path(path))
    try:
        return _unpack(header, tensors)
    except RefusedError as reason:
        raise FileFormatError(Path(path), f"cannot be loaded: {reason}.") from None


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the metadata of a model file and its tensor shapes, without building the model."""
    header, tensors = _read(Path(path))
    shapes = {name: f"{tensor.dtype} {tensor.shape}" for name, tensor in sorted(tensors.items())}
    return {**header, "tensors": shapes}


def _pack(estimator: Any) -> tuple[dict[str, Plain], dict[str, np.ndarray[Any, Any]]]:
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    content = Content()
    for field in estimator._fitted_state:
        if not field.optional or hasattr(estimator, field.name):
            field.pack(getattr(estimator, field.name), content)
    parameters = estimator.get_params(deep=False).items()
    names = getattr(estimator, "feature_names_in_", None)
    header: dict[str, Plain] = {
        "schema": SCHEMA,
        "written_by": f"rankwise {rankwise.__version__}",
        "class": type(estimator).__name__,
        "parameters": {name: plain(value, f"the parameter '{name}'") for name, value in parameters},
        "n_features": int(estimator.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
        "values": content.values,
    }
    return header, content.tensors


def _read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    from safetensors import SafetensorError, safe_open

    path.open("rb").close()  # so that a missing or unreadable file is reported as such
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: _tensor(path, file, name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise FileFormatError(path, f"is not a model file or is damaged ({error}).") from None
    try:
        header = parse_json(metadata[_KEY])
    except (KeyError, ValueError):
        raise FileFormatError(path, "is a safetensors file, but was not written by rankwise.") from None
    if not isinstance(header, dict) or type(header.get("schema")) is not int:
        raise FileFormatError(path, "is not a model file: its header has no schema version.")
    if header["schema"] > SCHEMA:
        raise FileFormatError(
            path,
            f"has schema {header['schema']}, written by {header.get('written_by')}, "
            f"but this version reads schemas up to {SCHEMA}; upgrade rankwise.",
        )
    return header, tensors


def _tensor(path: Path, file: Any, name: str) -> np.ndarray[Any, Any]:
    kind = file.get_slice(name).get_dtype()
    if kind not in _TENSOR_TYPES:
        raise FileFormatError(
            path, f"the tensor '{name}' holds numbers of type {kind}; expected {', '.join(_TENSOR_TYPES)}."
        )
    tensor: np.ndarray[Any, Any] = file.get_tensor(name)
    return tensor


def _unpack(header: dict[str, Any], tensors: dict[str, np.ndarray[Any, Any]]) -> Any:
    kind = _known_class(header.get("class"))
    if header["schema"] < kind._oldest_schema:
        raise RefusedError(
            f"it was written by {header.get('written_by')}, in a {kind.__name__} format that this version "
            f"does not read; refit the model and save it again"
        )
    parameters = _expect(header, "parameters", dict)
    unknown = set(parameters) - set(kind._get_param_names())
    if unknown:
        raise RefusedError(f"{kind.__name__} has no parameter '{min(unknown)}'")
    n_features = _expect(header, "n_features", int)
    if not 1 <= n_features <= MAX_FEATURES:
        raise RefusedError(f"it says that it has {n_features:,} features; expected 1 to {MAX_FEATURES:,}")
    content = Content(tensors, dict(_expect(header, "values", dict)), {"features": n_features})
    estimator = kind(**parameters)
    estimator.n_features_in_ = n_features
    if header.get("feature_names") is not None:
        estimator.feature_names_in_ = _feature_names(header["feature_names"], n_features)
    for field in kind._fitted_state:
        if not field.optional or field.is_in(content):
            setattr(estimator, field.name, field.unpack(content))
    unexpected = sorted([*content.tensors, *content.values])
    if unexpected:
        raise RefusedError(f"{kind.__name__} has no fitted attribute '{unexpected[0]}'")
    estimator._check_loaded()
    return estimator


def _known_class(name: object) -> Any:
    kind = getattr(rankwise, name) if isinstance(name, str) and name in rankwise.__all__ else None
    if not (isinstance(kind, type) and issubclass(kind, Saveable)):
        raise RefusedError(f"its class {name!r} is unknown to this version of rankwise")
    return kind


def _expect(header: dict[str, Any], key: str, kind: type) -> Any:
    found = header.get(key)
    if not isinstance(found, kind) or isinstance(found, bool):
        raise RefusedError(f"the header entry '{key}' is missing or malformed")
    return found


def _feature_names(names: Any, n_features: int) -> np.ndarray[Any, Any]:
    are_names = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not are_names or len(names) != n_features:
        raise RefusedError(f"the header entry 'feature_names' must be a list of {n_features} strings")
    return np.array(names, dtype=object)
