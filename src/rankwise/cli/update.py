"""``rankwise train --update``: a model that learns and forgets queries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwise.cli.screen import progress
from rankwise.errors import FileFormatError, ParameterError

if TYPE_CHECKING:
    from rankwise.cli.data_files import ReadOptions
    from rankwise.rows.ranking import RankingData


def check_keeps_parameters(options: dict[str, Any]) -> None:
    """Reject options that an update would ignore: the model keeps its parameters and features."""
    named = [f"--{name.replace('_', '-')}" for name, value in options.items() if value not in (None, False)]
    if named:
        raise ParameterError(
            f"--update keeps the parameters and features of the model; {named[0]} cannot be given."
        )


def read_update(
    model: Path, data: Path, validation: Path | None, how: ReadOptions
) -> tuple[Any, dict[str, RankingData]]:
    """The model to update, the rows to learn and, if given, validation rows, all scaled alike."""
    import rankwise
    from rankwise.cli.inputs import load_model, read_for_model, read_matching
    from rankwise.model.data_scores import must_scale

    known, ranker = load_model(model), rankwise.load_model(model)
    if not hasattr(ranker, "partial_fit") or not hasattr(ranker, "moments_"):
        raise FileFormatError(
            model,
            "the model has no moments to update; train it with --learner rankrls --solver primal.",
        )
    rows = read_for_model(data, how, known)
    parts = {"training": rows.scale_per_query() if must_scale(rows, bool(known.scaled_per_query)) else rows}
    if validation is not None:
        parts["validation"] = read_matching(validation, how, parts["training"])
    return ranker, parts


def learn_and_forget(ranker: Any, new: RankingData, old: RankingData | None) -> None:
    """Update a model with rows that were matched to its features when they were read."""
    with progress(f"Updating {type(ranker).__name__}"):
        if old is not None:
            ranker.forget(old)
        ranker.partial_fit(new)
