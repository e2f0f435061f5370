"""``rankwise select``: train a model with alpha and other settings chosen from the data."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli import options
from rankwise.cli.fitting import (
    fit,
    fit_pairs,
    measure_parts,
    read_parts,
    show_columns,
    show_quality,
    summary,
)
from rankwise.cli.learners import (
    PATHS,
    SELECTORS,
    make_learner,
    parse_by_feature,
    parse_choices,
    parse_columns,
    parse_numbers,
)
from rankwise.cli.paths import Input
from rankwise.cli.screen import show_json, show_table
from rankwise.errors import ParameterError
from rankwise.numerals import is_whole

if TYPE_CHECKING:
    from pathlib import Path

    from rankwise.metrics import Measure
    from rankwise.rows.ranking import RankingData


def run(
    data: options.Data,
    model: options.ModelOut,
    learner: Annotated[
        str, options.of_learner(f"One of: {', '.join(SELECTORS)}; the first by default.")
    ] = "rankrls",
    measure: Annotated[
        str | None, options.of_learner("The selection criterion; pairwise_error by default.")
    ] = None,
    preset: options.Preset = None,
    alphas: Annotated[
        str | None,
        options.of_learner(
            "Values to choose from, such as 0.1,1,10 or 2^-3..2^3; 2^-15..2^15 by default, or 15 values from "
            "1e-7 to 1 for ranksvm."
        ),
    ] = None,
    cv: Annotated[
        str | None,
        options.of_learner(
            "auto (the default), leave-query-out, leave-pair-out or a number of folds; auto means "
            "leave-query-out where it is exact and 5 folds elsewhere (ranksvm, --pairs, conjugate gradient)."
        ),
    ] = None,
    ties: Annotated[str | None, options.of_learner("keep, drop, or keep,drop to choose.")] = None,
    weighting: Annotated[
        str | None, options.of_learner("example, pair, query, or several to choose from.")
    ] = None,
    kernel: Annotated[str | None, options.of_learner("rbf, linear or polynomial.")] = None,
    gamma: Annotated[
        str | None, options.of_learner("Scales of the rbf or polynomial kernel to choose from.")
    ] = None,
    basis: Annotated[int | None, options.of_learner("Number of basis vectors of a kernel model.")] = None,
    monotonic_cst: options.MonotonicCst = None,
    features_at_most: Annotated[
        int | None,
        options.of_learner(
            "Choose features, too: greedily, up to this number, with a table of what each adds."
        ),
    ] = None,
    feature_costs: Annotated[
        str | None,
        typer.Option(
            metavar="A=2,B=0.5,...|FILE",
            help="What features cost, or a JSON file of it; 1 by default (with --features-at-most).",
            rich_help_panel="Learner",
            show_default=False,
        ),
        Input(),
    ] = None,
    columns: options.Columns = None,
    settings: options.Settings = None,
    judgments: options.Judgments = None,
    pairs: options.Pairs = None,
    validation: options.Validation = None,
    label: options.Label = "label",
    qid: options.Qid = "qid",
    doc: options.Doc = None,
    features: options.Features = None,
    exclude: options.Exclude = None,
    zero_based: options.ZeroBased = None,
    scale: options.Scale = False,
    merge_queries: options.MergeQueries = False,
    report: options.Report = None,
    threads: options.Threads = None,
    json: options.Json = False,
) -> None:
    """Choose alpha by exact leave-query-out, on folds or on validation data, and write the best model.

    With --pairs, both the choice and the model depend on the preferences only, not on labels.
    """
    from rankwise.cli.data_files import ReadOptions, warn_of_one_ranking
    from rankwise.cli.inputs import excluded, split_list

    if pairs is not None and report is not None:
        raise ParameterError("--report cannot be used with --pairs, because it measures labels.")
    if pairs is not None and validation is not None:
        raise ParameterError("--validation cannot be used with --pairs, which uses folds of the preferences.")
    if preset is not None:
        measure = f"{preset}:{measure or 'pairwise_error'}"
    if pairs is not None and judgments is not None:
        raise ParameterError("--judgments cannot be used with --pairs.")
    given = {
        "alphas": None if alphas is None else parse_numbers(alphas),
        "cv": int(cv) if cv is not None and is_whole(cv.removeprefix("-")) else cv,
        "measure": measure,
        "ties": parse_choices(ties),
        "weighting": parse_choices(weighting),
        "kernel": kernel,
        "gamma": None if gamma is None else parse_numbers(gamma),
        "basis": basis,
        "monotonic_cst": parse_by_feature("--monotonic-cst", monotonic_cst),
        "columns": parse_columns(columns),
    }
    if features_at_most is None and feature_costs is not None:
        raise ParameterError("--feature-costs requires --features-at-most.")
    classes = SELECTORS
    if features_at_most is not None:
        if not (pairs is None and validation is None):
            raise ParameterError("--features-at-most cannot be used with --pairs or --validation.")
        costs = parse_by_feature("--feature-costs", feature_costs)
        classes, given = PATHS, given | {"max_features": features_at_most, "feature_costs": costs}
    ranker = make_learner(classes, learner, given, settings or [])
    left_out = excluded(exclude, features)
    labelled = pairs is None and judgments is None
    how = ReadOptions(
        label, qid, doc, zero_based, scale, merge_queries, left_out, labelled, columns is not None
    )
    parts, weight = read_parts(data, validation, how, split_list(features), judgments)
    start = time.perf_counter()
    if pairs is None:
        warn_of_one_ranking(data, parts["training"], how)
        fit(ranker, parts["training"], parts.get("validation"), weight)
    else:
        fit_pairs(ranker, parts["training"], pairs, with_labels=False)
    seconds = time.perf_counter() - start
    ranker.save(model)
    if report is not None:
        files = [model, data] if validation is None else [model, data, validation]
        _write_page(report, ranker, parts, preset, files, weighted=weight is not None)
    if features_at_most is not None:
        done = summary(ranker, parts["training"], seconds, model)
        show_features(ranker, {"model": str(model), "seconds": seconds}, done, json=json)
        return
    if json:
        show_json({"model": str(model), "seconds": seconds, **_choice(ranker)})
        return
    show_columns(ranker)
    done = f"Chosen: {_chosen(ranker)}\n{summary(ranker, parts['training'], seconds, model)}"
    show_scores(ranker, note=done if pairs else None)
    if pairs is None:
        _show_quality(ranker, parts, preset, done)


def show_scores(ranker: Any, note: str | None) -> None:
    """Show the score of each alpha and setting that was tried."""
    from rankwise.selection.search import distinguished

    choice = _choice(ranker)
    names = [distinguished(setting, choice["settings"]) or "score" for setting in choice["settings"]]
    lines = [
        (f"{alpha:.6g}", *scores, "best" if alpha == ranker.best_["alpha"] else "")
        for alpha, scores in zip(ranker.alphas_.tolist(), choice["scores"].T.tolist(), strict=True)
    ]
    show_table(f"{ranker.measure} by {ranker.cv_}", ["alpha", *names, ""], lines, note)


def show_features(ranker: Any, run: dict[str, Any], done: str, *, json: bool) -> None:
    """Show what each feature adds, and which size was chosen."""
    table = ranker.path_table()
    if json:
        show_json(
            {**run, "cv": ranker.cv_, "measure": ranker.measure, "path": table, "chosen": ranker.n_features_}
        )
        return
    columns = [name for name in table[0] if name != "criterion"]
    lines = [
        (*(row[name] for name in columns), "chosen" if row["n_features"] == ranker.n_features_ else "")
        for row in table
    ]
    heading = [name.replace("_", " ") for name in columns]
    show_table(f"{ranker.measure} on {ranker.cv_}", [*heading, ""], lines, done)


def _show_quality(ranker: Any, parts: dict[str, RankingData], preset: str | None, done: str) -> None:
    means = measure_parts(ranker, parts, _measures(ranker, parts, preset))
    show_quality("Quality of the chosen model", means, done)


def _measures(ranker: Any, parts: dict[str, RankingData], preset: str | None) -> list[Measure]:
    """The criterion, and the usual measures for the labels."""
    from rankwise.cli.inputs import choose_measures
    from rankwise.metrics import get_measure

    criterion, usual = get_measure(ranker.measure), choose_measures(None, parts["training"], preset)
    return [criterion, *(measure for measure in usual if measure.name != criterion.name)]


def _write_page(
    report: Path,
    ranker: Any,
    parts: dict[str, RankingData],
    preset: str | None,
    files: list[Path],
    *,
    weighted: bool,
) -> None:
    """Report on the validation data or, without any, on the training data."""
    from rankwise.cli.report import note_on, write_page
    from rankwise.report.judged import Judged

    part, rows = list(parts.items())[-1]
    write_page(
        report,
        {type(ranker).__name__: ranker},
        Judged.of_data(rows),
        _measures(ranker, parts, preset),
        title=f"{type(ranker).__name__} on {part} data",
        training=None if weighted else parts["training"],
        note=note_on(part),
        files=files,
    )


def _chosen(ranker: Any) -> str:
    # Where the default was used, the fitted parameter has the actual value.
    best = {name: getattr(ranker, f"{name}_", value) for name, value in ranker.best_.items()}
    return ", ".join(
        f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in best.items()
    )


def _choice(ranker: Any) -> dict[str, Any]:
    return {
        "cv": ranker.cv_,
        "measure": ranker.measure,
        "alphas": ranker.alphas_,
        "settings": ranker.settings_,
        "scores": ranker.scores_,
        "best": ranker.best_,
    }
