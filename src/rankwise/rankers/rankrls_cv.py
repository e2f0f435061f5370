"""RankRLS with built-in selection of alpha."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from rankwise.metrics.measure import Measure
from rankwise.metrics.named_measures import get_measure
from rankwise.model.model import FormMoments, given
from rankwise.model.outcome import Outcome
from rankwise.model.schemas import SCHEMAS
from rankwise.preferences.pairs import Pairs
from rankwise.rankers.ridge_solvers import (
    choice_outcome,
    pair_loss,
    ridge_candidates,
    row_loss,
    settings_of_loss,
)
from rankwise.rankers.search_ranker import SearchRanker
from rankwise.rankers.updatable import Updatable, has_primal_solver
from rankwise.ridge.closed_form import PrimalFamily
from rankwise.ridge.moments.forming import moments_of
from rankwise.ridge.moments.updating import learned_too
from rankwise.ridge.spaces import linear_space
from rankwise.scoring.functions import FeatureFunction
from rankwise.selection.criteria import LossOf
from rankwise.selection.progress import Progress
from rankwise.selection.search import Candidate, Choice, best_alpha
from rankwise.types import Floats, Matrix, Ties, Weighting
from rankwise.validation import Problem, check_number

# Paper A's grid: wide, because suitable alphas grow with the sums over pairs or rows, and at no extra cost,
# because one decomposition gives every value.
DEFAULT_ALPHAS = tuple(2.0**k for k in range(-15, 16))


class RankRLSCV(Updatable, SearchRanker):
    """Linear RankRLS with built-in selection of alpha, from one decomposition or one run of "cg".

    The objective is that of `RankRLS`. The primal solver takes O(m n² + n³) and then O(n²) per alpha; leaving
    out a query of h rows adds at most O(n³) for all alphas together, or O(h² n + h³) per alpha, whichever is
    less. The costs of the dual solver and "cg" are as in `RankRLS`.

    Parameters
    ----------
    alphas : sequence of float, default=(2⁻¹⁵, ..., 2¹⁵)
        The values to choose from.
    cv : "auto", "leave-query-out", "leave-pair-out", int, splitter or None, default="auto"
        How to evaluate each alpha if `fit` gets no `eval_set`. An int is a number of folds of whole queries
        (or of rows stratified by label, for one global ranking); a splitter is one of scikit-learn's;
        "leave-query-out" leaves out each query in turn, and "leave-pair-out" each pair of rows of one global
        ranking. Closed forms leave out whole queries exactly, for every alpha, at the cost of a few fits.
        "auto" means leave-query-out for closed forms (with more than 10,000 queries, in 1,000 random groups);
        leave-pair-out for one global ranking of up to 5,000 rows; and otherwise ("cg", explicit pairs) 5
        folds, or as many as possible. None requires an `eval_set`.
    measure : str or Measure, default="pairwise_error"
        The measure on the left-out data; see `rankwise.metrics.get_measure`.
    solver : {"auto", "closed", "primal", "dual", "cg"}, default="auto"
        As in `RankRLS`. "cg" solves all alphas with the products of a single run and, given an `eval_set`,
        measures every iterate of every alpha on it; each fold takes one run.
    ties : {"keep", "drop"} or a tuple of them, default="keep"
        ``("keep", "drop")`` chooses between the two, as in paper A.
    weighting : {"example", "pair", "query"} or a tuple of them, default="example"
        As in `RankRLS`; a tuple lists the values to choose from.
    early_stopping : bool, default=False
        Whether "cg" uses the best iteration of each alpha on the `eval_set` (paper C's hybrid method; with
        ``alphas=[0]``, its regularization by iteration) and stops when no alpha improves, rather than at
        convergence.
    tol, max_iter, patience, checkpoint, checkpoint_seconds
        For "cg", as in `RankRLS`. Every fold and setting has its own checkpoint in the folder.
    half_life : float, optional
        For `partial_fit`: the number of batches after which a query counts half as much; None for never.
    monotonic_cst : dict of str to int, or array, shape (n,), optional
        The sign of weights, as in `RankRLS`. Every alpha, and every alpha without each query, then takes
        O(n³), and one global ranking is left out in folds.
    columns : str or dict, optional
        How to encode the columns of a table: "auto", "spline", or a dict such as ``{"price": "log", "brand":
        "category"}``; see `ColumnEncoder`. By default, X is a matrix of features.
    interactions : "auto", int, list of pairs or dict, optional
        Pairs of columns that may interact; see `RankRLS`.
    across_queries : float, default=0.0
        The weight of the loss across queries, as in `RankRLS`. Leaving out queries costs as much as without
        it if the solver is primal, ties are kept, and the weighting is "example"; otherwise each fold takes a
        fit, and "auto" means 5 folds.

    Attributes
    ----------
    coef_ : array, shape (n,)
        The weights w.
    alpha_, best_score_ : float
        The chosen alpha and its measure.
    best_ : dict
        Both of these, and the chosen setting.
    cv_results_ : dict of columns
        The alternatives and their scores in the form of scikit-learn's `GridSearchCV`; errors are negated.
    best_index_ : int
        The index of the choice in `cv_results_`.
    alphas_ : array, shape (n_alphas,)
        In ascending order.
    settings_ : list of dict
        The combinations of the other parameters tried.
    scores_ : array, shape (n_settings, n_alphas)
        The measure for each setting and alpha.
    cv_ : str
        What the choice is based on: "leave-query-out", "5 folds of queries", "eval_set" and so on.
    left_out_scores_ : array, shape (m,)
        The score of each row by the model that was not trained on its query (or fold), for the chosen alpha;
        NaN for rows that were not left out. Not set with an `eval_set`, by leave-pair-out or on a cluster,
        and not saved in files.
    calibration_ : Calibration
        The calibration of score differences, measured on the left-out rows or the `eval_set`; see
        `predict_preference_proba`. Not set by leave-pair-out, and discarded by updates.
    solver_ : {"primal", "dual", "cg"}
        The solver used.
    surface_ : array, shape (n_alphas, n_iterations)
        The measure on the `eval_set` for every alpha and iteration of "cg".
    readings_ : dict
        The alpha and iteration that each of paper C's methods chooses from `surface_`, and its score:
        "tikhonov" (the best alpha at convergence), "iteration" (the best iteration at the smallest alpha),
        "hybrid" (the best of all).
    n_iter_, validation_score_, validation_curve_, best_iter_
        As in `RankRLS`, for the chosen alpha.
    moments_, coef_error_, kkt_residual_, contradicted_signs_
        As in `RankRLS`.
    progress_ : array, shape (n_batches, n_alphas)
        The measure on each batch of `partial_fit` before it was learned, except the first if there was no
        model yet.
    progress_queries_ : array, shape (n_batches,)
        The number of queries of the batch for which the measure is defined.
    encoding_ : Encoding
        The encoding of each column; only with `columns`.

    See Also
    --------
    RankRLS : For a given alpha.
    RankRLSPath : Chooses features as well.
    KernelRankRLSCV : The same with kernels.
    RankSVMCV : The hinge loss, which uses only the order of labels.

    Examples
    --------
    >>> from rankwise import RankRLSCV, make_search_data
    >>> data = make_search_data(60, random_state=0)
    >>> model = RankRLSCV(measure="ndcg@10", ties=("keep", "drop")).fit(data)
    >>> model.cv_, model.scores_.shape
    ('leave-query-out', (2, 31))
    >>> model.best_["ties"], model.alpha_
    ('drop', 0.0009765625)
    """

    _schema = SCHEMAS["RankRLSCV"]
    _takes_parts = True
    _row_loss = staticmethod(row_loss)
    _pair_loss = staticmethod(pair_loss)

    def __init__(
        self,
        alphas: Sequence[float] | Floats = DEFAULT_ALPHAS,
        *,
        cv: Any = "auto",
        measure: str | Measure = "pairwise_error",
        solver: str = "auto",
        ties: str | Sequence[str] = "keep",
        weighting: str | Sequence[str] = "example",
        tol: float = 1e-5,
        max_iter: int = 500,
        early_stopping: bool = False,
        patience: int = 10,
        checkpoint: str | None = None,
        checkpoint_seconds: float = 60.0,
        half_life: float | None = None,
        monotonic_cst: Any = None,
        columns: Any = None,
        interactions: Any = None,
        across_queries: float = 0.0,
    ) -> None:
        self.alphas = alphas
        self.cv = cv
        self.measure = measure
        self.solver = solver
        self.ties = ties
        self.weighting = weighting
        self.tol = tol
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.patience = patience
        self.checkpoint = checkpoint
        self.checkpoint_seconds = checkpoint_seconds
        self.half_life = half_life
        self.monotonic_cst = monotonic_cst
        self.columns = columns
        self.interactions = interactions
        self.across_queries = across_queries

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
        """Learn more queries, and choose alpha by progressive validation; otherwise as in `RankRLS`.

        The models of all alphas first score the new queries; the best alpha is that with the best mean over
        all batches so far, old ones discounted by `half_life`. A first batch is fitted as by `fit`.
        """
        with self._knowing_categories(X, add_categories):
            return self._learn(X, y, qid, sample_weight, group=group, query_weight=query_weight)

    def _learn(self, X: Any, y: Any, qid: Any, sample_weight: Any, **options: Any) -> Self:
        half_life, moments = self._checked_half_life(), self._moments_to_update()
        if moments is None:
            self.fit(X, y, qid, sample_weight, **options)
        problem, batch = self._check_batch(X, y, qid, sample_weight, **options)
        loss, names = _loss_of(self.best_), self._inputs.weight_names
        if moments is None:
            if self.model_.moments is None:  # because another solver was cheaper for the first batch
                first = partial(given, moments_of(problem, *loss, names))
                self._set_model(replace(self.model_, form_moments=first))
            return self
        so_far, known = Progress.none(len(self.alphas_), half_life), self._kept_outcome()
        if known.progress is not None and known.progress_queries is not None:
            so_far = Progress(known.progress, known.progress_queries, half_life)
        learned = learned_too(moments * so_far.factor, problem, *loss, names)
        family = self._family_of(moments)
        progress = so_far.then(family, problem, measure := get_measure(self.measure), self.alphas_)
        known = replace(known, progress=progress.values, progress_queries=progress.n_queries)
        if progress.is_measured:
            known = replace(known, **self._chosen_by(progress.means(), measure))
        self._adopt(learned, known, batch)
        return self

    def _candidates(
        self, X: Matrix, statements: Problem | Pairs, loss_on: Callable[[dict[str, Any]], LossOf]
    ) -> tuple[list[Candidate], bool]:
        self._checked_half_life()  # even if this fit has no use for it
        losses = settings_of_loss(self.ties, self.weighting)
        reference = loss_on(losses[0])(statements).reference()
        space = partial(linear_space, X, reference, self._signs())
        candidates, exact = ridge_candidates(self, [({}, space)], losses, statements, loss_on)
        one_ranking = isinstance(statements, Problem) and statements.queries.n_queries == 1
        # With signs, whole queries can be left out, pairs of one ranking cannot.
        return candidates, exact and not (one_ranking and self.monotonic_cst is not None)

    def _chosen(self, choice: Choice) -> tuple[FeatureFunction, Outcome]:
        coef, alpha = choice.solutions.coef[choice.place], float(choice.solutions.alphas[choice.place])
        outcome = choice_outcome(choice, early_stopping=self.early_stopping)
        if isinstance(choice.family, PrimalFamily):  # which signs need
            outcome = self._certified(outcome, choice.family.quadratic, alpha, coef)
        return choice.family.space.function(coef), outcome

    def _moments_from(self, problem: Problem, choice: Choice) -> FormMoments | None:
        form = self._moments_formed_later(problem, choice.family, _loss_of(choice.best))
        # Of rows on workers, which may be gone when it is needed, it is formed now.
        return form if form is None or isinstance(problem, Problem) else partial(given, form())

    def _kept_outcome(self) -> Outcome:
        """The choice, and how it came about."""
        known = self.model_.outcome
        return Outcome(
            alphas=known.alphas,
            scores=known.scores,
            settings=known.settings,
            best=known.best,
            cv=known.cv,
            progress=known.progress,
            progress_queries=known.progress_queries,
        )

    def _checked_half_life(self) -> float | None:
        if self.half_life is None:
            return None
        return check_number("half_life", self.half_life, minimum=0.0, exclusive=True)

    def _chosen_by(self, means: Floats, measure: Measure) -> dict[str, Any]:
        """What an `Outcome` says of the choice among the means over all batches."""
        at = best_alpha(means[None], measure)[1]
        setting = {name: self.best_[name] for name in ("ties", "weighting")}
        best = {"alpha": float(self.alphas_[at]), "score": float(means[at]), **setting}
        return {"best": best, "settings": [setting], "scores": means[None], "cv": "progressive validation"}

    def _alpha_to_use(self) -> float:
        return self.alpha_


def _loss_of(best: dict[str, Any]) -> tuple[Ties, Weighting]:
    """The loss of a choice."""
    return Ties(best["ties"]), Weighting(best["weighting"])
