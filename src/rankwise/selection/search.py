"""Model search: families × alphas × a criterion → a `Choice`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from rankwise.errors import DataError, ParameterError, warn_caller
from rankwise.family import AlphaStep, Family
from rankwise.long_tasks import step
from rankwise.metrics.measure import Measure
from rankwise.selection.criteria import Criterion, LossOf
from rankwise.selection.leaving_out import LeftOutScores, Values
from rankwise.types import Floats
from rankwise.validation import check_callable


@dataclass(frozen=True)
class Candidate:
    """A setting to choose from.

    Attributes
    ----------
    setting : dict
        The parameters that distinguish it from the others, by name.
    make : callable
        Creates its family; called only when needed, because a family may hold large matrices.
    loss_of : callable
        Creates the loss of its family on other rows or pairs.
    """

    setting: dict[str, Any]
    make: Callable[[], Family]
    loss_of: LossOf


@dataclass(frozen=True)
class SearchProgress:
    """The progress of a search.

    Attributes
    ----------
    done : float
        The fraction of the search that is done, from 0 to 1.
    setting : dict
        The setting being tried.
    alpha : float or None
        The alpha just solved, where alphas are solved one by one (RankSVM).
    score : float or None
        Its measure on the eval_set.
    result : HingeResult or None
        Its objective, certificate and computational effort.
    label : str
        The setting in words, with its number: "gamma=0.1 (1 of 3)"; empty if there is only one.
    """

    done: float
    setting: dict[str, Any]
    alpha: float | None = None
    score: float | None = None
    result: Any = None
    label: str = ""


OnProgress: TypeAlias = Callable[[SearchProgress], object]


@dataclass(frozen=True)
class Choice:
    """The result of a search, and the alternatives.

    Attributes
    ----------
    settings : list of dict
        The settings tried.
    alphas : Floats, shape (n_alphas,)
        The alphas tried, in ascending order.
    values : Floats, shape (n_settings, n_alphas)
        The measure for each setting and alpha; NaN for combinations not tried.
    row, column : int
        The position of the best value.
    family : Family
        The family of the best setting.
    solutions : Solutions
        The solutions with the chosen model, which is at `place`.
    place : int
    interrupted : bool
        Whether an interrupt cut the search short.
    left_out : LeftOutScores or None
        The scores on which the choice is based, for the chosen alpha and setting, if they are known.
    """

    settings: list[dict[str, Any]]
    alphas: Floats
    values: Floats
    row: int
    column: int
    family: Any
    solutions: Any
    place: int
    interrupted: bool
    left_out: LeftOutScores | None

    @property
    def best(self) -> dict[str, Any]:
        """The chosen alpha, its measure, and its setting."""
        alpha, score = float(self.alphas[self.column]), float(self.values[self.row, self.column])
        return {"alpha": alpha, "score": score, **self.settings[self.row]}

    @property
    def cut_short(self) -> bool:
        """Whether an interrupt ended the search, or the fit of its choice."""
        return self.interrupted or bool(self.solutions.interrupted)

    @property
    def beyond_the_grid(self) -> str | None:
        """What to tell the user if the best alpha ends the grid and is better than its neighbour.

        Of two alphas, one is bound to be better.
        """
        at, last = self.column, len(self.alphas) - 1
        if last < 2 or at not in (0, last) or self.interrupted:
            return None
        values = self.values[self.row]
        if values[1 if at == 0 else last - 1] == values[at]:
            return None
        end, further = ("smallest", "smaller") if at == 0 else ("largest", "larger")
        return (
            f"The best alpha, {self.alphas[at]:g}, is the {end} of the grid; a {further} one may be better."
        )


def choose(
    candidates: Sequence[Candidate],
    alphas: Floats,
    criterion: Criterion,
    measure: Measure,
    on_progress: OnProgress | None = None,
) -> Choice:
    """Measure every alpha of every candidate, and solve for the best.

    Ties go to the first setting and the largest alpha. An interrupt ends the search with a warning; an
    unfinished setting counts only if it is the first. If there is nothing to choose from yet, the interrupt
    is passed on.
    """
    check_callable("on_progress", on_progress)
    settings: list[dict[str, Any]] = []
    rows: list[Floats] = []
    best: tuple[Family, Values] | None = None
    interrupted = False
    all_settings = [candidate.setting for candidate in candidates]
    for number, candidate in enumerate(candidates):
        reporter = _Reporter(on_progress, all_settings, number)
        try:
            if len(candidates) > 1:
                reporter(0.0)  # names the setting
            family = candidate.make()
            found = criterion.values(family, candidate.loss_of, alphas, reporter)
            interrupted = found.interrupted
        except KeyboardInterrupt:
            if best is None:
                raise
            interrupted = True
        if best is None or not interrupted:
            settings.append(candidate.setting)
            rows.append(found.values)
            if best_alpha(np.stack(rows), measure)[0] == len(rows) - 1:
                best = family, found
        if interrupted:
            if len(settings) < len(candidates):
                warn_caller(f"Interrupted from the keyboard; settings after {settings[-1]} were not tried.")
            break
    assert best is not None
    return _chosen(settings, alphas, np.stack(rows), *best, measure, interrupted)


def _chosen(
    settings: list[dict[str, Any]],
    alphas: Floats,
    values: Floats,
    family: Family,
    found: Values,
    measure: Measure,
    interrupted: bool,
) -> Choice:
    row, column = best_alpha(values, measure)
    solutions, place = found.solutions, column
    if solutions is None:
        solutions, place = family.solve(alphas[[column]]), 0
    tried = np.asarray(~np.isnan(values).all(axis=0))
    at = int(np.count_nonzero(tried[:column]))
    left_out = None if found.left_out is None else found.left_out(column)
    return Choice(
        settings,
        alphas[tried],
        values[:, tried],
        row,
        at,
        family,
        solutions,
        place,
        interrupted,
        left_out,
    )


def best_alpha(values: Floats, measure: Measure) -> tuple[int, int]:
    """Row and column of the best value; ties go to the first row and the last column (the largest alpha)."""
    if np.isnan(values).all():
        raise DataError(f"The measure '{measure.name}' is undefined for every query; choose another.")
    signed = np.where(np.isnan(values), -np.inf, values if measure.higher_is_better else -values)
    row, column = np.unravel_index(signed[:, ::-1].argmax(), signed.shape)
    return int(row), signed.shape[1] - 1 - int(column)


def table_of_scores(
    settings: Sequence[dict[str, Any]], alphas: Floats, values: Floats, measure: Measure
) -> dict[str, Any]:
    """The alternatives of a search as scikit-learn's searches report them (``cv_results_``), by columns.

    As everywhere in scikit-learn, a higher score is better, so errors are negated.
    """
    params = [setting | {"alpha": alpha} for setting in settings for alpha in alphas.tolist()]
    scores = (values if measure.higher_is_better else -values).ravel()
    columns: dict[str, Any] = {}
    for name in params[0]:
        column = np.ma.empty(len(params), dtype=object)
        column[:] = [setting[name] for setting in params]
        columns[f"param_{name}"] = column
    # Equal scores share the best rank; alternatives that were not tried come last.
    known = np.where(np.isnan(scores), -np.inf, scores)
    rank = 1 + (known[:, None] < known).sum(axis=1)
    return columns | {
        "params": params,
        "mean_test_score": scores,
        "rank_test_score": rank.astype(np.int32),
    }


class _Reporter:
    """Converts progress within one setting to progress of the search."""

    def __init__(
        self, on_progress: OnProgress | None, settings: Sequence[dict[str, Any]], number: int
    ) -> None:
        self._on_progress, self._setting = on_progress, settings[number]
        self._number, self._n_settings = number, len(settings)
        label = distinguished(self._setting, settings)
        self._label = f"{label} ({number + 1} of {len(settings)})" if label else ""
        self._last = -1.0

    def __call__(self, done: float, solved: AlphaStep | None = None) -> None:
        """Report that this fraction of the setting is done, unless already reported."""
        if done <= self._last:
            return
        self._last = done
        total = (self._number + done) / self._n_settings
        step(self._label, done=total)
        if self._on_progress is not None:
            found = solved or AlphaStep(None, done)
            self._on_progress(
                SearchProgress(total, self._setting, found.alpha, found.value, found.result, self._label)
            )


def distinguished(setting: dict[str, Any], settings: Sequence[dict[str, Any]]) -> str:
    """The values that distinguish one setting from the others, such as "gamma=0.1"."""
    return " ".join(
        f"{name}={value}" for name, value in setting.items() if any(s[name] != value for s in settings)
    )


def grid_of(options: dict[str, Any]) -> list[dict[str, Any]]:
    """All combinations of options, each of which is a single value or a list or tuple of values."""
    axes = {}
    for name, option in options.items():
        several = isinstance(option, (list, tuple)) or (isinstance(option, np.ndarray) and option.ndim > 0)
        axes[name] = list(option) if several else [option]
        if not axes[name]:
            raise ParameterError(f"The '{name}' parameter has no values to choose from.")
    return [dict(zip(axes, combination, strict=True)) for combination in product(*axes.values())]
