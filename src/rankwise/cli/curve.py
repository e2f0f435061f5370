"""``rankwise curve``: quality by the number of training queries, and what more of them would bring."""

from __future__ import annotations

from typing import Annotated

import typer

from rankwise.cli import learner_options, options
from rankwise.cli.data_files import read_data
from rankwise.cli.learners import SELECTORS, make_learner, parse_columns, parse_interactions
from rankwise.cli.screen import show_json, show_table
from rankwise.errors import ParameterError
from rankwise.numerals import is_whole, read_whole


def run(
    data: options.Data,
    *,
    more: Annotated[
        str | None,
        typer.Option(
            metavar="N,...",
            help="Numbers of training queries to predict for; by default all of the data, and twice as many.",
            show_default=False,
        ),
    ] = None,
    measure: Annotated[
        str, typer.Option(help="The measure to choose by, and to show: ndcg@10, map, ....")
    ] = "ndcg@10",
    draws: Annotated[int, typer.Option(help="How often queries are drawn at random; at least 10.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the draws.")] = 0,
    learner: Annotated[str, learner_options.of_learner(f"One of: {', '.join(SELECTORS)}.")] = "rankrls",
    columns: learner_options.Columns = None,
    interactions: learner_options.Interactions = None,
    settings: learner_options.Settings = None,
    rows: options.FeatureOptions,
    json: options.Json = False,
) -> None:
    """Show how quality grows with the number of judged queries, and predict it for more of them.

    The queries must be a random sample, not those of judgments that 'next' or 'judge' chose.
    """
    from rankwise.metrics import get_measure
    from rankwise.selection.learning_curve import HEADER, learning_curve

    sizes = None if more is None else [_whole(part) for part in more.split(",")]
    given = {"columns": parse_columns(columns), "interactions": parse_interactions(interactions)}
    ranker = make_learner(SELECTORS, learner, given | {"measure": measure}, settings or [])
    chosen = get_measure(measure)
    encodes = columns is not None or interactions is not None
    judged = read_data(data, rows.how(as_table=encodes), features=rows.columns())
    curve = learning_curve(judged, ranker, chosen, n_draws=draws, random_state=seed)
    if json:
        show_json(curve.to_dict(sizes))
        return
    note = (
        f"{judged.n_queries:,} judged queries, over which gains are predicted; ± is half of a 95 % interval."
    )
    show_table(f"{curve.measure.name} by training queries", HEADER, curve.rows(sizes), note)


def _whole(text: str) -> int:
    number = text.strip()
    if not is_whole(number) or read_whole(number) < 1:
        raise ParameterError(f"--more expects whole numbers of queries, such as 500,1000; got {number!r}.")
    return read_whole(number)
