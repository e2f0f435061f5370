"""What linear and kernel RankRLS share: fit from scores, pairs or both; another alpha without refitting."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from rankwise.errors import RankwiseError
from rankwise.estimators.base import Ranker
from rankwise.estimators.held_out import HeldOut
from rankwise.estimators.iterative import IterativeMixin
from rankwise.losses.squared import SquaredLoss, loss_on_pairs, losses_on_scores, with_pairs
from rankwise.solvers.krylov import solve_each
from rankwise.solvers.spaces import Space
from rankwise.types import Floats, Matrix, Ties, Weighting
from rankwise.validation import check_choice, check_number, check_preferences, check_problem


class LeastSquaresRanker(IterativeMixin, Ranker):
    """RankRLS in some space: subclasses say which (`_spaces_for`) and what its coefficients mean (`_accept`).

    The spaces, with their decompositions, are kept for `with_alpha`; a pickled model does not carry them.
    """

    alpha: float
    ties: str
    weighting: str

    def fit(
        self,
        X: Any,
        y: Any,
        qid: ArrayLike | Iterable[Hashable] | None = None,
        sample_weight: ArrayLike | None = None,
        eval_set: Any = None,
    ) -> Self:
        """Learn from scores.

        Parameters
        ----------
        X : array or CSR matrix, shape (m, n)
        y : array, shape (m,) or (m, k)
            Labels of any real value; higher is better. k columns are k independent targets.
        qid : sequence of hashables, optional
            The query of each row, in any order; None means one global ranking.
        sample_weight : array, shape (m,), optional
            Weight 2 means the same as the row given twice.
        eval_set : (X, y) or (X, y, qid), optional
            Rows that judge the iterates of conjugate gradient by `measure`, rather than a part of X.
        """
        problem = check_problem(self, X, y, qid, sample_weight, multi_output=True)
        problem, held_out = self._hold_out(problem, eval_set)
        losses = losses_on_scores(problem, *self._checked_choices())
        return self._learn(problem.X, losses, qid is not None, held_out)

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
        """Learn from statements "this row above that row", and from scores as well when y is given.

        Minimizes ``Σ_e weight_e (magnitude_e − (f_i − f_j))²`` over the pairs e = (i, j), plus the loss of
        `fit` on y if there is one, plus ``alpha ‖f‖²``.

        Parameters
        ----------
        X : array or CSR matrix, shape (m, n)
        pairs : array of int, shape (n_pairs, 2)
            Row numbers, the preferred row first. Contradictions and cycles are allowed and treated as noise.
        magnitude : array, shape (n_pairs,), optional
            The difference of scores to aim at; 1 by default.
        weight : array, shape (n_pairs,), optional
            How much each pair counts; 1 by default.
        y, qid, sample_weight : optional
            Scores to learn from besides the pairs, as in `fit`; a row without a judgment has weight 0.
        eval_set : (X, pairs) or (X, pairs, weight), optional
            Pairs that judge the iterates of conjugate gradient by the part of them that is violated, rather
            than a part of the training pairs.
        """
        rows, checked = check_preferences(self, X, pairs, magnitude, weight)
        checked, held_out = self._hold_out_pairs(rows, checked, eval_set)
        loss = loss_on_pairs(checked, rows.shape[0])
        if y is None:
            self._checked_choices()
            return self._learn(rows, [loss], False, held_out)
        problem = check_problem(self, X, y, qid, sample_weight, multi_output=True)
        scored = losses_on_scores(problem, *self._checked_choices())
        losses = [with_pairs(one, loss) for one in scored]
        return self._learn(problem.X, losses, qid is not None, held_out)

    def with_alpha(self, alpha: float) -> Self:
        """This model as it would be with another alpha, from the decomposition of the first, not fitted anew.

        The first call decomposes (O(p³) for p features, rows or basis vectors); each costs O(p²) then. It
        needs the training data that `fit` saw, which a fitted model refers to until deleted or pickled.
        """
        check_is_fitted(self)
        spaces: list[Space] | None = getattr(self, "_spaces", None)
        if spaces is None:
            raise RankwiseError("with_alpha needs a model fitted in this process; fit it again.")
        other = copy.copy(self)
        other.alpha = check_number("alpha", alpha, minimum=0.0)
        other._accept([space.solve_all([other.alpha])[0] for space in spaces])
        return other

    def _checked_choices(self) -> tuple[Ties, Weighting]:
        return check_choice("ties", self.ties, Ties), check_choice("weighting", self.weighting, Weighting)

    def _learn(
        self, X: Matrix, losses: Sequence[SquaredLoss], fitted_with_qid: bool, held_out: HeldOut | None
    ) -> Self:
        alpha = check_number("alpha", self.alpha, minimum=0.0)
        self._spaces = self._spaces_for(X, losses, held_out)
        self._accept(solve_each(self._spaces, alpha))
        self._report(self._spaces, alpha)
        self.fitted_with_qid_ = fitted_with_qid
        return self

    @abstractmethod
    def _spaces_for(self, X: Matrix, losses: Sequence[SquaredLoss], held_out: HeldOut | None) -> list[Space]:
        """One space for each loss."""

    @abstractmethod
    def _accept(self, coefficients: Sequence[Floats]) -> None:
        """Set the fitted attributes from the coefficients found in each space."""

    def _scores_for_all(self, coefficients: Floats, rows: Matrix) -> Floats:
        """Scores of rows for every alpha, one column each, from coefficients of shape (n_alphas, p)."""
        self._accept([coefficients.T])
        return self._scores(rows)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_spaces"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def joined_targets(coefficients: Sequence[Floats]) -> Floats:
    """Coefficients as rows: (p,) for one target, (k, p) for k, whether they share a loss or not."""
    return coefficients[0].T if len(coefficients) == 1 else np.stack(list(coefficients))
