"""``rankwise update``: a model that learns and forgets queries."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from rankwise.cli import options
from rankwise.cli.card import CardOptions, saving, used_rows
from rankwise.cli.data_files import files_to_read
from rankwise.cli.outputs import check_model
from rankwise.cli.paths import Input, Output
from rankwise.errors import FileFormatError
from rankwise.long_tasks import task


def run(
    data: options.Data,
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="A RankRLS model with the primal solver, from 'train'.", show_default=False
        ),
        Input(replaced_by="out"),
    ],
    *,
    forget: Annotated[
        Path | None,
        typer.Option(metavar="DATA", help="Queries to forget before learning DATA.", show_default=False),
        Input(files_to_read),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL", help="The model file to write; MODEL itself by default.", show_default=False
        ),
        Output(check_model),
    ] = None,
    rows: options.RowOptions,
    card: CardOptions,
    json: options.Json = False,
) -> None:
    """Add DATA to what a model has learned, exactly as if it had been trained on both.

    The model keeps its parameters, features and scaling; one that chose alpha chooses it again.
    """
    import rankwise
    from rankwise.cli.data_files import warn_of_one_ranking
    from rankwise.cli.fitting import criterion_and_usual, evaluate_parts, show_result
    from rankwise.cli.reading import load_model, read_for_model, read_matching
    from rankwise.model.data_scores import scaled_like

    how = rows.how()
    known, ranker = load_model(model), rankwise.load_model(model)
    if not hasattr(ranker, "partial_fit") or not hasattr(ranker, "moments_"):
        raise FileFormatError(
            model,
            "the model has no moments to update; train it with --learner rankrls --set solver=primal.",
        )
    new = scaled_like(read_for_model(data, how, known), known.features)
    old = None if forget is None else read_matching(forget, how, new)
    warn_of_one_ranking(data, new, how)
    used = [*used_rows("forgotten", forget, old, how), *used_rows("learned", data, new, how)]
    start = time.perf_counter()
    with task(f"Updating {type(ranker).__name__}"):
        if old is not None:
            ranker.forget(old)
        ranker.partial_fit(new)
    seconds = time.perf_counter() - start
    written = model if out is None else out
    with saving(ranker, written, card, used) as found:
        found |= evaluate_parts(ranker, {"learned": new}, criterion_and_usual(ranker, new))
    show_result(ranker, new, written, seconds, found, json)
