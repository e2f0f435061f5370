"""RankSVMPath: kernel RankSVM for every regularization at once."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable
from enum import StrEnum
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from rankwise.errors import DataError, ParameterError, RankwiseError
from rankwise.estimators.kernel_ranker import KernelRanker, matrix_name, needs_check
from rankwise.metrics import Measure, get_measure
from rankwise.operators.kernel import (
    Kernel,
    KernelFunction,
    KernelName,
    check_kernel_fits,
    check_kernel_matrix,
)
from rankwise.persist.fields import Fields, array, value
from rankwise.preferences.graphs import (
    PreferenceGraph,
    Representative,
    explicit_graph,
    first_row,
    full_graph,
    reduced_graph,
)
from rankwise.preferences.queries import group_rows
from rankwise.selection.breakpoints import measure_breakpoints
from rankwise.solvers.svm_path import Progress, SVMPath, ranking_svm_path
from rankwise.threads import resolve_threads
from rankwise.types import Floats, Matrix, Weighting
from rankwise.validation import (
    Problem,
    check_choice,
    check_count,
    check_number,
    check_preferences,
    check_problem,
    check_rows,
)

# Where the path ends by default, as a share of the largest breakpoint.
DEFAULT_REACH = 1e-3


class GraphKind(StrEnum):
    """Which pairs of a query are compared."""

    FULL = "full"
    REDUCED = "reduced"


class RankSVMPath(KernelRanker):
    """Kernel RankSVM for all alphas: minimize ``R(f) + alpha ‖f‖²``, R the weighted mean hinge over pairs.

    With the linear kernel and the full graph, the model at `alpha` is the one of ``RankSVM(alpha)``. A
    breakpoint with k pairs on the margin takes O(k² + m k) time and a look at the pairs that may come next;
    memory is O(m² + pairs).

    Parameters
    ----------
    kernel : {"rbf", "linear", "polynomial", "precomputed"} or callable, default="rbf"
        As in `KernelRankRLS`.
    gamma : float, optional
        The rbf kernel is exp(−gamma ‖a − b‖²), the polynomial (gamma a·b + coef0)^degree; 1 over the number
        of features by default.
    degree : float, default=3
    coef0 : float, default=1
    graph : {"full", "reduced"}, default="full"
        Every pair of a query with different scores, or paper E's double stars between neighbouring levels:
        about two pairs a row, and so many times faster to follow.
    representative : callable, optional
        Which of the rows of a level (an array of row numbers) stands for it in the reduced graph; the first
        by default.
    weighting : {"query", "pair", "example"}, default="query"
        Whether every query has the same say, every pair, or every row.
    alpha_min : float, optional
        Where the path ends; a thousandth of the largest breakpoint by default.
    max_events : int, optional
        Stop after so many breakpoints.
    tol : float, default=1e-7
        The largest violation of the optimality conditions, in units of the margin, at any breakpoint.

    Attributes
    ----------
    alphas_ : array, shape (n_breakpoints,)
        The breakpoints, falling. Between two of them ``alpha f`` is linear in alpha.
    n_events_ : int
    active_size_ : array of int, shape (n_breakpoints,)
        Pairs on the margin after each breakpoint.
    violation_ : array, shape (n_breakpoints,)
        The largest violation of the optimality conditions at each breakpoint: the certificate.
    n_pairs_ : int
    alpha_ : float
        What `predict` uses: the last breakpoint, or the one that `select` chose.
    path_error_ : array, shape (n_breakpoints,)
        What `select` measured at each breakpoint.
    dual_coef_ : array, shape (m,)
        The coefficients of the training rows at `alpha_`.

    References
    ----------
    Zapien, Gasso, Gärtner, Canu, "Model Selection for Ranking SVM Using Regularization Path" (2009).

    Examples
    --------
    >>> from rankwise import RankSVMPath, make_search_data
    >>> train, test = make_search_data(20, seed=0).scale_per_query().split(0.7)
    >>> model = RankSVMPath(graph="reduced").fit(train.X, train.y, train.qid)
    >>> len(model.alphas_) == model.n_events_ + 1, bool(model.violation_.max() < 1e-7)
    (True, True)
    >>> model.select(test.X, test.y, test.qid, "ndcg@10").alpha_ in model.alphas_
    True
    """

    _fitted_state: Fields = (
        *KernelRanker._fitted_state,
        array("alphas_", "breakpoints"),
        array("active_size_", "breakpoints", "i"),
        array("violation_", "breakpoints"),
        array("path_error_", "breakpoints", optional=True),
        value("n_events_", int),
        value("n_pairs_", int),
        value("alpha_", float),
    )

    def __init__(
        self,
        *,
        kernel: str | KernelFunction = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        graph: str = "full",
        representative: Representative | None = None,
        weighting: str = "query",
        alpha_min: float | None = None,
        max_events: int | None = None,
        tol: float = 1e-7,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.graph = graph
        self.representative = representative
        self.weighting = weighting
        self.alpha_min = alpha_min
        self.max_events = max_events
        self.tol = tol

    def fit(
        self,
        X: Any,
        y: Any,
        qid: ArrayLike | Iterable[Hashable] | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        on_event: Progress | None = None,
    ) -> Self:
        """Follow the path of all solutions.

        Parameters
        ----------
        X : array or CSR matrix, shape (m, n)
        y : array, shape (m,)
            Labels of any real value; higher is better.
        qid : sequence of hashables, optional
            The query of each row, in any order; None means one global ranking.
        sample_weight : array, shape (m,), optional
            A pair weighs the product of its rows' weights.
        on_event : callable, optional
            Called now and then with the part of the path behind (0 to 1, by log alpha), the number of events
            so far and the number of pairs on the margin.
        """
        problem = check_problem(self, X, y, qid, sample_weight)
        self._follow(problem.X, self._graph_of(problem), on_event)
        self.fitted_with_qid_ = qid is not None
        return self

    def fit_preferences(
        self, X: Any, pairs: Any, *, weight: ArrayLike | None = None, on_event: Progress | None = None
    ) -> Self:
        """Follow the path for the caller's own pairs (better row, worse row); see `fit`."""
        rows, checked = check_preferences(self, X, pairs, None, weight)
        self._follow(rows, explicit_graph(checked, rows.shape[0]), on_event)
        self.fitted_with_qid_ = False
        return self

    def coef_at(self, alpha: float) -> Floats:
        """The coefficients of the training rows at any alpha that the path covers, exactly."""
        path = self._known_path()
        asked = check_number("alpha", alpha, minimum=0.0, exclusive=True)
        if asked < self.alphas_[-1] and not path.complete:
            raise ParameterError(
                f"The 'alpha' parameter must be at least {self.alphas_[-1]:.6g}, where the path ends (its "
                f"start is {self.alphas_[0]:.6g}); got {asked:.6g}. A smaller alpha_min extends the path."
            )
        level = asked * self._level_per_alpha
        return path.coefficients_at(level if asked < self.alphas_[-1] else max(level, float(path.levels[-1])))

    def predict(self, X: Any, alpha: float | None = None) -> Floats:
        """Scores of rows, higher is better, at `alpha` or at the one chosen (`alpha_`)."""
        if alpha is None:
            return super().predict(X)
        coefficients = self.coef_at(alpha)
        return np.asarray(self._kernel_values(check_rows(self, X)) @ coefficients)

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
        prepared = chosen.on(y, group_rows(qid, rows.shape[0]))
        if prepared.left_out.all():
            raise DataError(f"{chosen.name} has no value on the validation rows: {prepared.left_out_reason}.")
        values = measure_breakpoints(path, self._kernel_columns(rows), prepared)
        self.path_error_ = values
        best = int(np.argmax(values) if chosen.higher_is_better else np.argmin(values))
        self._choose(float(self.alphas_[best]))
        return self

    def _graph_of(self, problem: Problem) -> PreferenceGraph:
        kind = check_choice("graph", self.graph, GraphKind)
        weighting = check_choice("weighting", self.weighting, Weighting)
        if kind is GraphKind.FULL:
            return full_graph(problem.queries, problem.y, weighting=weighting, row_weight=problem.row_weight)
        return reduced_graph(
            problem.queries,
            problem.y,
            weighting=weighting,
            row_weight=problem.row_weight,
            representative=first_row if self.representative is None else self.representative,
        )

    def _follow(self, X: Matrix, graph: PreferenceGraph, on_event: Progress | None) -> None:
        kernel = self._checked_kernel(X)
        tolerance = check_number("tol", self.tol, minimum=0.0, exclusive=True)
        max_events = None if self.max_events is None else check_count("max_events", self.max_events)
        # The path's objective is Σ w hinge + (λ/2)‖f‖²; ours divides by the sum of the weights.
        self._level_per_alpha = 2.0 * float(graph.weight.sum())
        path = ranking_svm_path(
            self._checked_matrix(X, kernel),
            graph,
            min_level=self._min_level,
            max_events=max_events,
            tolerance=tolerance,
            n_threads=resolve_threads(),
            on_event=on_event,
        )
        if not path.converged:
            warnings.warn(
                f"The path stops at alpha = {path.levels[-1] / self._level_per_alpha:.3g}: {path.message}.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self._path = path
        self.basis_indices_ = np.arange(X.shape[0], dtype=np.int64)
        self.rank_ = X.shape[0]
        if kernel.function is not KernelName.PRECOMPUTED:
            self.basis_ = X
        self.alphas_ = path.levels / self._level_per_alpha
        self.n_events_ = path.n_breakpoints - 1
        self.active_size_ = path.active_sizes
        self.violation_ = path.violations
        self.n_pairs_ = graph.n_pairs
        self._choose(float(self.alphas_[-1]))

    def _checked_matrix(self, X: Matrix, kernel: Kernel) -> Floats:
        if kernel.function is not KernelName.PRECOMPUTED:
            check_kernel_fits(X.shape[0], "train on a sample, or use RankSVM or KernelRankRLS with a basis")
        K = np.ascontiguousarray(kernel(X, X))
        if needs_check(kernel):
            check_kernel_matrix(K, matrix_name(kernel))
        return K

    def _min_level(self, first: float) -> float:
        if self.alpha_min is None:
            return DEFAULT_REACH * first
        alpha_min = check_number("alpha_min", self.alpha_min, minimum=0.0, exclusive=True)
        return min(first, alpha_min * self._level_per_alpha)

    def _choose(self, alpha: float) -> None:
        self.alpha_ = alpha
        self.dual_coef_ = self.coef_at(alpha)

    def _known_path(self) -> SVMPath:
        path: SVMPath | None = getattr(self, "_path", None)
        if path is None:
            check_is_fitted(self)
            raise RankwiseError("A model read from a file knows only its chosen alpha; fit it again.")
        return path
