"""The risk of rows in this process: scores and gradients are arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from rankwise.operators.design import MatrixDesign
from rankwise.operators.spread import Spread
from rankwise.svm.risk import Explored, HingeValue, Risk, SquaredHingeValue, checked_slope, overflow
from rankwise.types import Floats, Ints, Matrix


class HingeLoss(ABC):
    """The hinge on scores, in a row order of its own: `arranged` converts to it, `restored` back.

    Attributes
    ----------
    n_rows : int
        The number of rows in that order.
    """

    n_rows: int

    @abstractmethod
    def arranged(self, rows: Floats) -> Floats: ...

    @abstractmethod
    def restored(self, rows: Floats) -> Floats: ...

    @abstractmethod
    def reference(self) -> Ints:
        """For each of the caller's rows, one that it is compared with and may be measured from."""

    @abstractmethod
    def row_weights(self) -> Floats:
        """The total weight of the pairs that contain each row."""

    @abstractmethod
    def margin_density(self, scores: Floats) -> Floats:
        """The total weight of the near-margin pairs that contain each row, per unit of score.

        The slope of the risk changes where pairs cross their margin. Averaged over a range, its curvature
        along a direction with scores v is that of a smooth function, ``Σ ω (vᵢ − vⱼ)²`` over near-margin
        pairs.
        """

    @abstractmethod
    def value(self, scores: Floats) -> HingeValue[Floats]: ...

    @abstractmethod
    def squared_value(self, scores: Floats) -> SquaredHingeValue[Floats, Floats]: ...

    def risk(self, X: Matrix) -> RowsRisk:
        """The risk of functions of X, with products that suit this loss."""
        return RowsRisk(MatrixDesign(X, reference=self.reference()), self)


class RowsRisk(Risk[Floats, Floats]):
    """A loss on the scores of a matrix."""

    def __init__(self, design: MatrixDesign, loss: HingeLoss) -> None:
        self.design, self.loss = design, loss
        self.shape = loss.n_rows, design.shape[1]

    def zeros(self) -> Floats:
        return np.zeros(self.loss.n_rows)

    def scores(self, weights: Floats) -> Floats:
        scores = self.loss.arranged(self.design.scores(weights))
        if not np.isfinite(scores).all():
            raise overflow("scores")
        return scores

    def moved(self, scores: Floats, t: float, moves: Floats) -> Floats:
        return scores + t * moves

    def value(self, scores: Floats) -> HingeValue[Floats]:
        return self.loss.value(scores)

    def squared_value(self, scores: Floats) -> SquaredHingeValue[Floats, Floats]:
        return self.loss.squared_value(scores)

    def along(self, gradient: Floats, moves: Floats) -> float:
        return float(gradient @ moves)

    def slope(self, gradient: Floats) -> Floats:
        return checked_slope(self.design.adjoint(self.loss.restored(gradient)))

    def explored(self) -> ExploredRows:
        return ExploredRows(self.loss.n_rows, self.loss.margin_density)

    def row_length(self) -> float:
        return self.design.row_length()

    def spread(self) -> Spread:
        return self.design.spread(self.loss.restored(self.loss.row_weights()))

    def with_loss(self, loss: HingeLoss) -> RowsRisk:
        return RowsRisk(self.design, loss)


class ExploredRows(Explored[Floats, Floats]):
    """Scores and gradients as rows of two tables.

    Parameters
    ----------
    n_rows : int
    density : callable
        `HingeLoss.margin_density`.
    """

    def __init__(self, n_rows: int, density: Callable[[Floats], Floats]) -> None:
        self._density = density
        self._scores, self._gradients = ArrayStack(n_rows), ArrayStack.of_zeros(n_rows)

    def add_direction(self, scores: Floats) -> Floats:
        self._scores.append(scores)
        return self._gradients.products(scores)

    def add_plane(self, gradient: Floats) -> Floats:
        self._gradients.append(gradient)
        return self._scores.products(gradient)

    def scores(self, z: Floats) -> Floats:
        return self._scores.combination(z)

    def gradient(self, shares: Floats) -> Floats:
        return self._gradients.combination(shares)

    def near_margin(self, scores: Floats) -> tuple[float, Floats, Floats]:
        weight, rows = self._density(scores), self._scores.rows
        return float(weight.sum()), rows @ weight, (rows * weight) @ rows.T

    def keep_planes(self, index: list[int]) -> None:
        self._gradients.keep(index)

    def rotate(self, combinations: Floats) -> None:
        self._scores.rotate(combinations)


class ArrayStack:
    """A growable stack of arrays."""

    def __init__(self, width: int) -> None:
        self._buffer = np.empty((4, width))
        self._n_vectors = 0

    @classmethod
    def of_zeros(cls, width: int) -> ArrayStack:
        """A stack of one array of zeros."""
        made = cls(width)
        made.append(np.zeros(width))
        return made

    @property
    def rows(self) -> Floats:
        return self._buffer[: self._n_vectors]

    def append(self, vector: Floats) -> None:
        if self._n_vectors == len(self._buffer):
            self._buffer = np.concatenate([self._buffer, np.empty_like(self._buffer)])
        self._buffer[self._n_vectors] = vector
        self._n_vectors += 1

    def combination(self, shares: Floats) -> Floats:
        """``Σ share_k vector_k``."""
        return shares @ self.rows

    def products(self, vector: Floats) -> Floats:
        """The product of each array with another one."""
        return np.asarray(self.rows @ vector)

    def keep(self, index: list[int]) -> None:
        """Drop all arrays but these."""
        for to, place in enumerate(index):
            if to != place:
                self._buffer[to] = self._buffer[place]
        self._n_vectors = len(index)

    def rotate(self, combinations: Floats) -> None:
        """Replace the arrays by combinations of them."""
        self._buffer = combinations @ self.rows
        self._n_vectors = len(combinations)
