"""Directions with known scores, over whose span the risk can be minimized without a product with X."""

from __future__ import annotations

from typing import Generic

import numpy as np

from rankwise.svm.planes import Metric, Planes
from rankwise.svm.risk import Explored, G, S
from rankwise.svm.rows_risk import ArrayStack
from rankwise.types import Floats

# Directions are kept while their scores take at most this many bytes, and always at least this many.
_BYTES = 1 << 28
_DIRECTIONS = 50
# A unit vector whose part outside the span is at most this long counts as inside.
_INSIDE = 1e-8
# A lower bound on curvature, relative to the most curved direction.
_FLAT = 1e-6


class Subspace(Generic[S, G]):
    """An orthonormal basis Q of explored directions, their scores ``XQ``, and planes below the risk on them.

    For ``w = Qz`` the scores are ``(XQ)z`` and ``‖w‖ = ‖z‖``, so the risk on the span is a problem with a few
    dense columns. A value of the risk gives a plane ``offset + gradient · f`` over all scores f, whose slope
    on the span is ``(XQ)ᵀ gradient``. Its gradient by row is kept, which makes it possible to

    - extend it to a direction that is added later, and
    - combine planes: for shares λ of the planes that sum to 1, ``Σ λ offset + (Σ λ gradient) · f`` is below
      the risk as well.

    With the shares that solve the program on the span, the combined plane proves a bound for all w that is
    lower than the program's by exactly ``‖r‖² / (4 alpha)``, where r is the part of its slope
    ``Xᵀ Σ λ gradient`` outside the span. As in the conjugate gradient method, r is both the residual and the
    next direction to explore.

    Parameters
    ----------
    explored : Explored
        That of the risk, without directions.
    shape : tuple of int
        The number of rows and of features.

    Notes
    -----
    Each direction and each plane takes O(m) memory. When there are too many directions, half of them are
    dropped; call `forget` to drop planes that the program does not use.
    """

    def __init__(self, explored: Explored[S, G], shape: tuple[int, int]) -> None:
        self._explored = explored
        self._n_rows, n_features = shape
        self._basis = ArrayStack(n_features)
        self.planes = Planes(0)

    def __len__(self) -> int:
        return len(self._basis.rows)

    def weights(self, z: Floats) -> Floats:
        return self._basis.combination(z)

    def scores(self, z: Floats) -> S:
        return self._explored.scores(z)

    def coordinates(self, w: Floats) -> Floats:
        """The coordinates of the point in the span nearest to w."""
        return self._basis.products(w)

    def rest(self, w: Floats) -> Floats:
        """The part of w outside the span."""
        return w - self.weights(self.coordinates(w))

    def outside(self, direction: Floats) -> Floats | None:
        """The unit vector that a direction would add to the basis; None if it is already in the span."""
        norm = float(np.linalg.norm(direction))
        if norm == 0.0 or len(self) == len(direction):
            return None
        rest = self.rest(self.rest(direction / norm))  # twice, to remove rounding errors
        length = float(np.linalg.norm(rest))
        return None if length <= _INSIDE else rest / length

    def add_direction(self, unit: Floats, scores: S) -> None:
        """Add a unit vector from `outside`, with its scores."""
        slopes = self._explored.add_direction(scores)
        self._basis.append(unit)
        self.planes.widen(slopes)

    def add_plane(self, gradient: G, offset: float) -> None:
        self.planes.add(self._explored.add_plane(gradient), offset)

    def metric(self, scores: S) -> Metric:
        """The approximate curvature of the risk on the span, from the pairs near the margin at these scores.

        The two rows of such a pair are assumed to differ as much as any two rows: O(m k²) for k directions,
        without enumerating pairs.
        """
        total, first, second = self._explored.near_margin(scores)
        if total == 0.0:
            return Metric(np.ones(len(self)), np.eye(len(self)))
        mean = first / total
        spread = second - total * np.outer(mean, mean)
        curvature, axes = np.linalg.eigh(spread)
        return Metric(np.maximum(curvature, _FLAT * curvature[-1]), axes)

    def together(self) -> tuple[G, float]:
        """Gradient by row and offset of the planes combined with the shares of the last program."""
        share = self.planes.share
        return self._explored.gradient(share), float(share @ self.planes.offsets)

    def forget(self, patience: int) -> None:
        """Drop planes that the last `patience` programs did not use."""
        self._explored.keep_planes(self.planes.forget(patience))

    def make_room(self, z: Floats) -> Floats:
        """If there are too many directions, keep the newer half and z; return the coordinates of z."""
        if len(self) < max(_DIRECTIONS, _BYTES // (8 * self._n_rows)):
            return z
        newer = np.eye(len(self))[:, len(self) // 2 :]
        kept = np.linalg.qr(np.column_stack([z, newer]))[0].T
        self._basis.rotate(kept)
        self._explored.rotate(kept)
        self.planes.rotate(kept)
        return np.asarray(kept @ z)
