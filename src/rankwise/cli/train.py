"""``rankwise train``: a model from judged rows."""

from __future__ import annotations

import inspect
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli import options
from rankwise.cli.learners import LEARNERS
from rankwise.cli.screen import progress, show_json, show_table

if TYPE_CHECKING:
    from rankwise.data.ranking import RankingData


def _option(help: str) -> Any:
    return typer.Option(help=help, rich_help_panel="Learner", show_default=False)


def run(
    data: options.Data,
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="The model file to write.", show_default=False)
    ],
    learner: Annotated[str, _option(f"One of: {', '.join(LEARNERS)}.")] = "rankrls",
    alpha: Annotated[float | None, _option("Regularization, the λ of the papers.")] = None,
    ties: Annotated[str | None, _option("Pairs with equal labels: keep or drop.")] = None,
    weighting: Annotated[str | None, _option("What counts alike: example, pair or query.")] = None,
    solver: Annotated[str | None, _option("How to solve: auto, primal or dual.")] = None,
    kernel: Annotated[str | None, _option("rbf, linear or polynomial.")] = None,
    gamma: Annotated[float | None, _option("Width of the rbf kernel.")] = None,
    basis: Annotated[int | None, _option("How many basis vectors a kernel model has.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any other parameter of the learner's class; may be repeated.",
            rich_help_panel="Learner",
        ),
    ] = None,
    validation: Annotated[
        Path | None, typer.Option(metavar="DATA", help="Judged rows to validate on.", show_default=False)
    ] = None,
    measures: options.Measures = options.MEASURES,
    preset: options.Preset = None,
    label: options.Label = "label",
    qid: options.Qid = "qid",
    doc: options.Doc = None,
    features: options.Features = None,
    zero_based: options.ZeroBased = None,
    threads: options.Threads = None,
    json: options.Json = False,
) -> None:
    """Train a ranker on judged rows and write it to a model file."""
    from rankwise.cli.inputs import Reading, check_output, read_data, split_list
    from rankwise.cli.learners import make_learner

    check_output(model)
    given = {"alpha": alpha, "ties": ties, "weighting": weighting, "solver": solver}
    given |= {"kernel": kernel, "gamma": gamma, "basis": basis}
    ranker = make_learner(learner, given, settings or [])
    how = Reading(label, qid, doc, zero_based)
    parts = {"training": read_data(data, how, features=split_list(features))}
    if validation is not None:
        training = parts["training"]
        parts["validation"] = read_data(
            validation, how, features=training.feature_names, n_features=training.n_features
        )
    start = time.perf_counter()
    fit(ranker, parts["training"], parts.get("validation"))
    seconds = time.perf_counter() - start
    ranker.save(model)
    _report(ranker, parts, split_list(measures) or [], preset, seconds, model, json)


def fit(ranker: Any, data: RankingData, validation: RankingData | None = None) -> None:
    """Fit a learner, handing it the validation data if it has a use for them."""
    more = {}
    if validation is not None and "eval_set" in inspect.signature(ranker.fit).parameters:
        more["eval_set"] = (validation.X, validation.y, validation.qid)
    with progress(f"Training {type(ranker).__name__}"):
        ranker.fit(data.X, data.y, data.qid, **more)
    name_features(ranker, data)


def name_features(ranker: Any, data: RankingData) -> None:
    """Record on a fitted model the names of its features, which plain arrays do not carry."""
    import numpy as np

    if data.feature_names is not None:
        ranker.feature_names_in_ = np.array(data.feature_names, dtype=object)


def _report(
    ranker: Any,
    parts: dict[str, RankingData],
    measures: list[str],
    preset: str | None,
    seconds: float,
    model: Path,
    json: bool,
) -> None:
    from rankwise.cli.inputs import predict_scores
    from rankwise.metrics import evaluate

    means = {}
    for name, part in parts.items():
        scores = predict_scores(ranker, part)
        means[name] = evaluate(part.y, scores, part.queries, measures=measures, preset=preset).means
    if json:
        show_json({"model": str(model), "class": type(ranker).__name__, "seconds": seconds, **means})
        return
    rows = [(measure, *(means[name][measure] for name in parts)) for measure in means["training"]]
    data = parts["training"]
    note = (
        f"{type(ranker).__name__} on {data.n_rows} rows, {data.n_queries} queries, "
        f"{data.n_features} features in {seconds:.2f} s; written to {model}"
    )
    show_table("Quality", ["measure", *parts], rows, note)
