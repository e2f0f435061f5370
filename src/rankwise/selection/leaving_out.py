"""Leaving out folds: the scores of their rows by models of the others, fold by fold or alpha by alpha."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import numpy as np

from rankwise.errors import warn_caller
from rankwise.family import AlphaStep, Descending, Family, Fold, Solutions
from rankwise.held_out import Patience
from rankwise.preferences.samples import PairSample
from rankwise.types import Floats, Ints

# So many folds may descend together: each keeps scores and planes, which may take more memory than its rows.
MOST_TOGETHER = 10


class OnFractionDone(Protocol):
    """Called with the fraction of work done and, where alphas are solved one by one, the last of them."""

    def __call__(self, done: float, solved: AlphaStep | None = None) -> None: ...


@dataclass(frozen=True)
class LeftOutScores:
    """Scores of rows by models of one alpha that were not trained on them.

    Attributes
    ----------
    scores : Floats, shape (n,)
    sample : callable
        Draws pairs of these rows, by their places, that were scored by the same model.
    rows : Ints or None, shape (n,)
        Which training rows they are; None for other rows, and for those of left-out pairs, which may be
        scored repeatedly.
    """

    scores: Floats
    sample: Callable[[], PairSample]
    rows: Ints | None = None


@dataclass(frozen=True)
class Values:
    """The measure for every alpha; NaN where there is none.

    `solutions` are the models, if the values are theirs; `interrupted` says whether values are missing;
    `left_out` returns the scores that were measured for the alpha at a place, if there are any.
    """

    values: Floats
    solutions: Solutions | None = None
    interrupted: bool = False
    left_out: Callable[[int], LeftOutScores] | None = None


# Measures the scores of some folds, the first ones, shape (h, n_alphas) each.
Measured: TypeAlias = Callable[[Sequence[Floats]], Values]


def leave_out(
    family: Family,
    folds: Sequence[Fold],
    alphas: Floats,
    measured: Measured,
    report: OnFractionDone,
    higher_is_better: bool = False,
) -> Values:
    """The measure of every alpha on all folds.

    A family with patience ends once smaller alphas get worse, which takes the scores of all folds: they
    descend together unless there are too many of them.
    """
    if isinstance(family, Descending) and family.patience is not None and len(folds) <= MOST_TOGETHER:
        patience = Patience(family.patience, higher_is_better)
        found, interrupted = _alpha_by_alpha(family, folds, alphas, measured, report, patience)
    else:
        found, interrupted = _fold_by_fold(family, folds, alphas, report)
    return replace(measured(found), interrupted=interrupted)


def _alpha_by_alpha(
    family: Descending,
    folds: Sequence[Fold],
    alphas: Floats,
    measured: Measured,
    report: OnFractionDone,
    patience: Patience,
) -> tuple[list[Floats], bool]:
    """Scores of each fold, NaN for alphas not tried, and whether an interrupt is the reason.

    If an interrupt leaves no alpha that all folds have finished, it is passed on.
    """
    found = [np.full((len(fold.index), len(alphas)), np.nan) for fold in folds]
    together = _descend_together(family, folds, alphas, report)
    for place in reversed(range(len(alphas))):
        try:
            columns = next(together)
        except KeyboardInterrupt:
            if place == len(alphas) - 1:
                raise
            warn_untried(alphas[place + 1 :])
            return found, True
        for scores, column in zip(found, columns, strict=True):
            scores[:, [place]] = column
        if patience.exhausted_by(float(measured(columns).values[0])):
            break
    report(1.0)
    return found, False


def _descend_together(
    family: Descending, folds: Sequence[Fold], alphas: Floats, report: OnFractionDone
) -> Iterator[list[Floats]]:
    """The scores of each fold, shape (h, 1), by its models of the largest alpha, then of the next."""
    rows = [fold.rows for fold in folds]
    descents = [family.with_loss(fold.loss()).descend(alphas) for fold in folds]
    for n_before in range(len(alphas)):
        columns = []
        for number, descent in enumerate(descents):
            step = next(descent)
            if step.result.interrupted:
                raise KeyboardInterrupt
            columns.append(family.scores(step.result.coef[None], rows[number]))
            report((n_before + (number + 1) / len(folds)) / len(alphas), step)
        yield columns


def _fold_by_fold(
    family: Family, folds: Sequence[Fold], alphas: Floats, report: OnFractionDone
) -> tuple[list[Floats], bool]:
    """Scores of each finished fold, and whether an interrupt cut the work short.

    After an interrupt, the choice is based on the finished folds or, in the first fold, on the finished
    alphas (the others are NaN). If no alpha is finished, there is nothing to choose from, and the interrupt
    is passed on.
    """
    found: list[Floats] = []
    unfinished = False
    try:
        on_alpha = lambda step: report((len(found) + step.done) / len(folds), step)  # noqa: E731
        for fold in family.leave_out(folds, alphas, on_alpha):
            unfinished = not fold.finished.all()
            if unfinished and (found or not fold.finished.any()):
                raise KeyboardInterrupt
            found.append(fold.scores)
            report(len(found) / len(folds))
    except KeyboardInterrupt:
        if not found:
            raise
        unfinished = True
    unfinished |= len(found) < len(folds)  # an interrupt at the end of a fold leaves that fold finished
    if unfinished:
        warn_unfinished(len(found), len(folds))
    return found, unfinished


def warn_unfinished(n_finished: int, n_folds: int) -> None:
    warn_caller(f"Interrupted from the keyboard; alpha is chosen on {n_finished} of {n_folds} folds.")


def warn_untried(tried: Floats) -> None:
    warn_caller(f"Interrupted from the keyboard; alphas below {tried[0]:g} were not tried.")
