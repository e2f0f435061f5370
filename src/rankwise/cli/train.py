"""``rankwise train``: train a model on judged rows."""

from __future__ import annotations

import inspect
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli import options
from rankwise.cli.cluster import refuse_with_dask
from rankwise.cli.interrupts import keeping_what_was_fitted
from rankwise.cli.learners import LEARNERS, make_learner, parse_by_feature, parse_columns
from rankwise.cli.like_svmrank import adopt_c, check_c, refuse_others
from rankwise.cli.screen import progress, show_json, show_table
from rankwise.cli.update import check_keeps_parameters, learn_and_forget, read_update
from rankwise.errors import ParameterError

if TYPE_CHECKING:
    from rankwise.cli.data_files import ReadOptions
    from rankwise.dask import DistributedData
    from rankwise.data.ranking import RankingData
    from rankwise.metrics import Measure
    from rankwise.rendering import Cell
    from rankwise.types import Floats


def run(
    data: options.Data,
    model: options.ModelOut,
    learner: Annotated[
        str, options.of_learner(f"One of: {', '.join(LEARNERS)}; the first by default.")
    ] = "rankrls",
    alpha: Annotated[
        float | None,
        options.of_learner("Regularization strength (λ in the papers); 1 by default, or 0.001 for ranksvm."),
    ] = None,
    ties: Annotated[str | None, options.of_learner("Pairs with equal labels: keep or drop.")] = None,
    weighting: Annotated[
        str | None, options.of_learner("What is weighted equally: example, pair or query.")
    ] = None,
    solver: Annotated[
        str | None,
        options.of_learner("auto, closed, primal, dual or cg."),
    ] = None,
    kernel: Annotated[str | None, options.of_learner("rbf, linear or polynomial.")] = None,
    gamma: Annotated[
        float | None, options.of_learner("Scale of the rbf or polynomial kernel; 1 / features by default.")
    ] = None,
    basis: Annotated[int | None, options.of_learner("Number of basis vectors of a kernel model.")] = None,
    max_iter: Annotated[int | None, options.of_learner("Maximum number of solver iterations.")] = None,
    tol: Annotated[float | None, options.of_learner("Tolerance of an iterative solver.")] = None,
    early_stopping: Annotated[
        bool | None, options.of_learner("Keep the best iterate on held-out rows.")
    ] = None,
    checkpoint: Annotated[
        Path | None, options.of_learner("A folder from which an interrupted run resumes.")
    ] = None,
    monotonic_cst: options.MonotonicCst = None,
    columns: options.Columns = None,
    settings: options.Settings = None,
    update: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL",
            help="A RankRLS model that learns DATA in addition to what it has learned.",
            show_default=False,
        ),
    ] = None,
    forget: Annotated[
        Path | None,
        typer.Option(metavar="DATA", help="Queries that --update forgets first.", show_default=False),
    ] = None,
    like_svmrank: Annotated[
        bool, typer.Option("--like-svmrank", help="Train like svm_rank_learn and write an SVMrank model.")
    ] = False,
    c: Annotated[
        float | None, typer.Option("-c", help="SVMrank's C; 0.01 by default.", show_default=False)
    ] = None,
    judgments: options.Judgments = None,
    pairs: options.Pairs = None,
    labels: Annotated[
        bool, typer.Option("--labels/--no-labels", help="Whether to learn from labels as well as --pairs.")
    ] = True,
    validation: options.Validation = None,
    measures: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Measures to compute, '' for none; by default as in 'evaluate'.",
            show_default=False,
        ),
    ] = None,
    preset: options.Preset = None,
    label: options.Label = "label",
    qid: options.Qid = "qid",
    doc: options.Doc = None,
    features: options.Features = None,
    exclude: options.Exclude = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Train on the workers of this Dask scheduler, each of which reads its own files of text or "
            "stores; local:N starts N workers here.",
            show_default=False,
        ),
    ] = None,
    zero_based: options.ZeroBased = None,
    scale: options.Scale = False,
    merge_queries: options.MergeQueries = False,
    threads: options.Threads = None,
    json: options.Json = False,
) -> None:
    """Train a ranker on judged rows and write it to a model file."""
    from rankwise.cli.data_files import ReadOptions
    from rankwise.cli.inputs import check_model_output, choose_measures, excluded, read_matching, split_list
    from rankwise.export.svmrank import save_svmrank

    check_model_output(model)
    if pairs is None and not labels:
        raise ParameterError("--no-labels requires --pairs; otherwise there is nothing to learn from.")
    if judgments is not None and pairs is not None:
        raise ParameterError("--judgments cannot be used with --pairs.")
    given: dict[str, Any] = {"alpha": alpha, "ties": ties, "weighting": weighting, "solver": solver}
    given |= {"kernel": kernel, "gamma": gamma, "basis": basis, "max_iter": max_iter, "tol": tol}
    given |= {"early_stopping": early_stopping, "checkpoint": checkpoint and str(checkpoint)}
    given |= {"monotonic_cst": parse_by_feature("--monotonic-cst", monotonic_cst)}
    given |= {"columns": parse_columns(columns)}
    if forget is not None and update is None:
        raise ParameterError("--forget requires --update.")
    c = check_c(c, like_svmrank)
    left_out, weight = excluded(exclude, features), None
    labelled = judgments is None
    how = ReadOptions(
        label, qid, doc, zero_based, scale, merge_queries, left_out, labelled, columns is not None
    )
    if dask is not None:
        here = {"update": update, "like_svmrank": like_svmrank, "judgments": judgments, "pairs": pairs}
        refuse_with_dask(
            {**here, "columns": columns, "scale": scale, "features": features, "exclude": exclude, "doc": doc}
        )
        ranker = make_learner(LEARNERS, learner, given, settings or [])
        train_on_cluster(ranker, data, model, dask, how, validation, measures, preset, json)
        return
    if update is not None:
        others = {"set": settings, "like_svmrank": like_svmrank, "pairs": pairs, "features": features}
        others |= {"exclude": exclude, "judgments": judgments}
        check_keeps_parameters({**given, **others, "learner": None if learner == "rankrls" else learner})
        ranker, parts = read_update(update, data, validation, how)
        rows_to_forget = None if forget is None else read_matching(forget, how, parts["training"])
    else:
        if like_svmrank:
            refuse_others(learner, given, settings)
        ranker = make_learner(LEARNERS, "ranksvm" if like_svmrank else learner, given, settings or [])
        parts, weight = read_parts(data, validation, how, split_list(features), judgments)
    wanted = choose_measures(measures, parts["training"], preset)
    if like_svmrank:
        adopt_c(ranker, c, parts["training"])
    start = time.perf_counter()
    # Without early stopping, validation data is only evaluated; nothing is decided on it.
    stops_early = ranker.get_params().get("early_stopping", False)
    if update is not None:
        learn_and_forget(ranker, parts["training"], rows_to_forget)
    elif pairs is None:
        fit(ranker, parts["training"], parts.get("validation") if stops_early else None, weight)
    else:
        fit_pairs(ranker, parts["training"], pairs, labels)
    seconds = time.perf_counter() - start
    if like_svmrank:
        save_svmrank(ranker.coef_, model, n_rows=parts["training"].n_rows)
    else:
        ranker.save(model)
    means = measure_parts(ranker, parts, wanted)
    show_result(ranker, parts["training"], model, seconds, means, json)


def show_result(
    ranker: Any,
    data: RankingData | DistributedData,
    model: Path,
    seconds: float,
    means: dict[str, dict[str, float]],
    json: bool,
) -> None:
    """Show what was trained, and how good it is."""
    if json:
        became = columns_of(ranker)
        more: dict[str, Any] = {"columns": became, **means} if became else {**means}
        show_json({"model": str(model), "class": type(ranker).__name__, "seconds": seconds, **more})
        return
    show_columns(ranker)
    done = summary(ranker, data, seconds, model)
    if not means["training"]:
        typer.echo(done)
        return
    show_quality("Quality", means, done)


def train_on_cluster(
    ranker: Any,
    data: Path,
    model: Path,
    address: str,
    how: ReadOptions,
    validation: Path | None,
    measures: str | None,
    preset: str | None,
    json: bool,
) -> None:
    """`run` for rows that workers hold; validation data is read here."""
    from rankwise.cli.cluster import read_on_cluster
    from rankwise.cli.data_files import read_data
    from rankwise.cli.inputs import choose_measures
    from rankwise.dask.clusters import connected
    from rankwise.metrics import evaluate

    with connected(address) as client:
        training = read_on_cluster(data, how, client)
        held = None if validation is None else read_data(validation, how, n_features=training.n_features)
        wanted, start = choose_measures(measures, training, preset), time.perf_counter()
        fit(ranker, training, held if ranker.get_params().get("early_stopping", False) else None)
        seconds = time.perf_counter() - start
        ranker.save(model)
        found = evaluate(training, ranker.predict(training), measures=wanted).means if wanted else {}
    means = {"training": found} | measure_parts(ranker, {} if held is None else {"validation": held}, wanted)
    show_result(ranker, training, model, seconds, means, json)


def read_parts(
    data: Path,
    validation: Path | None,
    how: ReadOptions,
    features: list[str] | None,
    judgments: Path | None,
) -> tuple[dict[str, RankingData], Floats | None]:
    """Read training data and, if given, validation data with the same features; and the training weights."""
    from rankwise.cli.data_files import read_data
    from rankwise.cli.inputs import read_matching
    from rankwise.data.judgment_files import load_judgments

    training, weight = read_data(data, how, features=features), None
    if judgments is not None:
        training, weight = load_judgments(judgments, training)
    if validation is None:
        return {"training": training}, weight
    return {"training": training, "validation": read_matching(validation, how, training)}, weight


def columns_of(ranker: Any) -> dict[str, str]:
    """What each column became in a fit; empty if none were encoded."""
    return ranker.encoding_.describe() if hasattr(ranker, "encoding_") else {}


def show_columns(ranker: Any) -> None:
    """Show what each column became, if columns were encoded."""
    became = columns_of(ranker)
    if became:
        show_table("Columns", ["column", "became"], list(became.items()))


def fit(
    ranker: Any,
    data: RankingData | DistributedData,
    validation: RankingData | None = None,
    weight: Floats | None = None,
) -> None:
    """Fit a learner, passing it the validation data if it accepts any."""
    takes = inspect.signature(ranker.fit).parameters
    more: dict[str, Any] = {} if weight is None else {"sample_weight": weight}
    if validation is not None and "eval_set" in takes:
        more["eval_set"] = validation
    with keeping_what_was_fitted(ranker), progress(f"Training {type(ranker).__name__}") as advance:
        if "on_progress" in takes:
            more["on_progress"] = lambda step: advance(step.done, step.label)
        ranker.fit(data, **more)


def fit_pairs(ranker: Any, data: RankingData, pairs: Path, with_labels: bool) -> None:
    """Fit a learner on a file of preferences between the rows and, if requested, on their labels."""
    from rankwise.config import config_context
    from rankwise.data.pair_files import load_pairs

    takes = inspect.signature(ranker.fit_preferences).parameters if hasattr(ranker, "fit_preferences") else {}
    name = type(ranker).__name__
    if not takes:
        raise ParameterError(f"{name} does not support --pairs.")
    if with_labels and "y" not in takes:
        raise ParameterError(f"{name} learns from --pairs or from labels, not both; add --no-labels.")
    preferences = load_pairs(pairs, data=data)
    more = {"y": data.y, "qid": data.qid} if with_labels else {}
    with (
        config_context(one_ranking=True),  # a file without queries says so
        keeping_what_was_fitted(ranker),
        progress(f"Training {name}"),
    ):
        ranker.fit_preferences(data, preferences, **more)


def measure_parts(
    ranker: Any, parts: dict[str, RankingData], measures: Sequence[Measure]
) -> dict[str, dict[str, float]]:
    """The means of the measures on each part of the data; empty if there are no measures."""
    from rankwise.cli.inputs import predict_scores
    from rankwise.metrics import evaluate

    means: dict[str, dict[str, float]] = {name: {} for name in parts}
    if not measures:
        return means
    for name, part in parts.items():
        scores = predict_scores(ranker._scoring_model(), part)
        means[name] = evaluate(part.y, scores, part.queries, measures).means
    return means


def show_quality(title: str, means: dict[str, dict[str, float]], note: str) -> None:
    """Show the result of `measure_parts`: one line per measure, one column per part."""
    rows: list[tuple[Cell, ...]] = [
        (measure, *(part[measure] for part in means.values())) for measure in means["training"]
    ]
    show_table(title, ["measure", *means], rows, note)


def summary(ranker: Any, data: RankingData | DistributedData, seconds: float, model: Path) -> str:
    alpha = f" with alpha {ranker.alpha:.6g}" if hasattr(ranker, "alpha") else ""
    queries = f"{data.n_queries} queries" if data.has_queries else "one global ranking"
    contradicted = getattr(ranker, "contradicted_signs_", [])
    signs = f"Weight 0, because the labels contradict the sign: {', '.join(contradicted)}\n"
    return (
        f"{signs if contradicted else ''}{type(ranker).__name__}{alpha} on {data.n_rows} rows, {queries}, "
        f"{data.n_features} features in {seconds:.2f} s; written to {model}"
    )
