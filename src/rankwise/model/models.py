"""Saving fitted estimators, and building them from model files."""

from __future__ import annotations

import os
from typing import Any

import rankwise
from rankwise.model.fields import Plain, plain
from rankwise.model.model_file import read_model
from rankwise.tensor_file import Content, write_tensors
from rankwise.validation import check_fitted


def save_model(estimator: Any, path: str | os.PathLike[str], *, without: str | None = None) -> None:
    """Save a fitted ranker, if need be without an optional attribute, to a file that `load_model` reads.

    The file is written under a temporary name and moved into place, so a failed save leaves an existing model
    intact.
    """
    header, content = _pack(estimator, without)
    write_tensors(path, header, content.tensors)


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


def _pack(estimator: Any, without: str | None) -> tuple[dict[str, Plain], Content]:
    check_fitted(estimator)
    content = Content()
    for field in estimator._schema.state:
        if field.name != without and (not field.optional or hasattr(estimator, field.name)):
            field.pack(getattr(estimator, field.name), content)
    parameters = estimator.get_params(deep=False).items()
    names = getattr(estimator, "feature_names_in_", None)
    header: dict[str, Plain] = {
        "written_by": f"rankwise {rankwise.__version__}",
        "class": type(estimator).__name__,
        "parameters": {name: plain(value, f"the parameter '{name}'") for name, value in parameters},
        "n_features": int(estimator.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
        "values": content.values,
    }
    return header, content
