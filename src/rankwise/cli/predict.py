"""``rankwise predict``: score rows with a model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from rankwise.cli import options
from rankwise.cli.outputs import check_scores
from rankwise.cli.paths import Input, Output
from rankwise.cli.screen import confirm, data_stream
from rankwise.errors import ParameterError

if TYPE_CHECKING:
    from rankwise.model.model import Model
    from rankwise.rows.ranking import RankingData
    from rankwise.types import Floats


def run(
    data: options.Data,
    model: options.Model,
    out: Annotated[
        Path | None,
        typer.Option(help="Write to this file instead of standard output.", show_default=False),
        Output(check_scores),
    ] = None,
    trec: Annotated[
        bool, typer.Option("--trec", help="Write a TREC run: qid Q0 doc rank score tag.")
    ] = False,
    tag: Annotated[str, typer.Option(help="The tag in the last column of a TREC run.")] = "rankwise",
    pairs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write probabilities instead: for each pair of this file, that its first row is judged "
            "above its second, given that their labels differ.",
            show_default=False,
        ),
        Input(),
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="The label column, which is ignored.", rich_help_panel="Tables")
    ] = None,
    qid: Annotated[
        str | None,
        typer.Option(
            help="The column of query labels, if they are needed; by default as in training, otherwise qid.",
            rich_help_panel="Tables",
        ),
    ] = None,
    doc: options.Doc = None,
    zero_based: options.ZeroBased = None,
) -> None:
    """Score rows with a model: one score per line, in the order of the data.

    With --pairs, one probability per line, in the order of the pairs; the model must be calibrated.
    """
    from rankwise.cli.data_files import ReadOptions
    from rankwise.cli.reading import load_model, predict_scores, read_for_model

    if trec and pairs is not None:
        raise ParameterError("--trec cannot be used with --pairs, whose probabilities are not scores.")
    ranker = load_model(model)
    by_query = trec or ranker.scaled_per_query or ranker.compares_rows
    # Rows of several files that share a query are ranked together.
    how = ReadOptions(
        label,
        "" if qid is None and not by_query else qid,
        doc,
        zero_based,
        labelled=False,
        merge_queries=True,
    )
    rows = read_for_model(data, how, ranker)
    scores = predict_scores(ranker, rows)
    if pairs is not None:
        scores = pair_probabilities(ranker, rows, scores, pairs)
    with _writing(out) as file:
        file.writelines(trec_lines(rows, scores, tag) if trec else (f"{s!r}\n" for s in scores.tolist()))
    if out is not None:
        what = "probabilities" if pairs is not None else "rows of a run" if trec else "scores"
        confirm(out, f"{len(scores):,} {what}")


def pair_probabilities(model: Model, rows: RankingData, scores: Floats, pairs: Path) -> Floats:
    """How probable the preferences of a file are, given the scores of the rows."""
    from rankwise.readers.pair_files import load_pairs
    from rankwise.scoring.calibration import known_calibration, preference_probabilities

    calibration = known_calibration(model.calibration, model.class_name)
    return preference_probabilities(calibration, scores, load_pairs(pairs, data=rows))


def trec_lines(rows: RankingData, scores: Floats, tag: str) -> Iterator[str]:
    """The lines of a TREC run; rows without document labels are named by their row number, from 1."""
    from dataclasses import replace

    import numpy as np

    from rankwise.trec import run_from_scores, run_lines

    if rows.docs is None:
        rows = replace(rows, docs=np.arange(1, rows.n_rows + 1))
    return run_lines(run_from_scores(rows, scores), tag)


@contextmanager
def _writing(out: Path | None) -> Iterator[TextIO]:
    from rankwise.files import replacing_file

    if out is None:
        yield data_stream()
        return
    with replacing_file(out) as beside, beside.open("w", encoding="utf-8") as file:
        yield file
