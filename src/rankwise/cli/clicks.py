"""``rankwise clicks``: what a click log holds, whether position matters, and training data from it."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli import completion, options
from rankwise.cli.data_files import ReadOptions, data_files, files_to_read, is_table
from rankwise.cli.paths import Input, Output
from rankwise.cli.screen import show_facts, show_json, show_table, show_text
from rankwise.errors import DataError, ParameterError
from rankwise.long_tasks import task
from rankwise.numerals import read_float
from rankwise.rendering import printable

if TYPE_CHECKING:
    from rankwise.clicks.likelihood import ClickLikelihood
    from rankwise.clicks.log import ClickLog
    from rankwise.rows.ranking import RankingData

# What --to writes, in words.
FORMS = {"rows": "weighted rows", "grades": "graded rows", "pairs": "weighted pairs"}
POSITION_COLUMNS = ("position", "results shown", "clicks per result", "users who look")
SHOWN_POSITIONS = 10


def of_log(help: str) -> Any:
    return typer.Option(help=help, rich_help_panel="Columns of the log", show_default=False)


def run(
    log: Annotated[
        Path,
        typer.Argument(
            metavar="LOG",
            help="A .csv or .parquet table with one row per result shown, clicked or not, or with counts; or "
            "queries and events of User Behavior Insights (.ndjson).",
            show_default=False,
        ),
        Input(),
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA",
            help="The rows with features, in any format; matched by query and document.",
            show_default=False,
        ),
        Input(files_to_read),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Training data to write; requires --data.", show_default=False),
        Output(),
    ] = None,
    to: Annotated[
        str,
        typer.Option(
            **completion.one_of(*FORMS),
            help="What to write: rows (labelled with clicks divided by expected clicks, and weighted) or "
            "grades, for --judgments of 'train'; or pairs, for --pairs.",
        ),
    ] = "rows",
    correct: Annotated[
        bool | None,
        typer.Option(
            "--correct/--no-correct",
            help="Correct for position bias; by default, only if held-out sessions show one.",
            show_default=False,
        ),
    ] = None,
    qid: Annotated[str, of_log("The column of query labels, 'qid' by default.")] = "qid",
    doc: Annotated[str, of_log("The column of document labels, 'doc' by default.")] = "doc",
    clicked: Annotated[
        str | None,
        typer.Option(
            "--clicked",
            "--clicks",
            "--signals",
            metavar="COLUMN|A=1,B=10,...",
            help="The column that is 1 where the result was clicked, or counts clicks, 'clicked' or 'clicks' "
            "by default; or several such columns with their weights, as in clicks=1,purchases=10.",
            rich_help_panel="Columns of the log",
            show_default=False,
        ),
    ] = None,
    position: Annotated[
        str | None, of_log("The column of positions from 1, 'position' if there is one; '' for none.")
    ] = None,
    session: Annotated[
        str | None, of_log("The column of session labels, 'session' if there is one; '' for none.")
    ] = None,
    impressions: Annotated[
        str | None,
        of_log("The column that counts how often a result was shown, 'impressions' if there is one."),
    ] = None,
    data_qid: Annotated[
        str | None,
        typer.Option(
            help="The column of query labels in DATA; --qid by default.",
            rich_help_panel="Columns of the data",
        ),
    ] = None,
    data_doc: Annotated[
        str | None,
        typer.Option(
            help="The column of document labels in DATA; --doc by default.",
            rich_help_panel="Columns of the data",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Describe a click log, test whether clicks depend on the position, and write training data."""
    from rankwise.cli.reading import read_names
    from rankwise.clicks.log_files import read_click_log

    _check_options(data, out, to)
    with task(f"Reading {log.name}"):
        shown = read_click_log(
            log,
            query=qid,
            doc=doc,
            clicked=_signals(clicked),
            position=position,
            session=session,
            impressions=impressions,
            propensity=1.0,
        )
    with task("Predicting held-out clicks"):
        likelihood, obstacle = _likelihood(shown)
        if correct is None:
            correct = likelihood is not None and likelihood.has_bias
        if correct:
            shown = shown.with_propensity()
    facts, n_written = _facts(shown), None
    how = ReadOptions(qid=data_qid or qid, doc=data_doc or doc)
    if data is not None:
        rows = read_names(data, how)
        matched = shown.match(rows)
        facts["results in DATA"] = int(matched.times().sum())
        n_written = None if out is None else _write(matched, rows, to, out)
    positions = _positions(shown)
    if json:
        show_json(
            {
                **facts,
                "likelihood": None if likelihood is None else asdict(likelihood),
                "corrected": correct,
                "positions": positions,
                "written": None if out is None else {"path": str(out), "form": to, "entries": n_written},
            }
        )
        return
    show_facts(f"Click log {log.name}", facts)
    if likelihood is None:
        typer.echo(printable(obstacle))
    else:
        _show_likelihood(likelihood, "held-out sessions" if shown.shown is None else "queries, held out")
    _show_positions(positions, correct, likelihood)
    if out is not None and data is not None:
        typer.echo(printable(f"{n_written:,} {FORMS[to]} written to {out}; to train on them:"))
        typer.echo(printable(f"  {_next_step(data, how, to, out)}"))


def _check_options(data: Path | None, out: Path | None, to: str) -> None:
    if to not in FORMS:
        raise ParameterError(f"--to must be one of {', '.join(FORMS)}; got {to!r}.")
    if out is not None and data is None:
        raise ParameterError("--out requires --data, the rows with features that are trained on.")


def _signals(clicked: str | None) -> str | dict[str, float] | None:
    """A column, or columns with their weights."""
    from rankwise.cli.reading import split_list

    if clicked is None or "=" not in clicked:
        return clicked
    weights: dict[str, float] = {}
    for part in split_list(clicked) or []:
        name, _, weight = part.rpartition("=")
        try:
            weights[name] = read_float(weight)
        except ValueError:
            name = ""
        if not name:
            raise ParameterError(f"--signals expects clicks=1,purchases=10 or the like; got {part!r}.")
    return weights


def _likelihood(log: ClickLog) -> tuple[ClickLikelihood | None, str]:
    """The held-out likelihood or, if the position bias cannot be estimated, None and the reason."""
    from rankwise.clicks.likelihood import click_likelihood

    if log.position.max() == 1:
        return None, "The log has no positions of results (--position)."
    try:
        return click_likelihood(log), ""
    except DataError as error:
        return None, str(error)


def _facts(log: ClickLog) -> dict[str, Any]:
    n_clicks, n_shown = int(log.clicked.sum()), int(log.times().sum())
    assert log.qid is not None
    return {
        **({"sessions": log.n_sessions} if log.shown is None else {}),
        "queries": len(set(log.qid.tolist())),
        "documents": len(log.qid),
        "results shown": n_shown,
        "clicks": n_clicks,
        "clicks per result": n_clicks / n_shown,
    }


def _positions(log: ClickLog) -> list[dict[str, Any]]:
    """Of each position: how many results were shown there, clicks per result, and how many users look."""
    import numpy as np

    found, at = np.unique(log.position, return_inverse=True)
    times = log.times()
    count = np.bincount(at, times)
    rate = np.bincount(at, log.clicked) / count
    look = np.bincount(at, log.propensity * times) / count
    columns = zip(found.tolist(), count.astype(int).tolist(), rate.tolist(), look.tolist(), strict=True)
    return [dict(zip(POSITION_COLUMNS, line, strict=True)) for line in columns]


def _write(log: ClickLog, rows: RankingData, to: str, out: Path) -> int:
    """Write training data in the requested form; return the number of rows or pairs."""
    from rankwise.clicks.training_data import grades_from_clicks, pairs_from_clicks, rows_from_clicks
    from rankwise.readers.judgment_files import save_judgments
    from rankwise.readers.pair_files import save_pairs

    if to == "pairs":
        pairs = pairs_from_clicks(log)
        save_pairs(pairs, out, data=rows)
        return len(pairs.pairs)
    if to == "grades":
        graded = grades_from_clicks(log, rows)
        save_judgments(graded, out)
        return graded.n_rows
    labelled = rows_from_clicks(log, rows)
    save_judgments(labelled, out)
    return labelled.n_rows


def _show_likelihood(likelihood: ClickLikelihood, unit: str) -> None:
    from rankwise.clicks.likelihood import LIKELIHOOD_HEADER

    low, high = likelihood.interval
    show_table(
        f"Clicks of {likelihood.n_sessions:,} {unit}",
        LIKELIHOOD_HEADER,
        likelihood.rows,
        f"Gain per result {likelihood.gain:.5f}, 95 % interval {low:.5f} to {high:.5f}",
    )


def _show_positions(
    positions: list[dict[str, Any]], correct: bool, likelihood: ClickLikelihood | None
) -> None:
    columns = POSITION_COLUMNS if correct else POSITION_COLUMNS[:-1]
    lines = [[line[name] for name in columns] for line in positions[:SHOWN_POSITIONS]]
    if len(positions) == 1:  # counts without positions, of which the facts say everything
        show_text([_conclusion(correct, likelihood)])
        return
    more = f" (the first {len(lines)} of {len(positions)})" if len(lines) < len(positions) else ""
    show_table(f"Positions{more}", columns, lines, _conclusion(correct, likelihood))


def _conclusion(correct: bool, likelihood: ClickLikelihood | None) -> str:
    done = "Labels are corrected for the position" if correct else "Labels are not corrected for the position"
    if likelihood is None:
        return f"{done}: its effect cannot be estimated from this log."
    if likelihood.has_bias:
        told = "the position helps predict clicks"
        hint = "whether a model gains from the correction depends on the engine that wrote the log"
        return f"{done}; {told}, but {hint} (docs/clicks.md)."
    return f"{done}; it does not reliably help predict clicks."


def _next_step(data: Path, how: ReadOptions, to: str, out: Path) -> str:
    """The command that trains on what was written."""
    from rankwise.readers.arrow_tables import columns_beside_numbers

    columns = ["--qid", str(how.qid_column), "--doc", str(how.doc)] if is_table(data) else []
    others = {name for file in data_files(data) if is_table(file) for name in columns_beside_numbers(file)}
    if others - {how.label_column, how.qid_column, how.doc}:
        columns += ["--columns", "auto"]
    file = "--pairs" if to == "pairs" else "--judgments"
    return shlex.join(["rankwise", "train", str(data), "MODEL", file, str(out), *columns])
