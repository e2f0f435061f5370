"""Vectors with one number per row, as the solvers of the hinge see them.

A solver adds and scales scores, multiplies them by gradients, and keeps some of each in stacks. It never
looks inside, so that the loss decides what they are: arrays where the rows are in this process, and handles
where they are not (`cluster/handles.py`).
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np

from rankwise.types import Floats

# Scores or a gradient: an array, or whatever else can be added, scaled and multiplied like one.
RowVector: TypeAlias = Any


class Stack(Protocol):
    """Row vectors in a fixed order, and what a solver wants to know of them."""

    def append(self, vector: RowVector) -> None: ...

    def combination(self, shares: Floats) -> RowVector:
        """``Σ share_k vector_k``."""
        ...

    def products(self, vector: RowVector) -> Floats:
        """The product of each vector with another one."""
        ...

    def moments(self, weight: RowVector) -> tuple[float, Floats, Floats]:
        """For row weights p: ``Σ p``, and ``Σ p v_k`` and ``Σ p v_k v_l`` for all vectors of the stack."""
        ...

    def keep(self, index: list[int]) -> None:
        """Drop all vectors but these."""
        ...

    def rotate(self, combinations: Floats) -> None:
        """Replace the vectors by combinations of them."""
        ...


class RowVectors(Protocol):
    """Creates the row vectors of a loss."""

    @property
    def n_rows(self) -> int: ...

    def zeros(self) -> RowVector:
        """The scores of weights that are all 0."""
        ...

    def are_finite(self, scores: RowVector) -> bool: ...

    def score_stack(self) -> Stack: ...

    def gradient_stack(self) -> Stack:
        """A stack of gradients, the first of which is 0."""
        ...


class ArrayVectors:
    """Row vectors that are arrays.

    Parameters
    ----------
    n_rows : int
    """

    def __init__(self, n_rows: int) -> None:
        self.n_rows = n_rows

    def zeros(self) -> Floats:
        return np.zeros(self.n_rows)

    def are_finite(self, scores: Floats) -> bool:
        return bool(np.isfinite(scores).all())

    def score_stack(self) -> ArrayStack:
        return ArrayStack(self.n_rows)

    def gradient_stack(self) -> ArrayStack:
        return ArrayStack.of_zeros(self.n_rows)


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
        return shares @ self.rows

    def products(self, vector: RowVector) -> Floats:
        return np.asarray(self.rows @ vector)

    def moments(self, weight: Floats) -> tuple[float, Floats, Floats]:
        rows = self.rows
        return float(weight.sum()), rows @ weight, (rows * weight) @ rows.T

    def keep(self, index: list[int]) -> None:
        for to, place in enumerate(index):
            if to != place:
                self._buffer[to] = self._buffer[place]
        self._n_vectors = len(index)

    def rotate(self, combinations: Floats) -> None:
        self._buffer = combinations @ self.rows
        self._n_vectors = len(combinations)
