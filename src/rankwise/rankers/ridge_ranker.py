"""Fitting RankRLS with a fixed alpha, in any space."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from rankwise.config import let_interrupt_through
from rankwise.errors import ParameterError, RankwiseError
from rankwise.features import matrix_of
from rankwise.held_out import HeldOut
from rankwise.long_tasks import task
from rankwise.model.history import Origin
from rankwise.model.model import FormMoments
from rankwise.model.outcome import Outcome
from rankwise.rankers.base import Ranker
from rankwise.rankers.ridge_solvers import checked_solver, solver_outcome
from rankwise.ridge.cg_result import RidgeSolutions
from rankwise.ridge.ridge_family import RidgeFamily, ridge_family, solve_targets
from rankwise.ridge.spaces import Space
from rankwise.ridge.squared import SquaredLoss, loss_on_pairs, losses_on_scores, with_pairs
from rankwise.selection.eval_sets import EvalArguments, hold_out_pairs, hold_out_rows
from rankwise.types import Ints, Matrix, RandomSource, Ties, Weighting
from rankwise.validation import (
    Problem,
    check_choice,
    check_number,
)


class FixedAlphaRidge(Ranker):
    """RankRLS for one alpha, from labels, pairs or both; can produce the model for other alphas."""

    alpha: float
    ties: str
    weighting: str
    solver: str
    tol: float
    max_iter: int
    early_stopping: bool
    patience: int
    checkpoint: str | None
    checkpoint_seconds: float
    validation_fraction: float
    measure: str
    random_state: RandomSource

    def _moments_from(self, problem: Problem, families: Sequence[RidgeFamily]) -> FormMoments | None:
        """What later updates of the model need; None if it cannot be updated."""
        return None

    @abstractmethod
    def _make_space(self, X: Matrix, reference: Ints) -> Space:
        """The function space that the parameters define over the training rows."""

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
        """Fit the ranker to graded or real-valued labels.

        Parameters
        ----------
        X : array or CSR matrix, shape (m, n), or RankingData
            A `RankingData` has its own labels, queries and feature names, and may have weights; y and qid are
            then left out.
        y : array, shape (m,) or (m, k)
            Labels of any real value; higher is better. k columns are k independent targets.
        qid : sequence of hashables, optional
            The query of each row, in any order; None means one global ranking.
        sample_weight : array, shape (m,), optional
            A weight of 2 is equivalent to repeating the row.
        eval_set : (X, y), (X, y, qid), RankingData or a list of these, optional
            Rows on which to evaluate the model (`evals_result_`); each row counts once. The last of several
            sets also determines `validation_score_` and, with "cg", `validation_curve_`, which has every
            iterate. They affect the model only with `early_stopping`.
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
            options = {"group": group, "query_weight": query_weight}
            given = self._read(X, y, qid, sample_weight, **options, multi_output=True)
            evals = EvalArguments(eval_set, eval_group, eval_qid, eval_metric, eval_at)
            problem, held_out = hold_out_rows(self, self._inputs, given, evals)
            losses = losses_on_scores(problem, *self._checked_loss())
            families = self._families_of(problem.X, losses, held_out)
            moments = self._moments_from(problem, families)
            return self._solve(families, held_out, moments)

    def fit_preferences(
        self,
        X: Any,
        pairs: Any,
        magnitude: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        *,
        y: Any = None,
        qid: ArrayLike | Iterable[Hashable] | None = None,
        sample_weight: ArrayLike | None = None,
        eval_set: Any = None,
    ) -> Self:
        """Fit the ranker to pairwise preferences between rows, and also to labels if y is given.

        Minimizes ``Σ_e weight_e (magnitude_e − (f_i − f_j))²`` over the pairs e = (i, j), plus the loss of
        `fit` on y if there is one, plus ``alpha ‖f‖²``.

        Parameters
        ----------
        X : array or CSR matrix, shape (m, n), or RankingData
            The rows to which the pairs refer; only the features of a `RankingData` are used.
        pairs : array of int, shape (n_pairs, 2)
            Row numbers, the preferred row first. Contradictions and cycles are allowed and treated as noise.
        magnitude, weight : array, shape (n_pairs,), optional
            The target score difference, and how much each pair counts; 1 by default.
        y, qid, sample_weight : optional
            Labels to learn from as well, as in `fit`; give rows without a judgment weight 0.
        eval_set : (X, pairs) or (X, pairs, weight), optional
            Pairs on which to evaluate the model, by the fraction of pairs it contradicts; see `fit`.
        """
        with task(f"Training {type(self).__name__}"):
            rows, checked = self._read_preferences(X, pairs, magnitude, weight)
            checked, held_out = hold_out_pairs(self, self._inputs, rows, checked, eval_set)
            losses, choices = [loss_on_pairs(checked, rows.shape[0])], self._checked_loss()
            if y is not None:
                problem, _ = self._inputs.problem(matrix_of(X), y, qid, sample_weight, multi_output=True)
                origin = Origin.of(problem, method="fit_preferences")
                self._rows = replace(self._rows, origin=origin)
                losses = [with_pairs(scored, losses[0]) for scored in losses_on_scores(problem, *choices)]
            return self._solve(self._families_of(rows, losses, held_out), held_out)

    def with_alpha(self, alpha: float) -> Self:
        """Return the model for another alpha, from the same decomposition.

        The first call computes the decomposition, in O(p³) for p features, rows or basis vectors; each
        further call costs O(p²), or a run with "cg". Only the process that fitted the model can do this.
        """
        check_is_fitted(self)
        fitted: tuple[list[RidgeFamily], HeldOut | None] | None = getattr(self, "_families", None)
        if fitted is None:
            raise RankwiseError("with_alpha needs a model fitted in this process; fit the model again.")
        families, held_out = fitted
        other = copy.copy(self)
        other._rows = self._rows
        other.alpha = check_number("alpha", alpha, minimum=0.0)
        for family in families:
            family.decompose()
        runs = [family.for_run(f"alpha-{other.alpha:.17g}") for family in families]
        found = solve_targets(runs, other.alpha, held_out)
        if found.interrupted:
            let_interrupt_through()
        outcome, function = self._outcome(families[0], found), families[0].space.function(found.coef[0])
        moments = self.model_.form_moments
        other._become(self._rows.model(function, outcome, form_moments=moments, held_out=held_out))
        return other

    def _checked_loss(self) -> tuple[Ties, Weighting]:
        return check_choice("ties", self.ties, Ties), check_choice("weighting", self.weighting, Weighting)

    def _families_of(
        self, X: Matrix, losses: Sequence[SquaredLoss], held_out: HeldOut | None
    ) -> list[RidgeFamily]:
        """The models to choose from, of each loss."""
        check_number("alpha", self.alpha, minimum=0.0)
        one_target = len(losses) == 1 and losses[0].n_targets is None
        if not one_target and (held_out is not None or self.checkpoint is not None):
            raise ParameterError("eval_set, early_stopping and checkpoint support one target; y has several.")
        space = self._make_space(X, losses[0].reference())
        solver, iterations = checked_solver(self, space)
        return [ridge_family(space, loss, solver, iterations) for loss in losses]

    def _solve(
        self,
        families: list[RidgeFamily],
        held_out: HeldOut | None,
        moments: FormMoments | None = None,
    ) -> Self:
        """Set the model for alpha."""
        found = solve_targets(families, check_number("alpha", self.alpha, minimum=0.0), held_out)
        outcome, function = self._outcome(families[0], found), families[0].space.function(found.coef[0])
        self._become(self._rows.model(function, outcome, form_moments=moments, held_out=held_out))
        self._families = families, held_out
        if found.interrupted:
            let_interrupt_through()
        return self

    def _outcome(self, family: RidgeFamily, found: RidgeSolutions) -> Outcome:
        """How the model was found."""
        return solver_outcome(family, found, 0, early_stopping=self.early_stopping)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_families"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
