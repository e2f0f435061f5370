"""``rankwise train``: train a model on judged rows, with alpha and other settings chosen from the data."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli import options
from rankwise.cli.cluster import refuse_with_dask, train_on_cluster
from rankwise.cli.data_files import ReadOptions, warn_of_one_ranking
from rankwise.cli.fitting import criterion_and_usual, fit, fit_pairs, measure_parts, read_parts, show_result
from rankwise.cli.learners import LEARNERS, learner_to_train, parse_by_feature, parse_choices, parse_columns
from rankwise.cli.outputs import check_folder
from rankwise.cli.paths import Input, Output
from rankwise.errors import ParameterError

if TYPE_CHECKING:
    from rankwise.rows.ranking import RankingData


def _checkpoint_files(folder: Path) -> list[Path]:
    from rankwise.ridge.checkpoint import Checkpoint

    return [Checkpoint(folder).file]


def run(
    data: options.Data,
    model: options.ModelOut,
    learner: Annotated[
        str, options.of_learner(f"One of: {', '.join(LEARNERS)}; the first by default.")
    ] = "rankrls",
    ties: Annotated[
        str | None, options.of_learner("Pairs with equal labels: keep or drop; keep,drop to choose.")
    ] = None,
    weighting: Annotated[
        str | None,
        options.of_learner("What is weighted equally: example, pair or query; several to choose from."),
    ] = None,
    monotonic_cst: options.MonotonicCst = None,
    columns: options.Columns = None,
    checkpoint: Annotated[
        Path | None,
        options.of_learner("A folder from which an interrupted run of conjugate gradient resumes."),
        Output(check_folder, _checkpoint_files),
    ] = None,
    settings: options.Settings = None,
    alpha: Annotated[
        str | None,
        options.of_choice(
            "Regularization strength (λ in the papers): one value, or several to choose from, such as "
            "0.1,1,10 or 2^-3..2^3; 2^-15..2^15 by default, or 15 values from 1e-7 to 1 for ranksvm."
        ),
    ] = None,
    measure: Annotated[
        str | None,
        options.of_choice(
            "What to choose by, such as ndcg@10 or, by the conventions of a tool, letor:ndcg@10; "
            "pairwise_error by default."
        ),
    ] = None,
    cv: Annotated[
        str | None,
        options.of_choice(
            "What is left out to choose: auto (the default), leave-query-out, leave-pair-out or a number of "
            "folds; auto means leave-query-out where it is exact and 5 folds elsewhere (ranksvm, --pairs, "
            "conjugate gradient)."
        ),
    ] = None,
    validation: options.Validation = None,
    features_at_most: Annotated[
        int | None,
        options.of_choice(
            "Choose features, too: greedily, up to this number, with a table of what each adds."
        ),
    ] = None,
    feature_costs: Annotated[
        str | None,
        typer.Option(
            metavar="A=2,B=0.5,...|FILE",
            help="Choose features by what they cost, 1 by default, or a JSON file of it.",
            rich_help_panel=options.CHOICE,
            show_default=False,
        ),
        Input(),
    ] = None,
    judgments: options.Judgments = None,
    pairs: options.Pairs = None,
    scale: options.Scale = False,
    merge_queries: options.MergeQueries = False,
    zero_based: options.ZeroBased = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Train on the workers of this Dask scheduler, each of which reads its own files of text or "
            "stores; local:N starts N workers here.",
            rich_help_panel=options.ROWS,
            show_default=False,
        ),
    ] = None,
    label: options.Label = "label",
    qid: options.Qid = "qid",
    doc: options.Doc = None,
    features: options.Features = None,
    exclude: options.Exclude = None,
    report: options.Report = None,
    threads: options.Threads = None,
    json: options.Json = False,
) -> None:
    """Train a ranker on judged rows and write it to a model file.

    Alpha is chosen by exact leave-query-out, on folds or on validation data, unless --alpha has one value.
    """
    from rankwise.cli.inputs import excluded, split_list

    if pairs is not None and judgments is not None:
        raise ParameterError("--judgments cannot be used with --pairs.")
    if pairs is not None and report is not None and validation is None:
        raise ParameterError("--report measures labels; with --pairs, it needs --validation.")
    given: dict[str, Any] = {"measure": measure}
    given |= {"ties": parse_choices(ties), "weighting": parse_choices(weighting)}
    given |= {"monotonic_cst": parse_by_feature("--monotonic-cst", monotonic_cst)}
    given |= {"columns": parse_columns(columns), "checkpoint": checkpoint and str(checkpoint)}
    costs = parse_by_feature("--feature-costs", feature_costs)
    few = {"max_features": features_at_most, "feature_costs": costs}
    ranker = learner_to_train(learner, alpha, cv, few, given, settings or [])
    left_out, labelled = excluded(exclude, features), judgments is None and pairs is None
    how = ReadOptions(
        label, qid, doc, zero_based, scale, merge_queries, left_out, labelled, columns is not None
    )
    if dask is not None:
        refuse_with_dask(
            judgments=judgments,
            pairs=pairs,
            columns=columns,
            scale=scale,
            features=features,
            exclude=exclude,
            doc=doc,
            report=report,
        )
        train_on_cluster(ranker, data, model, dask, how, validation, json)
        return
    parts, weight = read_parts(data, validation, how, split_list(features), judgments)
    training = parts["training"]
    start = time.perf_counter()
    if pairs is None:
        warn_of_one_ranking(data, training, how)
        fit(ranker, training, parts.get("validation"), weight)
    else:
        fit_pairs(ranker, training, pairs)
        del parts["training"]  # whose labels, if it has any, were not learned
    seconds = time.perf_counter() - start
    ranker.save(model)
    if report is not None:
        files = [path for path in (model, data, validation) if path is not None]
        _write_page(report, ranker, parts, None if weight is not None else training, files)
    show_result(ranker, training, model, seconds, measure_parts(ranker, parts), json)


def _write_page(
    report: Path, ranker: Any, parts: dict[str, RankingData], training: RankingData | None, files: list[Path]
) -> None:
    """Report on the validation data or, without any, on the training data."""
    from rankwise.cli.report import note_on, write_page
    from rankwise.report.judged import Judged

    part, rows = list(parts.items())[-1]
    name = type(ranker).__name__
    write_page(
        report,
        {name: ranker},
        Judged.of_data(rows),
        criterion_and_usual(ranker, rows),
        title=f"{name} on {part} data",
        training=training,
        note=note_on(part),
        files=files,
    )
