"""``rankwise train``: train a model on judged rows, with alpha and other settings chosen from the data."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from rankwise.cli import completion, learner_options, options
from rankwise.cli.card import CARD, CardOptions, saving, used_rows
from rankwise.cli.cluster import refuse_with_dask, train_on_cluster
from rankwise.cli.data_files import files_to_read, warn_of_one_ranking
from rankwise.cli.fitting import (
    criterion_and_usual,
    evaluate_left_out,
    evaluate_parts,
    fit,
    fit_pairs,
    read_parts,
    show_result,
    warn_of_leaks,
)
from rankwise.cli.learner_options import CHOICE, of_choice, of_learner
from rankwise.cli.learners import (
    LEARNERS,
    learner_to_train,
    parse_by_feature,
    parse_choices,
    parse_columns,
    parse_interactions,
)
from rankwise.cli.outputs import check_folder
from rankwise.cli.paths import Input, Output
from rankwise.cli.screen import show_text
from rankwise.cli.seen import warn_of_seen_rows
from rankwise.errors import ParameterError


def _checkpoint_files(folder: Path) -> list[Path]:
    from rankwise.ridge.checkpoint import Checkpoint

    return [Checkpoint(folder).file]


def run(
    data: options.Data,
    model: options.ModelOut,
    *,
    learner: Annotated[
        str,
        of_learner(
            f"What to train: {', '.join(LEARNERS)}.",
            **completion.one_of(*LEARNERS, listed=False),
            metavar="LEARNER",
        ),
    ] = "rankrls",
    ties: Annotated[
        str | None,
        of_learner(
            "Keep or drop pairs with equal labels; keep,drop to choose.", **completion.some_of("keep", "drop")
        ),
    ] = None,
    weighting: Annotated[
        str | None,
        of_learner(
            "What counts equally: each example, pair or query; several to choose from.",
            **completion.some_of("example", "pair", "query"),
        ),
    ] = None,
    monotonic_cst: learner_options.MonotonicCst = None,
    columns: learner_options.Columns = None,
    interactions: learner_options.Interactions = None,
    checkpoint: Annotated[
        Path | None,
        of_learner("A folder from which an interrupted run of conjugate gradient resumes.", metavar="FOLDER"),
        Output(check_folder, _checkpoint_files),
    ] = None,
    settings: learner_options.Settings = None,
    alpha: Annotated[
        str | None,
        of_choice(
            "Regularization strength (λ in the papers): one value, or several to choose from, such as "
            "0.1,1,10 or 2^-3..2^3; 2^-15..2^15 by default, or 15 values from 1e-7 to 1 for ranksvm.",
            metavar="X,...",
        ),
    ] = None,
    measure: Annotated[
        str | None,
        of_choice(
            "The measure to choose by, such as ndcg@10 or, with the conventions of a tool, "
            "letor:ndcg@10; pairwise_error by default.",
            **completion.measure(),
        ),
    ] = None,
    cv: Annotated[
        str | None,
        of_choice(
            "How to cross-validate: auto (the default), leave-query-out, leave-pair-out or a number of "
            "folds; auto means leave-query-out where it is exact, in groups if there are many, and 5 "
            "folds elsewhere (ranksvm, --pairs, conjugate gradient).",
            **completion.one_of("auto", "leave-query-out", "leave-pair-out", listed=False),
            metavar="HOW",
        ),
    ] = None,
    validation: learner_options.Validation = None,
    test: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA",
            help="Judged rows of other queries to evaluate the model on, for its card.",
            rich_help_panel=CARD,
            show_default=False,
        ),
        Input(files_to_read),
    ] = None,
    features_at_most: Annotated[
        int | None,
        of_choice("Also choose features, greedily, up to this number; prints what each adds."),
    ] = None,
    feature_costs: Annotated[
        str | None,
        typer.Option(
            metavar="A=2,B=0.5,...|FILE",
            help="Cost of each feature (1 by default), or a JSON file; features are chosen by gain per cost.",
            rich_help_panel=CHOICE,
            show_default=False,
        ),
        Input(),
    ] = None,
    rows: options.FeatureOptions,
    judgments: options.Judgments = None,
    human: options.Human = None,
    pairs: options.Pairs = None,
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
    report: options.Report = None,
    card: CardOptions,
    json: options.Json = False,
) -> None:
    """Train a ranker on judged rows and write it to a model file.

    Alpha is chosen by exact leave-query-out, on folds or on validation data, unless --alpha has one value.
    """
    from rankwise.cli.human import refuse_with_human, train_sampled
    from rankwise.cli.report import write_page_of_new
    from rankwise.model.history import Step
    from rankwise.readers.judgment_files import judged_labels

    if pairs is not None and judgments is not None:
        raise ParameterError("--judgments cannot be used with --pairs.")
    if pairs is not None and report is not None and validation is None:
        raise ParameterError("--report measures labels; with --pairs, it needs --validation.")
    if human is not None:
        refuse_with_human(pairs=pairs, validation=validation, dask=dask, report=report)
    given: dict[str, Any] = {"measure": measure}
    given |= {"ties": parse_choices(ties), "weighting": parse_choices(weighting)}
    given |= {"monotonic_cst": parse_by_feature("--monotonic-cst", monotonic_cst)}
    given |= {"columns": parse_columns(columns), "interactions": parse_interactions(interactions)}
    given |= {"checkpoint": checkpoint and str(checkpoint)}
    costs = parse_by_feature("--feature-costs", feature_costs)
    few = {"max_features": features_at_most, "feature_costs": costs}
    ranker = learner_to_train(learner, alpha, cv, few, given, settings or [])
    encodes = columns is not None or interactions is not None
    how = rows.how(labelled=judgments is None and pairs is None, as_table=encodes)
    if dask is not None:
        refuse_with_dask(
            judgments=judgments,
            pairs=pairs,
            columns=columns,
            interactions=interactions,
            scale=rows.scale,
            features=rows.features,
            exclude=rows.exclude,
            doc=rows.doc,
            test=test,
            report=report,
        )
        train_on_cluster(ranker, data, model, dask, how, validation, card, json)
        return
    parts = read_parts(data, validation, how, rows.columns(), judgments, test)
    training = parts["training"]
    used = [*used_rows("training", data, training, how), *used_rows("judgments", judgments)]
    used += [*used_rows("pairs", pairs), *used_rows("human", human)]
    for part, path in (("validation", validation), ("test", test)):
        used += used_rows(part, path, parts.get(part), how)
    start = time.perf_counter()
    judged_rows, note = None, None
    if human is not None:
        people = judged_labels(human, training, **how.of_judgments)
        ranker, training, judged_rows, note = train_sampled(ranker, training, people)
        parts["training"] = training.select(judged_rows)
    elif pairs is None:
        warn_of_one_ranking(data, training, how)
        warn_of_leaks(training)
        fit(ranker, training, parts.get("validation"))
    else:
        fit_pairs(ranker, training, pairs)
        del parts["training"]  # whose labels, if it has any, were not learned
    seconds = time.perf_counter() - start
    for part, path in (("validation", validation), ("test", test)):
        if path is not None:
            warn_of_seen_rows(ranker.model_, path, parts[part], history=(Step("fit", rows=tuple(used)),))
    judged = next(iter(parts.values()), None)
    measures: list[Any] = []
    with saving(ranker, model, card, used) as found:
        if judged is not None:
            measures = criterion_and_usual(ranker, judged)
            found |= evaluate_parts(ranker, parts, measures)
        if pairs is None:
            found |= evaluate_left_out(ranker, training, measures, judged_rows)
    if report is not None:
        files = [model, data, validation, test]
        write_page_of_new(report, ranker, parts, measures, files, parts.get("training"))
    show_result(ranker, training, model, seconds, found, json)
    if note is not None and not json:
        show_text([note])
