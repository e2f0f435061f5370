"""``rankwise train``: train a model on judged rows."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from rankwise.cli import options
from rankwise.cli.cluster import refuse_with_dask, train_on_cluster
from rankwise.cli.data_files import ReadOptions, files_to_read, warn_of_one_ranking
from rankwise.cli.fitting import fit, fit_pairs, measure_parts, read_parts, show_result
from rankwise.cli.learners import LEARNERS, make_learner, parse_by_feature, parse_columns
from rankwise.cli.like_svmrank import adopt_c, check_c, refuse_others
from rankwise.cli.outputs import check_folder
from rankwise.cli.paths import Input, Output
from rankwise.cli.update import check_keeps_parameters, learn_and_forget, read_update
from rankwise.errors import ParameterError


def _checkpoint_files(folder: Path) -> list[Path]:
    from rankwise.ridge.checkpoint import Checkpoint

    return [Checkpoint(folder).file]


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
        Path | None,
        options.of_learner("A folder from which an interrupted run resumes."),
        Output(check_folder, _checkpoint_files),
    ] = None,
    monotonic_cst: options.MonotonicCst = None,
    columns: options.Columns = None,
    settings: options.Settings = None,
    update: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL",
            help="A RankRLS model that learns DATA in addition to what it has learned; may be MODEL.",
            show_default=False,
        ),
        Input(replaced_by="model"),
    ] = None,
    forget: Annotated[
        Path | None,
        typer.Option(metavar="DATA", help="Queries that --update forgets first.", show_default=False),
        Input(files_to_read),
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
    from rankwise.cli.inputs import choose_measures, excluded, read_matching, split_list
    from rankwise.export.svmrank import save_svmrank

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
    if labels:  # preferences alone need no queries
        warn_of_one_ranking(data, parts["training"], how)
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
