"""The files that ``rankwise train`` reads besides its rows: labels, and rows to measure on."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli import learner_options, options
from rankwise.cli.card import CARD, used_rows
from rankwise.cli.data_files import ReadOptions, files_to_read, warn_of_one_ranking
from rankwise.cli.fitting import fit, fit_pairs, read_parts, warn_of_leaks
from rankwise.cli.paths import Input
from rankwise.cli.seen import warn_of_seen_rows
from rankwise.errors import ParameterError

if TYPE_CHECKING:
    from rankwise.model.history import UsedRows
    from rankwise.rows.ranking import RankingData
    from rankwise.types import Ints


@dataclass(frozen=True)
class TrainingFiles:
    """What a learner is told besides the rows."""

    validation: learner_options.Validation = None
    test: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA",
            help="Judged rows of other queries to evaluate the model on, for its card.",
            rich_help_panel=CARD,
            show_default=False,
        ),
        Input(files_to_read),
    ] = None
    judgments: options.Judgments = None
    human: options.Human = None
    pairs: options.Pairs = None

    def check(self, *, report: Path | None, dask: str | None) -> None:
        """Refuse files that cannot be used together, or with these options."""
        from rankwise.cli.human import refuse_with_human

        if self.pairs is not None and self.judgments is not None:
            raise ParameterError("--judgments cannot be used with --pairs.")
        if self.pairs is not None and report is not None and self.validation is None:
            raise ParameterError("--report measures labels; with --pairs, it needs --validation.")
        if self.human is not None:
            refuse_with_human(pairs=self.pairs, validation=self.validation, dask=dask, report=report)

    @property
    def measured(self) -> dict[str, Path]:
        """Those on which the model is measured."""
        files = {"validation": self.validation, "test": self.test}
        return {part: path for part, path in files.items() if path is not None}

    def read(self, data: Path, how: ReadOptions, features: list[str] | None) -> TrainingRows:
        """Read them all, and the rows."""
        how = replace(how, labelled=self.judgments is None and self.pairs is None)
        parts = read_parts(data, self.validation, how, features, self.judgments, self.test)
        used = [*used_rows("training", data, parts["training"], how)]
        for part, path in (("judgments", self.judgments), ("pairs", self.pairs), ("human", self.human)):
            used += used_rows(part, path)
        for part, path in self.measured.items():
            used += used_rows(part, path, parts[part], how)
        return TrainingRows(self, data, how, parts, used)


@dataclass
class TrainingRows:
    """Rows to learn from, and to measure on; what fitting finds out is added.

    Attributes
    ----------
    files : TrainingFiles
    data : Path
        Where the rows to learn from are.
    how : ReadOptions
    parts : dict of str to RankingData
        The parts of the data on which the model is measured, "training" first.
    used : list of UsedRows
        For the card.
    judged : Ints or None
        The training rows that people judged, if these alone are measured.
    note : str or None
        What else is to be said.
    """

    files: TrainingFiles
    data: Path
    how: ReadOptions
    parts: dict[str, RankingData]
    used: list[UsedRows]
    judged: Ints | None = None
    note: str | None = None

    def __post_init__(self) -> None:
        self.training = self.parts["training"]

    def fit(self, ranker: Any) -> tuple[Any, float]:
        """The fitted ranker, and how long it took."""
        from rankwise.cli.human import train_sampled
        from rankwise.readers.judgment_files import judged_labels

        start = time.perf_counter()
        if self.files.human is not None:
            people = judged_labels(self.files.human, self.training, **self.how.of_judgments)
            ranker, self.training, self.judged, self.note = train_sampled(ranker, self.training, people)
            self.parts["training"] = self.training.select(self.judged)
        elif self.files.pairs is None:
            warn_of_one_ranking(self.data, self.training, self.how)
            warn_of_leaks(self.training)
            fit(ranker, self.training, self.parts.get("validation"))
        else:
            fit_pairs(ranker, self.training, self.files.pairs)
            del self.parts["training"]  # whose labels, if it has any, were not learned
        return ranker, time.perf_counter() - start

    def warn_of_seen_rows(self, ranker: Any) -> None:
        """Say so if the ranker is measured on rows that it has just learned."""
        from rankwise.model.history import Step

        history = (Step("fit", rows=tuple(self.used)),)
        for part, path in self.files.measured.items():
            warn_of_seen_rows(ranker.model_, path, self.parts[part], history=history)
