"""Saving models, and building rankers from their files."""

from __future__ import annotations

import os
from typing import Any

import rankwise
from rankwise.errors import DataError
from rankwise.model.attributes import attributes_of
from rankwise.model.fields import Plain, plain
from rankwise.model.history import History
from rankwise.model.model import Model
from rankwise.model.model_file import read_model
from rankwise.model.schemas import SCHEMAS
from rankwise.tensor_file import Content, write_tensors


def save_model(model: Model, path: str | os.PathLike[str], history: History | None = None) -> None:
    """Save a model to a file that `load_model` reads, with a history in place of its own.

    The file is written under a temporary name and moved into place, so a failed save leaves an existing model
    intact.
    """
    header, content = _pack(model, model.origin.history if history is None else history)
    write_tensors(path, header, content.tensors)


def load_model(path: str | os.PathLike[str]) -> Any:
    """Load a model saved with its `save` method; the file holds numbers and names, never code.

    Parameters
    ----------
    path : path
        A file written by `save`.

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
    >>> model = RankRLS(alpha=0.1).fit(data)
    >>> model.save("model.safetensors")
    >>> load_model("model.safetensors")
    RankRLS(alpha=0.1)
    >>> bool((load_model("model.safetensors").predict(data.X) == model.predict(data.X)).all())
    True
    """
    model = read_model(path)
    ranker = getattr(rankwise, model.class_name)(**model.parameters)
    ranker._restore(model)
    return ranker


def _pack(model: Model, history: History | None) -> tuple[dict[str, Plain], Content]:
    if model.class_name not in SCHEMAS:
        raise DataError(f"The model cannot be saved: {model.class_name} is not a class of rankwise.")
    attributes, content = attributes_of(model), Content()
    if history:
        attributes["history_"] = history
    if model.moments is not None:
        attributes["moments_"] = model.moments
    if model.profile is not None:
        attributes["profile_"] = model.profile
    for field in SCHEMAS[model.class_name].state:
        if not field.optional or field.name in attributes:
            field.pack(attributes.get(field.name), content)
    parameters = model.parameters.items()
    header: dict[str, Plain] = {
        "written_by": f"rankwise {rankwise.__version__}",
        "class": model.class_name,
        "parameters": {name: plain(value, f"the parameter '{name}'") for name, value in parameters},
        "n_features": model.n_features,
        "feature_names": None if model.feature_names is None else list(map(str, model.feature_names)),
        "values": content.values,
    }
    return header, content
