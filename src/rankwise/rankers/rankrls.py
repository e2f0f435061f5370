"""RankRLS: regularized least squares on differences."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from rankwise.columns.inputs import Inputs
from rankwise.errors import ParameterError
from rankwise.features import Features
from rankwise.held_out import HeldOut
from rankwise.model.history import Origin
from rankwise.model.model import FormMoments
from rankwise.model.outcome import Outcome
from rankwise.model.schemas import SCHEMAS
from rankwise.rankers.ridge_ranker import FixedAlphaRidge
from rankwise.rankers.rows_of_fit import RowsOfFit
from rankwise.rankers.updatable import Updatable, has_primal_solver
from rankwise.ridge.cg_result import RidgeSolutions
from rankwise.ridge.closed_form import PrimalFamily
from rankwise.ridge.moments.moments import Moments
from rankwise.ridge.moments.updating import learned_too
from rankwise.ridge.ridge_family import RidgeFamily
from rankwise.ridge.spaces import Space, linear_space
from rankwise.ridge.squared import SquaredLoss
from rankwise.types import Ints, Matrix, RandomSource
from rankwise.validation import Problem, check_number


class RankRLS(Updatable, FixedAlphaRidge):
    """Linear RankRLS: minimize ``Σ_q c_q Σ_{i<j in q} (yᵢ − yⱼ − (xᵢ − xⱼ)·w)² + alpha ‖w‖²``.

    Parameters
    ----------
    alpha : float, default=1.0
        The papers' λ; 0 gives the least-squares solution of smallest norm.
    solver : {"auto", "closed", "primal", "dual", "cg"}, default="auto"
        "primal" solves for feature weights, O(m n² + n³); "dual" for row coefficients, O(m² n + m³); "cg"
        uses conjugate gradient with sparse products, O(t m s) for t iterations and s non-zeros per row
        (paper C). "closed" chooses the cheaper of the first two. "auto" chooses the cheapest solver that fits
        in memory, or "cg" if `early_stopping` or `checkpoint` requires iterations; an `eval_set` does not
        change the solver. All solvers give the same model, "cg" up to `tol`.
    ties : {"keep", "drop"}, default="keep"
        Whether to keep or drop pairs with equal labels.
    weighting : {"example", "pair", "query"}, default="example"
        The weight c of a query's pairs: one over its number of rows, 1, or one over its number of pairs.
    tol : float, default=1e-5
        "cg" stops when the norm of the residual is at most this fraction of that of the right-hand side.
    max_iter : int, default=500
        "cg" stops after this many iterations, with a warning.
    early_stopping : bool, default=False
        Whether "cg" keeps the iterate with the best `measure` on held-out rows (or on `eval_set`) and stops
        after `patience` iterations without improvement: regularization by iteration. With alpha = 0 this is
        the only regularization; otherwise the two are combined.
    patience : int, default=10
        The number of iterations without improvement after which early stopping ends "cg".
    validation_fraction : float, default=0.1
        The fraction of queries (of rows, for one global ranking) to hold out for early stopping.
    measure : str, default="pairwise_error"
        The name of the measure on held-out rows, as in `rankwise.metrics`.
    monotonic_cst : dict of str to int, or array, shape (n,), optional
        The sign of weights, by feature name or for every feature: 1 if the score may only rise with the
        feature, −1 if it may only fall, 0 for either. With `columns`, names are those of columns. Needs the
        primal solver and alpha above 0.
    checkpoint : str, optional
        A folder in which "cg" saves its state; an interrupted run resumes from it with bit-identical results.
    checkpoint_seconds : float, default=60
        The minimum time between two saves.
    random_state : int, RandomState, Generator or None, default=None
        Determines the rows to hold out.
    columns : str or dict, optional
        How to encode the columns of a table: "auto", "spline", or a dict such as ``{"price": "log", "brand":
        "category"}``; see `ColumnEncoder`. By default, X is a matrix of features.
    interactions : "auto", int, list of pairs or dict, optional
        Pairs of columns that may interact, such as ``[("device", "price")]``; a dict also gives the code, as
        in ``{("device", "price"): "spline:6"}``. "auto" searches for pairs that explain left-out queries; a
        number limits how many. The columns themselves are then encoded as splines, unless `columns` is given.
    across_queries : float, default=0.0
        The weight of an additional loss, of all rows treated as one query (``qid=None``), with the same
        `ties` and `weighting`. If it is above 0, scores of different queries are comparable, columns that are
        constant within queries are used, and the model cannot be updated.

    Attributes
    ----------
    coef_ : array, shape (n,) or (k, n)
        The weights w, one row per target if y has k columns.
    solver_ : {"primal", "dual", "cg"}
        The solver used.
    n_iter_ : int or None
        The number of "cg" iterations; None for the other solvers.
    validation_score_ : float
        The measure of the model on held-out rows; set only if there are any.
    validation_curve_ : array, shape (iterations,)
        The measure after each iteration of "cg".
    best_iter_ : int
        The best iteration, counting from 1: the one that early stopping keeps.
    calibration_ : Calibration
        The calibration of score differences, measured on held-out rows; set only if there are any.
    moments_ : Moments
        The sufficient statistics of the data, for updates; only with the solver "primal".
    coef_error_ : float
        After an update, a bound on the norm of the error of `coef_` due to rounding since the first row.
    kkt_residual_ : float
        With `monotonic_cst`, the violation of the optimality conditions (Karush, Kuhn, Tucker) at `coef_`,
        relative to their terms: about 1e-16 at the minimum.
    contradicted_signs_ : list of str
        The features whose weight is 0 because the labels contradict its sign.
    encoding_ : Encoding
        The encoding of each column; only with `columns`.

    References
    ----------
    Pahikkala et al., "Learning to Rank with Pairwise Regularized Least-Squares" (2007), equations 8 and 11;
    Airola et al., "Large scale training methods for linear RankRLS" (2010).

    See Also
    --------
    RankRLSCV : Chooses alpha; the ranker to start with.
    KernelRankRLS : The same loss with kernels.
    RankSVM : The hinge loss, which uses only the order of labels.

    Examples
    --------
    >>> from rankwise import RankRLS
    >>> X, y, qid = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, 0.0, 2.0], ["a", "a", "a"]
    >>> RankRLS(alpha=0.1).fit(X, y, qid).rank(X, qid).tolist()
    [2, 0, 1]
    """

    _schema = SCHEMAS["RankRLS"]
    _takes_parts = True

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        solver: str = "auto",
        ties: str = "keep",
        weighting: str = "example",
        tol: float = 1e-5,
        max_iter: int = 500,
        early_stopping: bool = False,
        patience: int = 10,
        validation_fraction: float = 0.1,
        measure: str = "pairwise_error",
        monotonic_cst: Any = None,
        checkpoint: str | None = None,
        checkpoint_seconds: float = 60.0,
        random_state: RandomSource = None,
        columns: Any = None,
        interactions: Any = None,
        across_queries: float = 0.0,
    ) -> None:
        self.alpha = alpha
        self.solver = solver
        self.ties = ties
        self.weighting = weighting
        self.tol = tol
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.measure = measure
        self.monotonic_cst = monotonic_cst
        self.checkpoint = checkpoint
        self.checkpoint_seconds = checkpoint_seconds
        self.random_state = random_state
        self.columns = columns
        self.interactions = interactions
        self.across_queries = across_queries

    @classmethod
    def from_moments(cls, moments: Moments, alpha: float = 1.0, *, monotonic_cst: Any = None) -> Self:
        """Return the model that a fit to the rows behind the moments would give; O(n³).

        If ``XᵀLX`` is too ill-conditioned for this alpha, the model is less accurate than a fit to the rows,
        and a warning says so.

        Parameters
        ----------
        moments : Moments
            Moments without open queries.
        alpha : float, default=1.0
            As in the class.
        monotonic_cst : optional
            As in the class.
        """
        if not isinstance(moments, Moments):
            raise ParameterError(f"from_moments needs Moments; got {type(moments).__name__}.")
        ties, weighting = str(moments.ties), str(moments.weighting)
        model = cls(alpha, ties=ties, weighting=weighting, monotonic_cst=monotonic_cst)
        features = Features(moments.feature_names, count=moments.n_features)
        model._rows = RowsOfFit(Inputs(cls.__name__, features), Origin())
        model._adopt(moments, Outcome(), method="from_moments")
        return model

    @available_if(has_primal_solver)  # type: ignore[untyped-decorator]
    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        qid: ArrayLike | Iterable[Hashable] | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        group: Any = None,
        query_weight: Any = None,
        add_categories: bool = False,
    ) -> Self:
        """Learn more queries: the model is then that of a fit to all of them.

        O(m n²) for m new rows, and O(n³), however many rows were learned before. The parameters are those of
        `fit`. A query must be complete, and cannot be learned twice; for rows that arrive in parts, add
        `Moments` and use `from_moments`.

        With `add_categories`, each category that the model does not know becomes a feature of its own, which
        is 0 in all rows learned before; with `columns` only. Rare categories that were learned together as
        "other" stay there.
        """
        with self._knowing_categories(X, add_categories):
            moments = self._moments_to_update()
            options = {"group": group, "query_weight": query_weight}
            problem, batch = self._check_batch(X, y, qid, sample_weight, **options, multi_output=True)
            learned = learned_too(moments, problem, *self._checked_loss(), self._inputs.weight_names)
            self._adopt(learned, Outcome(), batch)
        return self

    def _families_of(
        self, X: Matrix, losses: Sequence[SquaredLoss], held_out: HeldOut | None
    ) -> list[RidgeFamily]:
        self._signs(sum(loss.n_targets or 1 for loss in losses))
        return super()._families_of(X, losses, held_out)

    def _outcome(self, family: RidgeFamily, found: RidgeSolutions) -> Outcome:
        outcome = super()._outcome(family, found)
        if not isinstance(family, PrimalFamily):  # which signs need
            return outcome
        return self._certified(outcome, family.quadratic, float(found.alphas[0]), found.coef[0])

    def _alpha_to_use(self) -> float:
        return check_number("alpha", self.alpha, minimum=0.0)

    def _moments_from(self, problem: Problem, families: Sequence[RidgeFamily]) -> FormMoments | None:
        if len(families) > 1:
            return None
        return self._moments_formed_later(problem, families[0], self._checked_loss())

    def _make_space(self, X: Matrix, reference: Ints) -> Space:
        return linear_space(X, reference, self._signs())
