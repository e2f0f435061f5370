"""RankSVMPath: kernel RankSVM for every alpha at once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from rankwise.config import let_interrupt_through
from rankwise.errors import DataError, RankwiseError, warn_caller
from rankwise.held_out import HeldOut
from rankwise.long_tasks import task
from rankwise.metrics import Measure, get_measure
from rankwise.model.outcome import Outcome
from rankwise.model.schemas import SCHEMAS
from rankwise.operators.kernel import KernelFunction
from rankwise.path.graphs import Representative, explicit_graph
from rankwise.path.path_settings import checked_settings
from rankwise.path.path_solutions import PathSolutions
from rankwise.path.svm_path import OnEvent, SVMPath
from rankwise.plots import draw_path
from rankwise.preferences.queries import Queries, group_rows
from rankwise.preferences.samples import sample_judged_pairs
from rankwise.rankers.base import Ranker
from rankwise.rankers.kernels import checked_kernel
from rankwise.ridge.kernel_spaces import KernelSpace, kernel_space
from rankwise.scoring.functions import KernelExpansion
from rankwise.selection.breakpoints import choose_breakpoint
from rankwise.selection.calibrating import calibrate
from rankwise.selection.eval_sets import EvalArguments, eval_rows
from rankwise.types import Floats, Matrix
from rankwise.validation import (
    Problem,
    check_labels,
    check_number,
    taken_apart,
)


class RankSVMPath(Ranker):
    """Kernel RankSVM for all alphas: minimize ``R(f) + alpha ‖f‖²``, R the weighted mean hinge over pairs.

    With the linear kernel and the full graph, the model at `alpha` is that of ``RankSVM(alpha)``. A
    breakpoint with k pairs on the margin takes O(k² + m k) time, plus examining the pairs that may come next;
    memory is O(m² + pairs).

    Parameters
    ----------
    kernel, gamma, degree, coef0, columns
        As in `KernelRankRLS`.
    graph : {"full", "reduced"}, default="full"
        "full" uses every pair of rows of a query with different labels; "reduced" uses paper E's double stars
        between neighbouring levels, about two pairs per row, which makes the path many times faster to
        follow.
    representative : callable, optional
        Chooses the row that represents a level in the reduced graph, from an array of its rows. By default,
        the row that is least similar to the others of its query.
    weighting : {"query", "pair", "example"}, default="query"
        Whether queries, pairs or rows are weighted equally.
    alpha_min : float, optional
        The alpha at which the path ends; by default, a thousandth of the largest breakpoint.
    max_events : int, optional
        The number of events after which the path ends, with a warning; unlimited by default.
    tol : float, default=1e-7
        The largest violation of the optimality conditions to accept, in units of the margin.

    Attributes
    ----------
    alphas_ : array, shape (n_breakpoints,)
        The breakpoints, in ascending order. Between two of them, ``alpha f`` is linear in alpha.
    active_size_ : array of int, shape (n_breakpoints,)
        The number of pairs on the margin below each breakpoint.
    violation_ : array, shape (n_breakpoints,)
        The largest violation of the optimality conditions at each breakpoint: the certificate.
    n_events_, n_pairs_ : int
        The number of events on the path, and of pairs in the graph.
    alpha_ : float
        The alpha that `predict` uses: the smallest breakpoint, or the one that `select` chose.
    scores_, best_score_ : array, shape (n_breakpoints,), and float
        The measure that `select` found at each breakpoint, and at `alpha_`.
    calibration_ : Calibration
        The calibration of score differences at `alpha_`, measured on the rows given to `select`.
    dual_coef_ : array, shape (m,)
        The coefficients of the training rows at `alpha_`. A saved model keeps those of the whole path.

    References
    ----------
    Zapien, Gasso, Gärtner, Canu, "Model Selection for Ranking SVM Using Regularization Path" (2009).

    See Also
    --------
    RankSVM : Linear RankSVM, for many rows.
    KernelRankRLSCV : The squared loss with kernels, for more rows.

    Examples
    --------
    >>> from rankwise import RankSVMPath, make_search_data
    >>> train, test = make_search_data(20, random_state=0).scale_per_query().split(0.7)
    >>> model = RankSVMPath(graph="reduced").fit(train)
    >>> model.select(test.X, test.y, test.qid, "ndcg@10").alpha_ in model.alphas_
    True
    """

    _schema = SCHEMAS["RankSVMPath"]

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
        columns: Any = None,
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
        self.columns = columns

    @property
    def n_events_(self) -> int:
        """The number of events on the path."""
        return len(self.alphas_) - 1

    def fit(
        self,
        X: Any,
        y: Any = None,
        qid: ArrayLike | Iterable[Hashable] | None = None,
        sample_weight: ArrayLike | None = None,
        eval_set: Any = None,
        *,
        group: Any = None,
        query_weight: Any = None,
        eval_group: Any = None,
        eval_qid: Any = None,
        eval_metric: Any = None,
        eval_at: Any = None,
        on_event: OnEvent | None = None,
    ) -> Self:
        """Fit the ranker to labels by following the path of all solutions.

        The data is as in `RankSVM.fit`. On an eval_set, a breakpoint is chosen as by `select`. `on_event` is
        called from time to time with the fraction of the path completed (0 to 1, by log alpha), the number
        of events so far and that of pairs on the margin.
        """
        with task(f"Training {type(self).__name__}"):
            problem = self._read(X, y, qid, sample_weight, group=group, query_weight=query_weight)
            settings, measure = checked_settings(self), get_measure("pairwise_error")
            settings.check_fits(problem)
            evals = EvalArguments(eval_set, eval_group, eval_qid, eval_metric, eval_at)
            held_out = eval_rows(self._inputs, problem, measure, evals)
            sets = evals.rows(self._inputs, problem)
            space = self._space(problem.X, problem.queries)
            path = settings.follow(space.kernel_matrix, settings.graph_of(problem, space), on_event)
            self._set_path(space, path)
            return self if held_out is None else self._choose(sets[-1], measure, "eval_set", held_out)

    def fit_preferences(
        self, X: Any, pairs: Any, *, weight: ArrayLike | None = None, on_event: OnEvent | None = None
    ) -> Self:
        """Fit the ranker to explicit pairs (better row, worse row) by following the path; see `fit`."""
        with task(f"Training {type(self).__name__}"):
            rows, checked = self._read_preferences(X, pairs, None, weight)
            graph, settings = explicit_graph(checked, rows.shape[0]), checked_settings(self)
            space = self._space(rows, checked.components(rows.shape[0]))
            return self._set_path(space, settings.follow(space.kernel_matrix, graph, on_event))

    def dual_coef_at(self, alpha: float) -> Floats:
        """Return the exact coefficients of the training rows at any alpha that the path covers."""
        return self._known_path().coefficients_at(self._level_for(alpha))

    def n_support_at(self, alpha: float) -> int:
        """Return the number of pairs with a positive multiplier, which make up the model at this alpha."""
        return self._known_path().n_support_at(self._level_for(alpha))

    def predict(self, X: Any, alpha: float | None = None, *, qid: Any = None) -> Any:
        """Return the scores of rows at `alpha`, or at `alpha_` if it is None; higher is better."""
        if alpha is None:
            return super().predict(X, qid=qid)
        function = replace(self._expansion(), coefficients=self.dual_coef_at(alpha))
        return self._predict(X, replace(self.model_, of_features=function).function, qid)

    def select(
        self,
        X: Any,
        y: ArrayLike | None = None,
        qid: ArrayLike | Iterable[Hashable] | None = None,
        measure: str | Measure = "pairwise_error",
    ) -> Self:
        """Measure every breakpoint on validation rows and choose the best; ties go to the largest alpha."""
        self._known_path()
        rows, (y, qid, _) = self._inputs.rows(X, qid=qid), taken_apart(X, y, qid)
        if qid is None and self.fitted_with_qid_:
            raise DataError("select needs the qid of the validation rows: the path was fitted with qid.")
        labels = check_labels(y, rows.shape[0])
        validation = Problem(rows, labels, group_rows(qid, rows.shape[0]), None)
        return self._choose(validation, get_measure(measure), "select")

    def _choose(
        self, validation: Problem, measure: Measure, name: str, held_out: HeldOut | None = None
    ) -> Self:
        """Use the breakpoint that is best on these rows."""
        path, y, query = self._known_path(), validation.y, validation.queries.query_of_row()
        blocks = self._expansion().blocks_of_values(validation.X)
        values = np.concatenate([block for _, block in blocks])
        scores, place = choose_breakpoint(path, values, y, query, measure)
        sample = sample_judged_pairs(y, query)
        function = replace(self._expansion(), coefficients=path.coefficients_of(self.n_events_ - place))
        found: dict[str, Any] = {"scores": scores, "best_score": float(scores[place])}
        model = self._rows.model(
            function,
            replace(self.model_.outcome, alpha=float(self.alphas_[place]), **found),
            calibrate(np.vecdot(values, function.coefficients), sample, name),
            held_out=held_out,
            form_profile=self.model_.form_profile,
        )
        self._become(model)
        return self

    def plot(self, title: str = "Path") -> Any:
        """Return a matplotlib figure of the measure (if `select` was called) and the margin size by alpha."""
        check_is_fitted(self)
        return draw_path(self.alphas_, self.active_size_, getattr(self, "scores_", None), self.alpha_, title)

    def _space(self, X: Matrix, queries: Queries) -> KernelSpace:
        kernel = checked_kernel(self.kernel, self.gamma, self.degree, self.coef0, X, self._inputs.encoding)
        return kernel_space(X, kernel, queries.first_rows())

    def _set_path(self, space: KernelSpace, path: SVMPath) -> Self:
        if path.complaint is not None:
            warn_caller(path.complaint, ConvergenceWarning)
        outcome = Outcome(
            path=path,
            alphas=path.alphas,
            alpha=float(path.alphas[0]),
            n_pairs=path.graph.n_pairs,
            active_size=path.active_sizes[::-1].copy(),
            violation=path.violations[::-1].copy(),
        )
        last = path.coefficients_of(len(path.alphas) - 1)
        self._become(self._rows.model(replace(space, reference=None).function(last), outcome))
        if path.interrupted:
            let_interrupt_through()
        return self

    def _expansion(self) -> KernelExpansion:
        check_is_fitted(self)
        function = self.model_.of_features
        assert isinstance(function, KernelExpansion)
        return function

    def _level_for(self, alpha: float) -> float:
        asked = check_number("alpha", alpha, minimum=0.0, exclusive=True)
        return self._known_path().level_for(asked)

    def _known_path(self) -> PathSolutions:
        check_is_fitted(self)
        path = self.model_.outcome.path
        if path is None:
            raise RankwiseError(f"The file contains no path, only alpha = {self.alpha_:.6g}; fit it again.")
        return path
