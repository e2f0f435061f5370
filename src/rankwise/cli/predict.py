"""``rankwise predict``: score rows with a model."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from rankwise.cli import options
from rankwise.errors import DataError

if TYPE_CHECKING:
    from rankwise.data.ranking import RankingData
    from rankwise.types import AnyArray, Floats


def run(
    data: options.Data,
    model: options.Model,
    out: Annotated[
        Path | None, typer.Option(help="Write to this file instead of standard output.", show_default=False)
    ] = None,
    trec: Annotated[
        bool, typer.Option("--trec", help="Write a TREC run: qid Q0 doc rank score tag.")
    ] = False,
    tag: Annotated[str, typer.Option(help="The tag in the last column of a TREC run.")] = "rankwise",
    label: Annotated[
        str | None, typer.Option(help="A label column to ignore.", rich_help_panel="Tables")
    ] = None,
    qid: Annotated[
        str | None,
        typer.Option(help="The column of query labels; qid by default, if needed.", rich_help_panel="Tables"),
    ] = None,
    doc: options.Doc = None,
    zero_based: options.ZeroBased = None,
    threads: options.Threads = None,
) -> None:
    """Score rows with a model: one score per line, in the order of the data."""
    from rankwise.cli.inputs import (
        ReadOptions,
        check_scores_output,
        load_model,
        predict_scores,
        read_for_model,
    )

    if out is not None:
        check_scores_output(out, data, model)
    ranker = load_model(model)
    by_query = trec or ranker.scaled_per_query
    how = ReadOptions(label, qid or ("qid" if by_query else None), doc, zero_based)
    rows = read_for_model(data, how, ranker)
    scores = predict_scores(ranker, rows)
    with _writing(out) as file:
        if trec:
            write_trec(file, rows, scores, tag)
        else:
            file.writelines(f"{score!r}\n" for score in scores.tolist())


def write_trec(file: TextIO, rows: RankingData, scores: Floats, tag: str) -> None:
    """Write a TREC run: queries in order of appearance, best rows first, tied rows in data order.

    Rows without document labels are named by their row number, counted from 1.
    """
    import numpy as np

    query = rows.queries.query_of_row()
    order = np.lexsort((-scores, query))
    first = np.concatenate([[0], np.cumsum(rows.queries.sizes)])
    queries = np.ones(1, dtype=int) if rows.queries.labels is None else rows.queries.labels
    docs = np.arange(1, rows.n_rows + 1) if rows.docs is None else rows.docs
    _refuse_blanks("query", queries)
    _refuse_blanks("document", docs)
    _refuse_blanks("tag", np.array([tag]))
    for position, row in enumerate(order.tolist()):
        rank = position - first[query[row]] + 1
        file.write(f"{queries[query[row]]} Q0 {docs[row]} {rank} {scores[row].item()!r} {tag}\n")


def _refuse_blanks(what: str, labels: AnyArray) -> None:
    for text in map(str, labels.tolist()):
        if len(text.split()) != 1 or not text.isprintable():
            raise DataError(
                f"TREC runs require names without spaces or control characters; got the {what} {text!r}."
            )


@contextmanager
def _writing(out: Path | None) -> Iterator[TextIO]:
    from rankwise.files import replacing_file

    if out is None:
        yield sys.stdout
        return
    with replacing_file(out) as beside, beside.open("w", encoding="utf-8") as file:
        yield file
