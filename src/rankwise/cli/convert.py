"""``rankwise convert``: convert data between formats."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankwise.cli import options
from rankwise.cli.screen import progress
from rankwise.errors import ParameterError

# File extensions of LETOR text.
TEXT = (".txt", ".letor", ".dat", ".svm", ".svmlight", ".libsvm")


def run(
    data: options.Data,
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            help="A .store folder, or LETOR text (.txt or similar, optionally with .gz, .xz or .bz2).",
            show_default=False,
        ),
    ],
    scale: options.Scale = False,
    label: options.Label = "label",
    qid: options.Qid = "qid",
    doc: options.Doc = None,
    features: options.Features = None,
    zero_based: options.ZeroBased = None,
    merge_queries: options.MergeQueries = False,
    threads: options.Threads = None,
) -> None:
    """Convert data between formats; text is streamed to a memory-mapped store in bounded memory."""
    import rankwise
    from rankwise.cli.data_files import ReadOptions, data_files, find_group_sizes, is_table, read_data
    from rankwise.cli.inputs import check_destination, check_output, split_list
    from rankwise.data.text import COMPRESSED

    to_store = out.suffix == ".store"
    kind = Path(out.stem).suffix if out.suffix.lower() in COMPRESSED else out.suffix
    if not to_store and kind.lower() not in TEXT:
        raise ParameterError(
            f"{out}: the output name must end in .store or, for LETOR text, in one of "
            f"{', '.join(TEXT)}, optionally followed by one of {', '.join(COMPRESSED)}."
        )
    (check_destination if to_store else check_output)(out, data)
    files = data_files(data)
    streams = not (scale or any(f.is_dir() or is_table(f) or find_group_sizes(f) for f in files))
    if to_store and streams:
        with progress(f"Converting {data.name}") as advance:
            rankwise.convert_letor(
                files,
                out,
                zero_based="auto" if zero_based is None else zero_based,
                merge_queries=merge_queries,
                progress=lambda done, total: advance(done / max(total, 1)),
            )
        return
    rows = read_data(
        data, ReadOptions(label, qid, doc, zero_based, scale, merge_queries), features=split_list(features)
    )
    with progress(f"Writing {out.name}"):
        (rankwise.save_store if to_store else rankwise.save_letor)(rows, out)
