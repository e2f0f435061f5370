"""``rankwise audit``: what is wrong with a table, and judgments to check again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli import completion, learner_options, options
from rankwise.cli.data_files import data_files, is_table
from rankwise.cli.exit_codes import ExitCode
from rankwise.cli.learner_options import of_learner
from rankwise.cli.learners import SELECTORS, make_learner, parse_columns
from rankwise.cli.paths import Input, Output
from rankwise.cli.screen import show_json, show_table, show_text
from rankwise.errors import ParameterError
from rankwise.long_tasks import task
from rankwise.rendering import printable

if TYPE_CHECKING:
    from rankwise.auditing.faults import Fault
    from rankwise.auditing.findings import Audit
    from rankwise.auditing.raw_table import RawTable
    from rankwise.auditing.table_audit import TableAudit
    from rankwise.cli.data_files import ReadOptions
    from rankwise.rows.ranking import RankingData
    from rankwise.rows.ratings import Ratings

# Up to so many columns with the same fault are shown in full, of more the first ones; some are only named.
MOST_ALIKE, FIRST_ALIKE, NAMED_ALIKE = 5, 2, 10
HEADINGS = {"must fix": "Must be fixed", "look": "Worth a look", "note": "To know"}


def run(
    data: options.Data,
    *,
    fix: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE",
            help="Write a copy of the table with everything repaired that can be repaired safely, and "
            "list the changes.",
            show_default=False,
        ),
        Output(),
    ] = None,
    learner: Annotated[
        str,
        of_learner(
            f"What scores left-out queries: {', '.join(SELECTORS)}.",
            **completion.one_of(*SELECTORS, listed=False),
            metavar="LEARNER",
        ),
    ] = "rankrls",
    count: Annotated[
        int,
        typer.Option(min=0, help="The number of rows, and of pairs, to list; with 0, no model is trained."),
    ] = 20,
    reveals: Annotated[
        float,
        typer.Option(help="Report features that order at least this fraction of the pairs on their own."),
    ] = 0.99,
    csv: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the rows to judge again to a table.", show_default=False),
        Output(),
    ] = None,
    columns: learner_options.Columns = None,
    settings: learner_options.Settings = None,
    rows: options.FeatureOptions,
    judgments: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Labels instead of those of the data: a table of qid,doc,label[,weight], or of "
            "qid,doc,label,rater by several raters, whose judgments are then audited one by one.",
            rich_help_panel=options.ROWS,
            show_default=False,
        ),
        Input(),
    ] = None,
    json: options.Json = False,
) -> None:
    """List all faults of a table, and judgments that models trained on other queries contradict.

    The exit code is 1 if something must be fixed before training.
    """
    from rankwise.auditing.table_audit import audit_table
    from rankwise.cli.data_files import warn_of_one_ranking
    from rankwise.cli.fitting import read_parts
    from rankwise.raters.joining import pooled_rows
    from rankwise.readers.rating_files import has_raters, load_ratings
    from rankwise.validation import check_number

    ranker = make_learner(SELECTORS, learner, {"columns": parse_columns(columns)}, settings or [])
    check_number("reveals", reveals, minimum=0.5, maximum=1.0)
    how = rows.how(labelled=judgments is None, as_table=columns is not None)
    ratings = None
    if judgments is not None and has_raters(judgments):
        ratings = load_ratings(judgments, scale=None, **how.of_judgments)
    raw = judgments is None and all(map(is_table, data_files(data)))
    _check_fix(fix, data, raw)
    with task("Looking at columns"):
        if raw:
            read = None
            table = _raw_table(data, how, rows.columns())
        else:
            labels = judgments if ratings is None else None
            read = read_parts(data, None, how, rows.columns(), labels)["training"]
            if ratings is not None:
                read, ratings = pooled_rows(read, ratings)
            table = _table_of(read)
        found = audit_table(table, reveals=reveals)
    said = [] if fix is None else _fix(data, how, table, found, fix)
    judge_again = None
    if not found.must_fix and fix is None and count:
        if raw and columns is None and found.needs_encoding:
            ranker.set_params(columns="auto")
            how = rows.how(as_table=True)
        if read is None:
            read = read_parts(data, None, how, rows.columns(), None)["training"]
        warn_of_one_ranking(data, read, how)
        judge_again = _judgments(read, ranker, count, reveals, ratings)
        if csv is not None:
            _write(judge_again, csv)
    if json:
        facts: dict[str, Any] = {"faults": [fault.to_dict() for fault in found.faults]}
        facts |= {"changes": said} if fix is not None else {}
        show_json(facts | ({} if judge_again is None else judge_again.to_dict()))
    else:
        _show_faults(data, found, said, repairs=raw)
        if judge_again is not None:
            _show(judge_again, count)
            if csv is not None:
                typer.echo(printable(f"Written to {csv}"))
    if any(fault.repair is None or fix is None for fault in found.must_fix):
        raise typer.Exit(ExitCode.ERROR)


def _raw_table(data: Path, how: ReadOptions, features: list[str] | None) -> RawTable:
    """The columns of a table in one file or several, none of which has been checked."""
    from rankwise.auditing.raw_table import RawTable
    from rankwise.errors import blaming
    from rankwise.readers.arrow_tables import open_columns
    from rankwise.rows.table import Table, stacked

    files, roles = data_files(data), [name for name in (how.qid_column, how.doc) if name]
    opened = [open_columns(path, roles) for path in files]
    with blaming(files[0]):
        names = opened[0][0]
        return RawTable.of_columns(
            names,
            sum(n_rows for _, n_rows, _ in opened),
            lambda name: stacked([Table({name: column(name)}) for _, _, column in opened]).columns[name],
            label=how.label_column or "label",
            qid=how.qid_column,
            doc=how.doc,
            features=features,
            exclude=how.exclude,
        )


def _table_of(data: RankingData) -> RawTable:
    from rankwise.auditing.raw_table import RawTable

    return RawTable.of_data(data)


def _judgments(data: RankingData, ranker: Any, count: int, reveals: float, ratings: Ratings | None) -> Audit:
    from rankwise.auditing.audit_data import audit

    with task("Leaving out queries"):
        return audit(data, ranker=ranker, n_suspects=count, reveals=reveals, ratings=ratings)


def _check_fix(fix: Path | None, data: Path, raw: bool) -> None:
    from rankwise.readers.arrow_tables import check_table_name

    if fix is None:
        return
    check_table_name(fix)
    if not raw or len(data_files(data)) > 1:
        raise ParameterError(f"{data}: --fix repairs one .csv, .tsv or .parquet table.")


def _fix(data: Path, how: ReadOptions, table: RawTable, found: TableAudit, out: Path) -> list[str]:
    from rankwise.auditing.faults import fixed
    from rankwise.readers.arrow_tables import read_columns_of, write_table

    (path,) = data_files(data)
    arrow = read_columns_of(path, None, [name for name in (how.qid_column, how.doc) if name])
    repaired, said = fixed(arrow, table, found.faults)
    write_table(repaired, out)
    return [*said, f"Written to {out}: {repaired.num_rows:,} rows, {repaired.num_columns} columns."]


def _show_faults(data: Path, found: TableAudit, said: list[str], *, repairs: bool) -> None:
    queries = "" if found.n_queries is None else f", {found.n_queries:,} queries"
    lines = [f"{data}: {found.n_rows:,} rows{queries}"]
    for severity, heading in HEADINGS.items():
        these = [fault for fault in found.faults if fault.severity == severity]
        lines += ["", f"{heading}:", *_listed(these, repairs=repairs)] if these else []
    if not found.faults:
        lines.append("No faults were found in its columns, labels and queries.")
    show_text([*lines, "", *([*said, ""] if said else [])])


def _listed(faults: list[Fault], *, repairs: bool) -> Iterator[str]:
    """A line for each fault; of many columns with the same one, only the first in full."""
    for kind in dict.fromkeys(fault.kind for fault in faults):
        alike = [fault for fault in faults if fault.kind == kind]
        shown = alike if len(alike) <= MOST_ALIKE else alike[:FIRST_ALIKE]
        for fault in shown:
            yield f"- {fault}{f' --fix: {fault.repair}.' if repairs and fault.repair else ''}"
        if rest := [str(fault.column) for fault in alike[len(shown) :]]:
            more = f" and {len(rest) - NAMED_ALIKE:,} more" if len(rest) > NAMED_ALIKE else ""
            named = ", ".join(map(repr, rest[:NAMED_ALIKE]))
            yield f"- {kind}: the same of {len(rest):,} more columns, {named}{more}; --json lists them all."


def _show(found: Audit, count: int) -> None:
    for title, (header, rows) in found.tables().items():
        more = f"... and {len(rows) - count:,} more; --json lists them all" if len(rows) > count else None
        show_table(title, header, rows[:count], more)
    if found.calibration is None:
        typer.echo("All scores of left-out queries are equal, so no judgment contradicts them.")


def _write(found: Audit, path: Path) -> None:
    from rankwise.readers.delimited import write_delimited

    columns = {"qid": "query", "doc": "doc", "label": "label"}  # named as in a file of judgments
    columns |= {name: name for name in ("row", "score", "judged", "probability")}
    rows = ([getattr(row, name) for name in columns.values()] for row in found.rows)
    write_delimited(path, list(columns), rows)
