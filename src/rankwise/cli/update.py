"""``rankwise update``: a model that learns and forgets queries."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli import options
from rankwise.cli.card import CardOptions, saving, used_rows
from rankwise.cli.data_files import files_to_read
from rankwise.cli.forgetting import ForgetOptions
from rankwise.cli.outputs import check_model
from rankwise.cli.paths import Input, Output
from rankwise.errors import FileFormatError, ParameterError
from rankwise.long_tasks import task
from rankwise.rendering import counted

if TYPE_CHECKING:
    from rankwise.rows.ranking import RankingData


def run(
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="DATA",
            help="Rows to learn, in any format that 'train' reads; none to forget only.",
            show_default=False,
        ),
        Input(files_to_read),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Argument(
            metavar="MODEL", help="A RankRLS model with the primal solver, from 'train'.", show_default=False
        ),
        Input(replaced_by="out"),
    ] = None,
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL", help="The model file to write; MODEL itself by default.", show_default=False
        ),
        Output(check_model),
    ] = None,
    add_categories: Annotated[
        bool,
        typer.Option(
            "--add-categories",
            help="Learn a value for each category that the model does not know; rows learned before count as "
            "having none of them.",
        ),
    ] = False,
    forgetting: ForgetOptions,
    rows: options.KnownRowOptions,
    card: CardOptions,
    json: options.Json = False,
) -> None:
    """Add DATA to what a model has learned, exactly as if it had been trained on both.

    The model keeps its parameters, features and scaling; one that chose alpha chooses it again.
    """
    import rankwise
    from rankwise.cli.column_names import named_as_in
    from rankwise.cli.data_files import warn_of_one_ranking
    from rankwise.cli.fitting import criterion_and_usual, evaluate_parts, show_result
    from rankwise.cli.reading import load_model, read_for_model
    from rankwise.model.data_scores import scaled_like

    how = rows.how()
    learned, path = (None, data) if model is None else (data, model)
    if path is None or (learned is None and not forgetting.is_asked):
        raise ParameterError("Expected DATA to learn and a MODEL, or a MODEL and rows to --forget.")
    known, ranker = load_model(path), rankwise.load_model(path)
    if not hasattr(ranker, "partial_fit") or not hasattr(ranker, "moments_"):
        raise FileFormatError(
            path,
            "the model has no moments to update; train it with --learner rankrls --set solver=primal.",
        )
    if learned is not None:
        how = named_as_in([known], learned, how)
    new = None if learned is None else scaled_like(read_for_model(learned, how, known), known.features)
    old = forgetting.rows(how, known)
    used = [] if old is None else used_rows("forgotten", forgetting.forget, old, how)
    written = path if out is None else out
    start = time.perf_counter()
    if old is not None:
        with task("Forgetting"):
            ranker.forget(old)
    if learned is None or new is None:
        with saving(ranker, written, card, used):
            pass
        _say_forgotten(ranker, old, written, json)
        return
    warn_of_one_ranking(learned, new, how)
    unknown = _unknown(ranker, new)
    measures = criterion_and_usual(ranker, new)
    before = evaluate_parts(ranker, {"before": new}, measures)
    with task(f"Updating {type(ranker).__name__}"):
        ranker.partial_fit(new, add_categories=add_categories)
    seconds = time.perf_counter() - start
    with saving(ranker, written, card, [*used, *used_rows("learned", learned, new, how)]) as found:
        found |= before | evaluate_parts(ranker, {"learned": new}, measures)
    show_result(ranker, new, written, seconds, found, json, unknown)


def _unknown(ranker: Any, new: RankingData) -> dict[str, dict[str, int]]:
    """The categories that the model does not know, by column, and in how many rows they are."""
    from rankwise.columns.unknown import unknown_categories

    model = ranker.model_
    if model.encoding is None:
        return {}
    table = model.table(new).matched(list(model.encoding.codes), model.encoding.labels)
    return {
        column: dict(found) for column, found in unknown_categories(model.encoding, table).items() if found
    }


def _say_forgotten(ranker: Any, old: RankingData | None, written: Path, json: bool) -> None:
    from rankwise.cli.screen import show_json, show_text

    assert old is not None
    forgotten, left = old.n_queries, ranker.moments_.n_queries
    if json:
        facts = {"model": str(written), "class": type(ranker).__name__}
        show_json(facts | {"forgotten": {"queries": forgotten, "rows": old.n_rows}, "queries": left})
        return
    queries = counted(forgotten, "query")
    show_text([f"Forgot {queries} of {counted(old.n_rows, 'row')}; {left:,} are left; written to {written}"])
