"""Model files: safetensors with JSON metadata, read into checked numbers and names.

The metadata entry ``rankwise`` holds the schema version, the class, its parameters, the feature names and the
plain attributes; the tensors hold the rest. Reading accepts only what the schema of the class declares
(`rankwise.model.schemas`) and builds nothing, so a file may be wrong but can never execute anything.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from rankwise.errors import FileFormatError
from rankwise.model.attributes import model_from
from rankwise.model.model import Model
from rankwise.model.schemas import ALWAYS_WRITTEN, SCHEMAS, Attributes
from rankwise.tensor_file import Content, RefusedError, read_tensors
from rankwise.types import AnyArray
from rankwise.validation.csr import MAX_FEATURES


def read_model(path: str | os.PathLike[str]) -> Model:
    """Read and check a file; anything but the state of a known class is an error."""
    header, tensors = read_tensors(path)
    try:
        return _checked(header, tensors)
    except RefusedError as reason:
        raise FileFormatError(Path(path), f"cannot be loaded: {reason}.") from None


def _checked(header: dict[str, Any], tensors: dict[str, AnyArray]) -> Model:
    name = header.get("class")
    if not isinstance(name, str) or name not in SCHEMAS:
        raise RefusedError(f"its class {name!r} is unknown to this version of rankwise")
    schema = SCHEMAS[name]
    if header["schema"] < schema.oldest:
        raise RefusedError(
            f"it was written by {header.get('written_by')}, in a {name} format that this version "
            f"does not read; refit the model and save it again"
        )
    parameters = _expect(header, "parameters", dict)
    unknown = set(parameters) - schema.parameters
    if unknown:
        raise RefusedError(f"{name} has no parameter '{min(unknown)}'")
    missing = (schema.parameters & ALWAYS_WRITTEN) - parameters.keys()
    if missing:
        raise RefusedError(f"the parameter '{min(missing)}' is missing")
    n_features = _expect(header, "n_features", int)
    if not 1 <= n_features <= MAX_FEATURES:
        raise RefusedError(f"it says that it has {n_features:,} features; expected 1 to {MAX_FEATURES:,}")
    content = Content(tensors, dict(_expect(header, "values", dict)), {"features": n_features})
    fitted: Attributes = {"n_features_in_": n_features}
    if header.get("feature_names") is not None:
        fitted["feature_names_in_"] = _feature_names(header["feature_names"], n_features)
    for field in schema.state:
        if not field.optional or field.is_in(content):
            fitted[field.name] = field.unpack(content)
    unexpected = sorted([*content.tensors, *content.values])
    if unexpected:
        raise RefusedError(f"{name} has no fitted attribute '{unexpected[0]}'")
    for check in schema.checks:
        check(parameters, fitted)
    return model_from(name, parameters, fitted)


def _expect(header: dict[str, Any], key: str, kind: type) -> Any:
    found = header.get(key)
    if not isinstance(found, kind) or isinstance(found, bool):
        raise RefusedError(f"the header entry '{key}' is missing or malformed")
    return found


def _feature_names(names: Any, n_features: int) -> AnyArray:
    are_names = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not are_names or len(names) != n_features:
        raise RefusedError(f"the header entry 'feature_names' must be a list of {n_features} strings")
    return np.array(names, dtype=object)
