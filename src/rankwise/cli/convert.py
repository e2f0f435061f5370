"""``rankwise convert``: convert data between formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from rankwise.cli import options
from rankwise.cli.outputs import check_destination, check_file
from rankwise.cli.paths import Input, Output
from rankwise.cli.screen import confirm
from rankwise.errors import ParameterError
from rankwise.long_tasks import step, task

if TYPE_CHECKING:
    from rankwise.cli.data_files import ReadOptions
    from rankwise.rows.ranking import RankingData

# File extensions of LETOR text.
TEXT = (".txt", ".letor", ".dat", ".svm", ".svmlight", ".libsvm")


def run(
    data: options.Data,
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            help="A .store folder, or LETOR text (.txt or similar, optionally with .gz, .xz or .bz2); with "
            "--parts, a folder of stores.",
            show_default=False,
        ),
        Output(check_destination),
    ],
    *,
    judgments: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Judgments of the documents of DATA, a feature log of a search engine (.json, .jsonl): TREC "
            "qrels, or a table with the columns --qid, --doc and --label.",
            show_default=False,
        ),
        Input(),
    ] = None,
    row_options: options.FeatureOptions,
    parts: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Divide the queries into this many stores OUT/part-*.store, for train --dask.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Convert data between formats; text is streamed to a memory-mapped store in bounded memory."""
    import rankwise
    from rankwise.cli.data_files import data_files, is_log, is_table, read_data
    from rankwise.readers.store import save_parts
    from rankwise.readers.text import COMPRESSED

    to_store = out.suffix == ".store" or parts is not None
    kind = Path(out.stem).suffix if out.suffix.lower() in COMPRESSED else out.suffix
    if not to_store and kind.lower() not in TEXT:
        raise ParameterError(
            f"{out}: the output name must end in .store or, for LETOR text, in one of "
            f"{', '.join(TEXT)}, optionally followed by one of {', '.join(COMPRESSED)}."
        )
    if not to_store:
        check_file(out)
    how = row_options.how()
    logged = judgments is not None or any(map(is_log, data_files(data)))
    if logged and how.chosen_by is not None:
        raise ParameterError(f"{how.chosen_by} selects the columns of tables, not those of a feature log.")
    files = data_files(data)
    how.check_columns([] if logged else files)
    streams = not (logged or how.scale or any(f.is_dir() or is_table(f) for f in files))
    if to_store and streams and parts is None:
        stream(files, out, how)
        confirm(out, describe(rankwise.open_store(out)))
        return
    with ExitStack() as stack:
        if streams and parts is not None:  # which may not fit in memory
            beside = Path(stack.enter_context(TemporaryDirectory(dir=out.absolute().parent))) / "all.store"
            stream(files, beside, how)
            rows = rankwise.open_store(beside)
        elif logged:
            rows = read_log(data, judgments, how)
        else:
            rows = read_data(data, how, features=row_options.columns())
        stack.enter_context(task(f"Writing {out.name}"))
        if parts is not None:
            save_parts(rows, out, parts)
        else:
            (rankwise.save_store if to_store else rankwise.save_letor)(rows, out)
        written = describe(rows)
    confirm(out, written)


def describe(rows: RankingData) -> str:
    return f"{rows.n_rows:,} rows, {rows.n_queries:,} queries, {rows.n_features:,} features"


def stream(files: Sequence[Path], out: Path, how: ReadOptions) -> None:
    """Convert text to a store in bounded memory."""
    from rankwise.readers.letor_to_store import convert_letor

    with task(f"Converting {files[0].name}{' and others' if len(files) > 1 else ''}"):
        convert_letor(
            files,
            out,
            zero_based="auto" if how.zero_based is None else how.zero_based,
            merge_queries=how.merge_queries,
            progress=lambda done, total: step(done=done / max(total, 1)),
        )


def read_log(data: Path, judgments: Path | None, how: ReadOptions) -> RankingData:
    """Read a feature log joined to judgments."""
    from rankwise.cli.data_files import data_files, is_table
    from rankwise.readers.feature_logs import load_feature_log
    from rankwise.readers.tables import read_judgments
    from rankwise.rows.documents import values_by_name
    from rankwise.trec import load_qrels

    if judgments is None:
        raise ParameterError(f"{data}: a feature log needs --judgments, a file of TREC qrels or a table.")
    judged: Mapping[str, Mapping[str, float]]
    if is_table(judgments):
        rows = read_judgments(judgments, **how.of_judgments)
        judged = values_by_name(rows, rows.y.tolist())
    else:
        judged = load_qrels(judgments)
    with task(f"Reading {data.name}"):
        found = load_feature_log(data_files(data), judged)
    return found.scale_per_query() if how.scale else found
