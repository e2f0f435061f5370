"""RankSVM with built-in selection of alpha."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from rankwise.metrics.measure import Measure
from rankwise.model.outcome import Outcome
from rankwise.model.schemas import SCHEMAS
from rankwise.preferences.pairs import Pairs
from rankwise.rankers.ranksvm import certificate, warn_unless_converged
from rankwise.rankers.search_ranker import SearchRanker
from rankwise.scoring.functions import LinearFunction
from rankwise.selection.criteria import LossOf
from rankwise.selection.search import Candidate, Choice, grid_of
from rankwise.svm.hinge_family import HingeFamily, SolveEach
from rankwise.svm.losses import LOSSES, LossName
from rankwise.svm.risk import AnyRisk, Hinge
from rankwise.types import Floats, Matrix, Weighting
from rankwise.validation import Problem, check_choice, check_count, check_flag, check_number

DEFAULT_ALPHAS = tuple(10.0 ** (-k / 2) for k in range(15))


class RankSVMCV(SearchRanker):
    """Linear RankSVM with built-in selection of alpha.

    The alphas are solved from the largest down, each starting from the weights and, with the hinge, the
    cutting planes of the previous ones: a grid costs little more than its smallest alpha. Small alphas take
    most iterations, so the search ends when they get worse (`early_stopping`). The objective is that of
    `RankSVM`, at O(m s + m log m) per iteration. Ctrl-C ends the search with a warning; the choice is then
    based on the folds, or made among the alphas, that are finished.

    Parameters
    ----------
    alphas : sequence of float, default=(1e-7, ..., 1)
        The values to choose from. By default two per decade, from below paper D's 1e-5 for text to values
        that suit a few scaled features. These are fewer than in `RankRLSCV`, because the hinge loss is a
        mean, so that suitable alphas do not grow with the data as they do for a sum, and because each alpha
        takes iterations.
    cv : "auto", "leave-query-out", int, splitter or None, default="auto"
        What to leave out if `fit` gets no `eval_set`, as in `RankRLSCV`. "auto" means 5 folds, or as many as
        possible, because each fold takes a fit of the whole grid.
    measure : str or Measure, default="pairwise_error"
        The measure on the left-out data; see `rankwise.metrics.get_measure`.
    early_stopping : bool, default=True
        Whether to stop once `patience` alphas in a row are worse on the left-out data than the best one,
        provided that the best one is better than the largest alpha. (`RankSVM` stops along its iterations;
        this ranker stops along the alphas.) All folds move to smaller alphas together, so the measure is that
        of all left-out rows. With more than 10 folds, and with folds on a cluster, every alpha is tried.
    patience : int, default=3
        How many alphas in a row must be worse; a grid of up to ``patience + 2`` alphas is therefore tried in
        full.
    loss : {"hinge", "squared_hinge"} or a tuple of them, default="hinge"
        As in `RankSVM`; a tuple lists the values to choose from.
    weighting : {"query", "pair", "example"} or a tuple of them, default="query"
        As in `RankSVM`; a tuple lists the values to choose from.
    tol, max_iter
        As in `RankSVM`.
    columns : str or dict, optional
        How to encode the columns of a table: "auto", "spline", or a dict such as ``{"price": "log", "brand":
        "category"}``; see `ColumnEncoder`. By default, X is a matrix of features.
    interactions : "auto", int, list of pairs or dict, optional
        Pairs of columns that may interact; see `RankRLS`.

    Attributes
    ----------
    coef_ : array, shape (n,)
        The weights w.
    alpha_, best_score_, best_, best_index_, settings_, scores_, cv_, cv_results_
        As in `RankRLSCV`; a setting holds loss and weighting.
    left_out_scores_, calibration_
        As in `RankRLSCV`.
    alphas_ : array, shape (n_alphas,)
        The alphas tried, in ascending order; NaN in `scores_` where only other settings were tried.
    objective_, gap_, n_iter_, n_products_
        As in `RankSVM`, for the chosen alpha.
    encoding_ : Encoding
        The encoding of each column; only with `columns`.

    See Also
    --------
    RankSVM : For a given alpha.
    RankRLSCV : The squared loss, which uses how far labels are apart.

    Examples
    --------
    >>> from rankwise import RankSVMCV, make_search_data
    >>> train, test = make_search_data(60, random_state=0).split(0.7)
    >>> model = RankSVMCV([1e-2, 1e-3, 1e-4], measure="ndcg@10").fit(train)
    >>> round(model.best_score_, 1), round(model.score(test.X, test.y, test.qid), 1)
    (0.9, 0.9)
    """

    _schema = SCHEMAS["RankSVMCV"]
    _takes_parts = True
    _takes_alpha_zero = False

    def __init__(
        self,
        alphas: Sequence[float] | Floats = DEFAULT_ALPHAS,
        *,
        cv: Any = "auto",
        measure: str | Measure = "pairwise_error",
        early_stopping: bool = True,
        patience: int = 3,
        loss: str | Sequence[str] = "hinge",
        tol: float = 1e-3,
        max_iter: int = 1000,
        weighting: str | Sequence[str] = "query",
        columns: Any = None,
        interactions: Any = None,
    ) -> None:
        self.alphas = alphas
        self.cv = cv
        self.measure = measure
        self.early_stopping = early_stopping
        self.patience = patience
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.weighting = weighting
        self.columns = columns
        self.interactions = interactions

    def _candidates(
        self, X: Matrix, statements: Problem | Pairs, loss_on: Callable[[dict[str, Any]], LossOf]
    ) -> tuple[list[Candidate], bool]:
        tol = check_number("tol", self.tol, minimum=0.0)
        max_iter = check_count("max_iter", self.max_iter)
        patience = self.patience if check_flag("early_stopping", self.early_stopping) else None
        candidates, settings = [], grid_of({"loss": self.loss, "weighting": self.weighting})
        first: AnyRisk | None = None
        for setting in settings:
            solve_each = LOSSES[check_choice("loss", setting["loss"], LossName)].solve_each
            check_choice("weighting", setting["weighting"], Weighting)
            loss_of = loss_on(setting)
            first = first or loss_of(statements).risk(X)

            def make(
                solve_each: SolveEach = solve_each, loss_of: LossOf = loss_of, first: AnyRisk = first
            ) -> HingeFamily:
                risk = first.with_loss(loss_of(statements))
                return HingeFamily(risk, solve_each, tol, max_iter, patience)

            candidates.append(Candidate(setting, make, loss_of))
        return candidates, False

    def _check_stops_on_eval_set(self) -> None:
        """Alphas may also get worse on folds."""

    def _row_loss(self, setting: dict[str, Any], problem: Problem) -> Hinge:
        return LOSSES[LossName(setting["loss"])].of_rows(problem, Weighting(setting["weighting"]))

    def _pair_loss(self, setting: dict[str, Any], n_rows: int, pairs: Pairs) -> Hinge:
        return LOSSES[LossName(setting["loss"])].of_pairs(pairs, n_rows)

    def _chosen(self, choice: Choice) -> tuple[LinearFunction, Outcome]:
        result, values = choice.solutions.results[choice.place], choice.solutions.values
        warn_unless_converged(result)
        score = None if values is None else float(values[choice.place])
        return LinearFunction(result.coef), replace(certificate(result), validation_score=score)
