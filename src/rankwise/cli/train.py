"""``rankwise train``: train a model on judged rows, with alpha and other settings chosen from the data."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rankwise.cli import options
from rankwise.cli.card import CardOptions, saving
from rankwise.cli.cluster import refuse_with_dask, train_on_cluster
from rankwise.cli.fitting import criterion_and_usual, evaluate_left_out, evaluate_parts, show_result
from rankwise.cli.learner_choice import LearnerChoice
from rankwise.cli.screen import show_text
from rankwise.cli.training_files import TrainingFiles


def run(
    data: options.Data,
    model: options.ModelOut,
    *,
    choice: LearnerChoice,
    rows: options.FeatureOptions,
    files: TrainingFiles,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Train on the workers of this Dask scheduler, each of which reads its own files of text or "
            "stores; local:N starts N workers here.",
            rich_help_panel=options.ROWS,
            show_default=False,
        ),
    ] = None,
    report: options.Report = None,
    card: CardOptions,
    json: options.Json = False,
) -> None:
    """Train a ranker on judged rows and write it to a model file.

    Alpha is chosen by exact leave-query-out, on folds or on validation data, unless --alpha has one value.
    """
    from rankwise.cli.report import write_page_of_new

    files.check(report=report, dask=dask)
    ranker, how = choice.ranker(), rows.how(as_table=choice.encodes)
    if dask is not None:
        refuse_with_dask(
            judgments=files.judgments,
            pairs=files.pairs,
            columns=choice.columns,
            interactions=choice.interactions,
            scale=rows.scale,
            features=rows.features,
            exclude=rows.exclude,
            doc=rows.doc,
            test=files.test,
            report=report,
        )
        train_on_cluster(ranker, data, model, dask, how, files.validation, card, json)
        return
    read = files.read(data, how, rows.columns())
    ranker, seconds = read.fit(ranker)
    read.warn_of_seen_rows(ranker)
    judged = next(iter(read.parts.values()), None)
    measures: list[Any] = []
    with saving(ranker, model, card, read.used) as found:
        if judged is not None:
            measures = criterion_and_usual(ranker, judged)
            found |= evaluate_parts(ranker, read.parts, measures)
        if files.pairs is None:
            found |= evaluate_left_out(ranker, read.training, measures, read.judged)
    if report is not None:
        sources = [model, data, files.validation, files.test]
        write_page_of_new(report, ranker, read.parts, measures, sources, read.parts.get("training"))
    show_result(ranker, read.training, model, seconds, found, json)
    if read.note is not None and not json:
        show_text([read.note])
