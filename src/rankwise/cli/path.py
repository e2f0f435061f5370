"""``rankwise path``: kernel RankSVM for all regularization strengths at once."""

from __future__ import annotations

import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankwise.cli import completion, learner_options, options
from rankwise.cli.card import CardOptions, saving, used_rows
from rankwise.cli.data_files import ReadOptions, files_to_read, warn_of_one_ranking
from rankwise.cli.interrupts import keeping_what_was_fitted
from rankwise.cli.learner_options import of_learner
from rankwise.cli.outputs import check_file, check_model
from rankwise.cli.paths import Input, Output
from rankwise.cli.screen import show_json, show_table
from rankwise.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from rankwise.rankers.ranksvm_path import RankSVMPath
    from rankwise.rows.ranking import RankingData

# Breakpoints in the table, evenly spaced in log alpha.
ROWS_SHOWN = 12
FORMATS = (".svg", ".png", ".pdf")


def _check_plot(file: Path) -> None:
    """Reject a plot that cannot be drawn before the work rather than after."""
    check_file(file)
    if find_spec("matplotlib") is None:
        raise MissingExtraError("--plot", "plot")
    if file.suffix not in FORMATS:
        raise ParameterError(f"--plot must name a file ending in {', '.join(FORMATS)}; got {file}.")


def run(
    data: options.Data,
    *,
    validation: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA",
            help="Judged rows for choosing alpha; the training data by default.",
            show_default=False,
        ),
        Input(files_to_read),
    ] = None,
    kernel: Annotated[
        str, of_learner("The kernel.", **completion.one_of("rbf", "linear", "polynomial"))
    ] = "rbf",
    gamma: Annotated[
        float | None,
        of_learner("Scale of the rbf or polynomial kernel; 1 / features by default."),
    ] = None,
    graph: Annotated[
        str, of_learner("All pairs, or about two per row.", **completion.one_of("full", "reduced"))
    ] = "full",
    weighting: Annotated[
        str,
        of_learner(
            "What counts equally: each query, pair or example.",
            **completion.one_of("query", "pair", "example"),
        ),
    ] = "query",
    columns: learner_options.Columns = None,
    settings: learner_options.Settings = None,
    measure: Annotated[
        str, typer.Option(help="The measure for choosing alpha.", **completion.measure())
    ] = "pairwise_error",
    model: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="File for the chosen model.", show_default=False),
        Output(check_model),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Plot the measure along the path (.svg, .png, .pdf).", show_default=False
        ),
        Output(_check_plot),
    ] = None,
    rows: options.FeatureOptions,
    report: options.Report = None,
    card: CardOptions,
    json: options.Json = False,
) -> None:
    """Compute kernel RankSVM for every regularization strength, and choose the best on validation rows."""
    from rankwise.cli.fitting import read_parts, show_columns
    from rankwise.cli.learners import make_learner, parse_columns
    from rankwise.cli.report import write_page_of_new
    from rankwise.metrics import get_measure

    get_measure(measure)
    became = parse_columns(columns)
    how = rows.how(as_table=became is not None)
    parts = read_parts(data, validation, how, rows.columns(), judgments=None)
    warn_of_one_ranking(data, parts["training"], how)
    *_, (part, judged) = parts.items()
    given = {"kernel": kernel, "gamma": gamma, "graph": graph, "weighting": weighting, "columns": became}
    ranker = make_learner({"path": "RankSVMPath"}, "path", given, settings or [])
    seconds = _follow(ranker, parts["training"])
    ranker.select(judged, measure=measure)
    if model is not None:
        _save(ranker, model, card, parts, {"training": data, "validation": validation}, how)
    if plot is not None:
        _draw(ranker, f"{measure} on {part} rows", plot)
    if report is not None:
        write_page_of_new(report, ranker, parts, [measure], [model, data, validation])
    if not json:
        show_columns(ranker)
    _report(ranker, f"{measure} ({part})", seconds, json)


def _save(
    ranker: RankSVMPath,
    model: Path,
    card: CardOptions,
    parts: dict[str, RankingData],
    files: dict[str, Path | None],
    how: ReadOptions,
) -> None:
    from rankwise.cli.fitting import evaluate_parts
    from rankwise.cli.reading import choose_measures

    used = [rows for part, data in parts.items() for rows in used_rows(part, files[part], data, how)]
    with saving(ranker, model, card, used) as found:
        found |= evaluate_parts(ranker, parts, choose_measures(None, parts["training"]))


def _follow(ranker: RankSVMPath, data: RankingData) -> float:
    start = time.perf_counter()
    with keeping_what_was_fitted(ranker):
        ranker.fit(data)
    return time.perf_counter() - start


def _report(ranker: RankSVMPath, column: str, seconds: float, json: bool) -> None:
    if json:
        show_json(
            {
                "alpha": ranker.alpha_,
                "seconds": seconds,
                "n_pairs": ranker.n_pairs_,
                "alphas": ranker.alphas_,
                "active_size": ranker.active_size_,
                "violation": ranker.violation_,
                "scores": ranker.scores_,
            }
        )
        return
    shown = _evenly_spaced(ranker)
    rows = [
        (
            f"{ranker.alphas_[t]:.4g}{' *' if ranker.alphas_[t] == ranker.alpha_ else ''}",
            int(ranker.active_size_[t]),
            float(ranker.scores_[t]),
        )
        for t in shown
    ]
    note = (
        f"{ranker.n_pairs_} pairs, {ranker.n_events_} events in {seconds:.2f} s; the optimality conditions "
        f"hold to within {ranker.violation_.max():.1e}; * chosen: alpha = {ranker.alpha_:.6g}"
    )
    show_table("Path", ["alpha", "on margin", column], rows, note)


def _evenly_spaced(ranker: RankSVMPath) -> list[int]:
    """A few breakpoints evenly spaced in log alpha, including the chosen one."""
    import numpy as np

    wanted = np.geomspace(ranker.alphas_[0], ranker.alphas_[-1], ROWS_SHOWN)
    nearest = np.searchsorted(ranker.alphas_, wanted).clip(0, ranker.n_events_)
    chosen = int(np.argmax(ranker.alphas_ == ranker.alpha_))
    return sorted({*nearest.tolist(), chosen})


def _draw(ranker: RankSVMPath, title: str, file: Path) -> None:
    from rankwise.files import replacing_file

    with replacing_file(file) as beside:
        ranker.plot(title).savefig(beside, format=file.suffix[1:])
