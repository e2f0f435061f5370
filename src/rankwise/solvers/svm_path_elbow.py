"""The free pairs of a ranking SVM and the Cholesky factor of their Gram matrix."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from rankwise import _native
from rankwise.preferences.graphs import PreferenceGraph
from rankwise.types import Floats, Ints

# A pair whose squared distance from the span of the free pairs is below this share of its squared length
# counts as dependent on them.
INDEPENDENCE = 1e-13


class Elbow:
    """Linearly independent pairs I with ``P_I K P_Iᵀ = RᵀR``, where R is updated and downdated in O(|I|²).

    ``P K Pᵀ`` is never formed: a pair's Gram column costs O(n) from two rows of K.
    """

    def __init__(self, K: Floats, graph: PreferenceGraph) -> None:
        self._K = K
        self._graph = graph
        self._pairs: Ints = np.empty(64, dtype=np.int64)
        self._storage: Floats = np.zeros((64, 64))
        self.size = 0

    @property
    def pairs(self) -> Ints:
        """The free pairs, in the order in which they were added (a view)."""
        return self._pairs[: self.size]

    @property
    def better(self) -> Ints:
        return self._graph.better[self.pairs]

    @property
    def worse(self) -> Ints:
        return self._graph.worse[self.pairs]

    def differences(self, rows: Floats) -> Floats:
        """``P_I v``."""
        return np.asarray(rows[self.better] - rows[self.worse])

    def gram_column(self, pair: int) -> tuple[Floats, float]:
        """Inner products of a pair with the free ones, and with itself."""
        better, worse = self._graph.better[pair], self._graph.worse[pair]
        scores = self._K[better] - self._K[worse]
        return self.differences(scores), float(scores[better] - scores[worse])

    def append(self, pair: int) -> bool:
        """Add a pair and return True, or return False if it depends linearly on the free ones."""
        column, square = self.gram_column(pair)
        _native.factor_solve_transposed(self._storage, self.size, column)
        rest = square - float(column @ column)
        if rest <= INDEPENDENCE * square:
            return False
        self._reserve(self.size + 1)
        self._storage[: self.size, self.size] = column
        self._storage[self.size, self.size] = np.sqrt(rest)
        self._pairs[self.size] = pair
        self.size += 1
        return True

    def remove(self, position: int) -> None:
        _native.factor_remove_column(self._storage, self.size, position)
        self._pairs[position : self.size - 1] = self._pairs[position + 1 : self.size]
        self.size -= 1

    def solve(self, right: Floats) -> Floats:
        """``(P_I K P_Iᵀ)⁻¹ right``."""
        x = np.array(right, dtype=np.float64)
        _native.factor_solve_transposed(self._storage, self.size, x)
        _native.factor_solve_upper(self._storage, self.size, x)
        return x

    def coordinates(self, pair: int) -> Floats:
        """The combination of the free pairs nearest to a pair."""
        return self.solve(self.gram_column(pair)[0])

    def refactor(self) -> None:
        """Compute R afresh, which undoes the rounding of many updates; O(|I|³)."""
        b, w = self.better, self.worse
        half = self._K[b] - self._K[w]
        gram = half[:, b] - half[:, w]
        self._storage[: self.size, : self.size] = linalg.cholesky(gram)

    def _reserve(self, size: int) -> None:
        capacity = len(self._pairs)
        if size <= capacity:
            return
        storage = np.zeros((2 * capacity, 2 * capacity))
        storage[:capacity, :capacity] = self._storage
        self._storage = storage
        self._pairs = np.concatenate([self._pairs, np.empty(capacity, dtype=np.int64)])
