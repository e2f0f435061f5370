"""``rankwise info``: the card of a model, a data set, or the build."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli import options
from rankwise.cli.data_files import ReadOptions, files_to_read, read_data
from rankwise.cli.in_options import in_options
from rankwise.cli.paths import Input
from rankwise.cli.screen import SHOWN_ENTRIES, data_stream, show_facts, show_json, show_table, show_text
from rankwise.errors import ParameterError
from rankwise.rendering import Section

if TYPE_CHECKING:
    from rankwise.columns.interaction_codes import InteractionSearch
    from rankwise.features import Features
    from rankwise.model.history import Origin
    from rankwise.model.model import Model
    from rankwise.ridge.moments.moments import Moments
    from rankwise.scoring.calibration import Calibration
    from rankwise.scoring.functions import FeatureFunction

# The last column of a table, which has the longest texts, may be folded on a page.
_LONG_CELLS = "td.text:last-child { white-space: normal; min-width: 12rem; overflow-wrap: anywhere; }\n"
# Rows of a table in a terminal.
SHOWN_ROWS = 15
# Values of a model file that are described together.
_SHOWN_APART = (
    "moments.",
    "profile.",
    "history_",
    "calibration.",
    "encoding_",
    "context_columns_",
    "version_",
    "n_rows_",
    "n_queries_",
)


def run(
    path: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="A model or a data set.", show_default=False),
        Input(files_to_read),
    ] = None,
    label: options.Label = None,
    qid: options.Qid = None,
    doc: options.Doc = None,
    zero_based: options.ZeroBased = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Also read an entire store and verify its checksums.")
    ] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the card of a model in Markdown.")
    ] = False,
    html: Annotated[bool, typer.Option("--html", help="Print the card of a model as an HTML page.")] = False,
    tensors: Annotated[
        bool, typer.Option("--tensors", help="Also list the tensors of a model file.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Show the card of a model, or describe a data set or, for bug reports, this build of rankwise.

    The card says what the model is, how it was made, of which data and columns, and how good it is.
    """
    from rankwise.cli.reading import is_model, is_svmrank

    if verify:
        _verify(path)
    if markdown + html + json > 1:
        raise ParameterError("Only one of --markdown, --html and --json can be used.")
    if path is not None and is_model(path) and not is_svmrank(path):
        if json:
            show_json(_model(path))
        else:
            _show_card(path, markdown, html, tensors)
        return
    if markdown or html or tensors:
        raise ParameterError("--markdown, --html and --tensors require FILE to be a model of rankwise.")
    if path is None:
        facts = _build()
    elif is_svmrank(path):
        facts = _svmrank(path)
    else:
        facts = _data(path, ReadOptions(label, qid, doc, zero_based))
    if json:
        show_json(facts)
    else:
        show_facts(str(path or "This build"), facts)


def _verify(path: Path | None) -> None:
    from rankwise.readers.store import open_store

    if path is None:
        raise ParameterError("--verify requires FILE to be a store.")
    open_store(path, verify=True)


def _build() -> dict[str, Any]:
    import importlib.metadata
    import platform

    import rankwise
    from rankwise import _native
    from rankwise.config import resolve_threads

    packages = ["numpy", "scipy", "scikit-learn", "safetensors", "narwhals", "typer", "rich"]
    return {
        "rankwise": rankwise.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "compiler": _native.compiler,
        "threads": resolve_threads(),
        **{name: importlib.metadata.version(name) for name in packages},
    }


def _show_card(path: Path, markdown: bool, html: bool, tensors: bool) -> None:
    from rankwise.cli.reading import load_model
    from rankwise.model.card_page import card_page

    model, plain = load_model(path), markdown or html
    page = card_page(model, path.name, short=not plain)
    if tensors:
        page = replace(page, sections=(*page.sections, _tensors(path)))
    if html:
        style = (files("rankwise.report") / "page.css").read_text(encoding="utf-8")
        data_stream().write(page.html(style + _LONG_CELLS))
    elif markdown:
        data_stream().write(page.markdown())
    else:
        show_text([page.title, *map(in_options, page.sentences), ""])
        for section in page.sections:
            hidden = len(section.rows) - SHOWN_ROWS
            more = f"... and {hidden:,} more; --markdown, --html and --json list all. " if hidden > 0 else ""
            note = f"{more}{section.note or ''}" or None
            show_table(section.title, section.header, section.rows[:SHOWN_ROWS], note)


def _tensors(path: Path) -> Section:
    from rankwise.tensor_file import read_tensors

    _, tensors = read_tensors(path)
    rows = tuple((name, str(one.dtype), str(one.shape)) for name, one in sorted(tensors.items()))
    return Section("Tensors", ("name", "numbers", "shape"), rows)


def _svmrank(path: Path) -> dict[str, Any]:
    from rankwise.cli.reading import load_model
    from rankwise.features import Features

    model = load_model(path)
    weights = _weights(model.of_features, Features(numbered_from=1))
    return {"class": "SVMrank, linear", "features": model.n_features, **weights}


def _model(path: Path) -> dict[str, Any]:
    from rankwise.cli.reading import load_model
    from rankwise.features import Features
    from rankwise.tensor_file import read_tensors

    model = load_model(path)
    header, tensors = read_tensors(path)
    encoding = model.encoding
    features = model.features if encoding is None else Features(tuple(encoding.feature_names))
    return {
        "class": header["class"],
        "parameters": header["parameters"],
        "features": header["n_features"],
        "feature names": header.get("feature_names"),
        **({} if encoding is None else {"columns": encoding.describe(), **_searched(encoding.search)}),
        **_context(model),
        **_weights(model.of_features, features),
        **_learned(model.origin, model.moments),
        **_calibrated(model.calibration),
        **{name: value for name, value in header["values"].items() if not name.startswith(_SHOWN_APART)},
        "history": header["values"].get("history_"),
        "profile": _profiled(model),
        "tensors": {name: f"{tensor.dtype} {tensor.shape}" for name, tensor in sorted(tensors.items())},
        "made by": None if model.origin.version is None else f"rankwise {model.origin.version}",
        "schema": header["schema"],
        "written by": header.get("written_by"),
    }


def _profiled(model: Model) -> dict[str, Any] | None:
    """How the columns of the training rows are distributed."""
    from dataclasses import asdict

    profile = model.profile
    return None if profile is None else {name: asdict(column) for name, column in profile.columns.items()}


def _context(model: Model) -> dict[str, Any]:
    """Which columns play no part in a model."""
    from rankwise.columns.context import about_context

    names = list(map(str, model.outcome.context_columns or ()))
    said = about_context(names, with_interactions=model.takes_interactions)
    return {"context columns": in_options(said)} if names else {}


def _searched(search: InteractionSearch | None) -> dict[str, Any]:
    """How many pairs of columns were tried, and those found; without a search, nothing."""
    if search is None:
        return {}
    found = {
        " × ".join(one.columns): {"gain": one.gain, "standard errors": one.z, "stage": one.stage}
        for one in search.found
    }
    return {"interactions tried": search.tried, "interactions found": found}


def _learned(origin: Origin, moments: Moments | None) -> dict[str, Any]:
    """How much data a model has learned from; files of early versions say so only if it can be updated."""
    seen = {"queries": origin.n_queries, "rows": origin.n_rows}
    if moments is not None:
        queries = moments.n_queries if moments.has_qid else None
        seen = {"queries": queries, "rows": moments.n_rows, "pairs": moments.n_pairs}
    known = {name: count for name, count in seen.items() if count is not None}
    return {"learned": known} if known else {}


def _calibrated(calibration: Calibration | None) -> dict[str, Any]:
    """How sure the differences of a model's scores are."""
    if calibration is None:
        return {}
    return {"calibration": {name: fact for name, fact in calibration.to_dict().items() if name != "curve"}}


def _weights(function: FeatureFunction, features: Features) -> dict[str, Any]:
    """The number of nonzero weights of a linear model and its largest weights; empty for other models."""
    import numpy as np

    from rankwise.scoring.functions import LinearFunction

    if not isinstance(function, LinearFunction) or function.weights.ndim != 1:
        return {}
    coef = function.weights
    n_weights = int(np.count_nonzero(coef))
    largest = np.argsort(-np.abs(coef), kind="stable")[: min(n_weights, SHOWN_ENTRIES)].tolist()
    return {
        "weights": n_weights,
        "largest weights": {features.label(k): float(coef[k]) for k in largest},
    }


def _data(path: Path, how: ReadOptions) -> dict[str, Any]:
    import numpy as np

    data = read_data(path, how)
    sizes = data.queries.sizes
    grades, counts = np.unique(data.y, return_counts=True)
    if len(grades) <= 10:
        labels: Any = {f"{grade:g}": int(count) for grade, count in zip(grades, counts, strict=True)}
    else:
        labels = f"{len(grades)} values from {grades[0]:g} to {grades[-1]:g}"
    stored = data.X.nnz if hasattr(data.X, "nnz") else np.count_nonzero(data.X)
    return {
        "rows": data.n_rows,
        "features": data.n_features,
        "scaled per query": data.scaled_per_query,
        "feature names": None if data.feature_names is None else list(data.feature_names),
        "entries": int(stored),
        "storage": f"{'csr' if hasattr(data.X, 'nnz') else 'dense'} {data.X.dtype}",
        "queries": data.n_queries if data.qid is not None else None,
        "rows per query": {
            "least": int(sizes.min()),
            "median": float(np.median(sizes)),
            "most": int(sizes.max()),
        },
        "labels": labels,
        "documents named": data.docs is not None,
        "rows weighted": data.sample_weight is not None,
    }
