"""Kernel rankers that know their solution for every alpha."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from rankwise.errors import DataError, ParameterError, RankwiseError
from rankwise.estimators.kernel_ranker import KernelRanker
from rankwise.estimators.path_file import PathField
from rankwise.estimators.path_plot import draw_path
from rankwise.metrics import Measure, get_measure
from rankwise.persist.fields import Fields, array, value
from rankwise.preferences.graphs import PreferenceGraph
from rankwise.preferences.queries import group_rows
from rankwise.solvers.path_scores import PathScores
from rankwise.solvers.path_solutions import PathSolutions
from rankwise.threads import resolve_threads
from rankwise.types import Floats, Ints
from rankwise.validation import check_number, check_rows


class PathRanker(KernelRanker):
    """Reads a path that `fit` of a subclass has followed: scores at any alpha, and the choice of one."""

    alphas_: Floats
    active_size_: Ints
    violation_: Floats
    path_error_: Floats
    alpha_: float
    fitted_with_qid_: bool
    _path: PathSolutions

    _fitted_state: Fields = (
        *KernelRanker._fitted_state,
        array("alphas_", "breakpoints"),
        array("active_size_", "breakpoints", "i"),
        array("violation_", "breakpoints"),
        array("path_error_", "breakpoints", optional=True),
        value("n_events_", int),
        value("n_pairs_", int),
        value("alpha_", float),
        PathField("_path"),
    )

    def coef_at(self, alpha: float) -> Floats:
        """The coefficients of the training rows at any alpha that the path covers, exactly."""
        path = self._known_path()
        asked = check_number("alpha", alpha, minimum=0.0, exclusive=True)
        if asked < self.alphas_[-1] and not path.complete:
            raise ParameterError(
                f"The 'alpha' parameter must be at least {self.alphas_[-1]:.6g}, where the path ends (its "
                f"start is {self.alphas_[0]:.6g}); got {asked:.6g}. To go on, fit with a smaller "
                "alpha_min or more max_events."
            )
        level = asked * level_per_alpha(path.graph)
        return path.coefficients_at(level if asked < self.alphas_[-1] else max(level, float(path.levels[-1])))

    def predict(self, X: Any, alpha: float | None = None) -> Floats:
        """Scores of rows, higher is better, at `alpha` or at the one chosen (`alpha_`)."""
        if alpha is None:
            return super().predict(X)
        return self._scores_with(self.coef_at(alpha), check_rows(self, X))

    def select(
        self,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | Iterable[Hashable] | None = None,
        measure: str | Measure = "pairwise_error",
    ) -> Self:
        """Measure every breakpoint on validation rows and keep the best; of equals, the largest alpha.

        Parameters
        ----------
        X, y, qid
            Validation rows.
        measure : str or Measure
            Anything that `rankwise.metrics.get_measure` knows.
        """
        path = self._known_path()
        if qid is None and self.fitted_with_qid_:
            raise DataError("select needs the qid of the validation rows: the path was fitted with one.")
        rows = check_rows(self, X)
        chosen = get_measure(measure)
        n_threads = resolve_threads()
        prepared = chosen.on(y, group_rows(qid, rows.shape[0]), n_threads=n_threads)
        # λ f, a positive multiple of f, orders rows alike.
        values = prepared.along(PathScores(path, self._kernel_columns(rows), n_threads))
        if math.isnan(values[0]):
            raise DataError(f"{chosen.name} has no value on the validation rows: {prepared.left_out_reason}.")
        self.path_error_ = values
        self._choose(int(values.argmax() if chosen.higher_is_better else values.argmin()))
        return self

    def plot(self, title: str = "Path") -> Any:
        """A matplotlib figure of the path: what `select` measured, and the pairs on the margin, by alpha."""
        check_is_fitted(self)
        measured = getattr(self, "path_error_", None)
        return draw_path(self.alphas_, self.active_size_, measured, self.alpha_, title)

    def _choose(self, breakpoint: int) -> None:
        self.alpha_ = float(self.alphas_[breakpoint])
        self.dual_coef_ = self._path.coefficients_of(breakpoint)

    def _known_path(self) -> PathSolutions:
        path: PathSolutions | None = getattr(self, "_path", None)
        if path is None:
            check_is_fitted(self)
            raise RankwiseError(
                f"The model's file holds no path, so it knows only alpha = {self.alpha_:.6g}: fit it again."
            )
        return path


def level_per_alpha(graph: PreferenceGraph) -> float:
    """λ = 2 W alpha: the path's objective is Σ w hinge + (λ/2)‖f‖², ours divides by the sum W of weights."""
    return 2.0 * float(graph.weight.sum())
