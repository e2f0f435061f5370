"""RankSVM: the pairwise hinge, with a certificate."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from rankwise.config import let_interrupt_through
from rankwise.errors import warn_caller
from rankwise.held_out import HeldOut
from rankwise.long_tasks import step, task
from rankwise.model.outcome import Outcome
from rankwise.model.schemas import SCHEMAS
from rankwise.operators.design import MatrixDesign
from rankwise.rankers.base import Ranker
from rankwise.scoring.functions import LinearFunction
from rankwise.selection.eval_sets import EvalArguments, hold_out_pairs, hold_out_rows
from rankwise.svm.hinge_result import EarlyStopping, HingeResult, Iterate
from rankwise.svm.losses import LOSSES, LossKind, LossName
from rankwise.svm.risk import Hinge
from rankwise.types import Floats, Matrix, RandomSource, Weighting
from rankwise.validation import check_choice, check_count, check_flag, check_number


def certificate(result: HingeResult) -> Outcome:
    """How close a model is to the minimum, and what it took."""
    return Outcome(
        objective=result.objective,
        gap=result.gap,
        n_iter=max(1, result.n_iter),
        n_products=result.n_products,
    )


def warn_unless_converged(result: HingeResult) -> None:
    if result.complaint is not None:
        warn_caller(result.complaint, ConvergenceWarning)


class RankSVM(Ranker):
    """Linear RankSVM: minimize ``R(w) + alpha ‖w‖²``, R the mean of ``max(0, 1 − (xᵢ − xⱼ)·w)`` over pairs.

    A pair is two rows of a query with different labels; i is the row with the higher label. Labels may be any
    real numbers: an iteration takes O(m s + m log m), however many different labels there are, and pairs are
    never enumerated.

    Parameters
    ----------
    alpha : float, default=1e-3
        The papers' λ. SVMrank's C is ``n / (2 alpha N)`` for N pairs in n queries, with ``weighting="pair"``.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The cost of a pair inside the margin: its slack or the square of its slack.
    tol : float, default=1e-3
        Stop when the objective is proven to be within this distance of its minimum.
    max_iter : int, default=1000
        The maximum number of iterations: two products with X each, or a Newton step.
    weighting : {"query", "pair", "example"}, default="query"
        The relative weight of pairs from different queries: every query counts equally, every pair does, or a
        query counts as much as its number of pairs divided by its number of rows.
    warm_start : bool, default=False
        Whether to start from the weights of the previous fit.
    early_stopping, patience, validation_fraction, measure, random_state
        As in `RankRLS`: whether to keep the iterate that is best on held-out rows, and how. Each iterate
        then takes a product with these rows as well.
    columns : str or dict, optional
        How to encode the columns of a table: "auto", "spline", or a dict such as ``{"price": "log", "brand":
        "category"}``; see `ColumnEncoder`. By default, X is a matrix of features.
    interactions : "auto", int, list of pairs or dict, optional
        Pairs of columns that may interact; see `RankRLS`.

    Attributes
    ----------
    coef_ : array, shape (n,)
        The weights w.
    objective_ : float
        ``R(w) + alpha ‖w‖²`` at `coef_`.
    gap_ : float
        A certificate: the objective is at most this far above its minimum.
    n_iter_ : int
        The number of iterations.
    validation_curve_ : array, shape (n_iterates,)
        The measure of each iterate; set only with held-out rows. With "squared_hinge", the first iterate is
        the starting point.
    best_iter_ : int
        The best iterate, counting from 1: the one that early stopping keeps.
    calibration_ : Calibration
        As in `RankRLS`.
    n_products_ : int
        The number of times X or its transpose was multiplied by a vector.
    encoding_ : Encoding
        The encoding of each column; only with `columns`.

    References
    ----------
    Airola, Pahikkala, Salakoski, "An Improved Training Algorithm for the Linear Ranking Support Vector
    Machine" (2011), Algorithm 1; Franc and Sonnenburg, "Optimized Cutting Plane Algorithm for Large-Scale
    Risk Minimization" (2009).

    See Also
    --------
    RankSVMCV : Chooses alpha.
    RankSVMPath : Kernel RankSVM for every alpha.
    RankRLS : The squared loss, which uses how far labels are apart.

    Examples
    --------
    >>> from rankwise import RankSVM
    >>> X, y, qid = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, 0.0, 2.0], ["a", "a", "a"]
    >>> RankSVM(alpha=0.01).fit(X, y, qid).rank(X, qid).tolist()
    [2, 0, 1]
    """

    _schema = SCHEMAS["RankSVM"]
    _takes_parts = True

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        loss: str = "hinge",
        tol: float = 1e-3,
        max_iter: int = 1000,
        weighting: str = "query",
        warm_start: bool = False,
        early_stopping: bool = False,
        patience: int = 10,
        validation_fraction: float = 0.1,
        measure: str = "pairwise_error",
        random_state: RandomSource = None,
        columns: Any = None,
        interactions: Any = None,
    ) -> None:
        self.alpha = alpha
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.weighting = weighting
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.measure = measure
        self.random_state = random_state
        self.columns = columns
        self.interactions = interactions

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
    ) -> Self:
        """Fit the ranker to graded or real-valued labels; higher is better.

        Parameters
        ----------
        X : array or CSR matrix, shape (m, n), or RankingData
            A `RankingData` has its own labels, queries and feature names, and may have weights; y and qid are
            then left out.
        y : array, shape (m,)
            Labels of any real value; higher is better.
        qid : sequence of hashables, optional
            The query of each row, in any order; None means one global ranking.
        sample_weight : array, shape (m,), optional
            The weight of a pair is the product of its rows' weights: a weight of 2 is equivalent to repeating
            the row.
        eval_set : (X, y), (X, y, qid), RankingData or a list of these, optional
            Rows on which to evaluate the iterates by `measure`, instead of a part of X; each counts once. Of
            several sets, the last one decides; `evals_result_` has the values of the model on all of them.
        group : array of int, optional
            The sizes of queries whose rows follow one another, in place of qid.
        query_weight : array, shape (n_queries,), or mapping, optional
            How much each query counts, in order of first appearance or by label; 1 by default.
        eval_group, eval_qid : list, optional
            For each eval_set that is only (X, y), the sizes of its queries, or its qid.
        eval_metric, eval_at : list, optional
            Measures to evaluate besides `measure`, and cutoffs of those without one, as in
            ``eval_at=[5, 10]`` for NDCG.
        """
        with task(f"Training {type(self).__name__}"):
            start, options = self._start(), {"group": group, "query_weight": query_weight}
            problem = self._read(X, y, qid, sample_weight, **options)
            evals = EvalArguments(eval_set, eval_group, eval_qid, eval_metric, eval_at)
            problem, held_out = hold_out_rows(self, self._inputs, problem, evals)
            loss = self._loss_kind().of_rows(problem, check_choice("weighting", self.weighting, Weighting))
            return self._learn(problem.X, loss, start, held_out)

    def fit_preferences(
        self,
        X: Any,
        pairs: Any,
        magnitude: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        *,
        eval_set: Any = None,
    ) -> Self:
        """Fit the ranker to pairwise preferences between rows.

        Parameters
        ----------
        X : array or CSR matrix, shape (m, n)
            The rows to which the pairs refer.
        pairs : array of int, shape (n_pairs, 2)
            Row numbers, the preferred row first. Contradictions and cycles are allowed and treated as noise.
        magnitude : array, shape (n_pairs,), optional
            The score difference at or above which a pair costs nothing; 1 by default.
        weight : array, shape (n_pairs,), optional
            How much each pair counts; 1 by default.
        eval_set : (X, pairs) or (X, pairs, weight), optional
            Pairs on which to evaluate the iterates, by the fraction of pairs violated, instead of a part of
            the training pairs.
        """
        with task(f"Training {type(self).__name__}"):
            start, (rows, checked) = self._start(), self._read_preferences(X, pairs, magnitude, weight)
            checked, held_out = hold_out_pairs(self, self._inputs, rows, checked, eval_set)
            check_choice("weighting", self.weighting, Weighting)
            loss = self._loss_kind().of_pairs(checked, rows.shape[0])
            return self._learn(rows, loss, start, held_out)

    def _learn(self, X: Matrix, loss: Hinge, start: Floats | None, held_out: HeldOut | None) -> Self:
        tol = check_number("tol", self.tol, minimum=0.0)
        patience = check_count("patience", self.patience)
        stopping = None
        if held_out is not None:
            scores = MatrixDesign(held_out.X).scores
            stopping = EarlyStopping(held_out, scores, patience if self.early_stopping else None)

        def on_iteration(iterate: Iterate) -> bool:
            step(f"iteration {iterate.n_iter}, gap {iterate.gap:.2g} (tol {tol:.2g})")
            return stopping is not None and stopping(iterate)

        found = self._loss_kind().solve(
            loss.risk(X),
            check_number("alpha", self.alpha, minimum=0.0, exclusive=True),
            tol=tol,
            max_iter=check_count("max_iter", self.max_iter),
            start=start if start is not None and len(start) == X.shape[1] else None,
            on_iteration=on_iteration,
        )
        if stopping is None or not stopping.stopped:
            warn_unless_converged(found)
        kept = stopping.kept(found) if stopping is not None and self.early_stopping else found
        outcome = certificate(kept)
        if stopping is not None:
            outcome = replace(
                outcome,
                validation_curve=np.array(stopping.curve),
                best_iter=stopping.best_iter,
                validation_score=stopping.curve[stopping.best_iter - 1 if self.early_stopping else -1],
            )
        function = LinearFunction(kept.coef)
        self._become(self._rows.model(function, outcome, held_out=held_out))
        if found.interrupted:
            let_interrupt_through()
        return self

    def _loss_kind(self) -> LossKind:
        return LOSSES[check_choice("loss", self.loss, LossName)]

    def _start(self) -> Floats | None:
        """The weights of the previous fit, if this fit is to start from them."""
        return getattr(self, "coef_", None) if check_flag("warm_start", self.warm_start) else None
