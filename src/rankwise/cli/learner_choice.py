"""Which learner ``rankwise train`` trains, with which settings, and how it chooses among several."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from rankwise.cli import completion, learner_options
from rankwise.cli.learner_options import CHOICE, of_choice, of_learner
from rankwise.cli.learners import (
    LEARNERS,
    learner_to_train,
    parse_by_feature,
    parse_choices,
    parse_columns,
    parse_interactions,
)
from rankwise.cli.outputs import check_folder
from rankwise.cli.paths import Input, Output


def _checkpoint_files(folder: Path) -> list[Path]:
    from rankwise.ridge.checkpoint import Checkpoint

    return [Checkpoint(folder).file]


@dataclass(frozen=True)
class LearnerChoice:
    """A learner: its settings, or what to choose them from."""

    learner: Annotated[
        str,
        of_learner(
            f"What to train: {', '.join(LEARNERS)}.",
            **completion.one_of(*LEARNERS, listed=False),
            metavar="LEARNER",
        ),
    ] = "rankrls"
    ties: Annotated[
        str | None,
        of_learner(
            "Keep or drop pairs with equal labels; keep,drop to choose.", **completion.some_of("keep", "drop")
        ),
    ] = None
    weighting: Annotated[
        str | None,
        of_learner(
            "What counts equally: each example, pair or query; several to choose from.",
            **completion.some_of("example", "pair", "query"),
        ),
    ] = None
    monotonic_cst: learner_options.MonotonicCst = None
    columns: learner_options.Columns = None
    interactions: learner_options.Interactions = None
    checkpoint: Annotated[
        Path | None,
        of_learner("A folder from which an interrupted run of conjugate gradient resumes.", metavar="FOLDER"),
        Output(check_folder, _checkpoint_files),
    ] = None
    settings: learner_options.Settings = None
    alpha: Annotated[
        str | None,
        of_choice(
            "Regularization strength (λ in the papers): one value, or several to choose from, such as "
            "0.1,1,10 or 2^-3..2^3; 2^-15..2^15 by default, or 15 values from 1e-7 to 1 for ranksvm.",
            metavar="X,...",
        ),
    ] = None
    measure: Annotated[
        str | None,
        of_choice(
            "The measure to choose by, such as ndcg@10 or, with the conventions of a tool, "
            "letor:ndcg@10; pairwise_error by default.",
            **completion.measure(),
        ),
    ] = None
    cv: Annotated[
        str | None,
        of_choice(
            "How to cross-validate: auto (the default), leave-query-out, leave-pair-out or a number of "
            "folds; auto means leave-query-out where it is exact, in groups if there are many, and 5 "
            "folds elsewhere (ranksvm, --pairs, conjugate gradient).",
            **completion.one_of("auto", "leave-query-out", "leave-pair-out", listed=False),
            metavar="HOW",
        ),
    ] = None
    features_at_most: Annotated[
        int | None,
        of_choice("Also choose features, greedily, up to this number; prints what each adds."),
    ] = None
    feature_costs: Annotated[
        str | None,
        typer.Option(
            metavar="A=2,B=0.5,...|FILE",
            help="Cost of each feature (1 by default), or a JSON file; features are chosen by gain per cost.",
            rich_help_panel=CHOICE,
            show_default=False,
        ),
        Input(),
    ] = None

    def ranker(self) -> Any:
        """The estimator: one that chooses alpha, features or other settings, unless all are given."""
        given: dict[str, Any] = {"measure": self.measure}
        given |= {"ties": parse_choices(self.ties), "weighting": parse_choices(self.weighting)}
        given |= {"monotonic_cst": parse_by_feature("--monotonic-cst", self.monotonic_cst)}
        given |= {"columns": parse_columns(self.columns)}
        given |= {"interactions": parse_interactions(self.interactions)}
        given |= {"checkpoint": self.checkpoint and str(self.checkpoint)}
        costs = parse_by_feature("--feature-costs", self.feature_costs)
        few = {"max_features": self.features_at_most, "feature_costs": costs}
        return learner_to_train(self.learner, self.alpha, self.cv, few, given, self.settings or [])

    @property
    def encodes(self) -> bool:
        """Whether it takes columns as they are."""
        return self.columns is not None or self.interactions is not None
