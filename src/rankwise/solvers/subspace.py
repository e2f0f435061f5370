"""Directions with known scores, over whose span the risk can be minimized without a product with X."""

from __future__ import annotations

import numpy as np

from rankwise.solvers.planes import Metric, Planes
from rankwise.types import Floats

# Directions are kept while their scores take at most this many bytes, and always at least this many.
_BYTES = 1 << 28
_DIRECTIONS = 50
# A unit vector whose part outside the span is at most this long counts as inside.
_INSIDE = 1e-8
# A lower bound on curvature, relative to the most curved direction.
_FLAT = 1e-6


class Subspace:
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
    n_rows, n_features : int

    Notes
    -----
    Each direction and each plane takes O(m) memory. When there are too many directions, half of them are
    dropped; call `forget` to drop planes that the program does not use.
    """

    def __init__(self, n_rows: int, n_features: int) -> None:
        self._n_rows = n_rows
        self._basis, self._scores = _Stack(n_features), _Stack(n_rows)
        self._gradients = _Stack(n_rows)
        # The gradient of the first plane, which states that the risk is non-negative.
        self._gradients.append(np.zeros(n_rows))
        self.planes = Planes(0)

    def __len__(self) -> int:
        return len(self._basis.rows)

    def weights(self, z: Floats) -> Floats:
        return z @ self._basis.rows

    def scores(self, z: Floats) -> Floats:
        return z @ self._scores.rows

    def coordinates(self, w: Floats) -> Floats:
        """The coordinates of the point in the span nearest to w."""
        return self._basis.rows @ w

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

    def add_direction(self, unit: Floats, scores: Floats) -> None:
        """Add a unit vector from `outside`, with its scores."""
        self._scores.append(scores)
        self._basis.append(unit)
        self.planes.widen(self._gradients.rows @ scores)

    def add_plane(self, gradient: Floats, offset: float) -> None:
        self._gradients.append(gradient)
        self.planes.add(self._scores.rows @ gradient, offset)

    def metric(self, margin_density: Floats) -> Metric:
        """The approximate curvature of the risk on the span, given each row's density of near-margin pairs.

        The two rows of such a pair are assumed to differ as much as any two rows: O(m k²) for k directions,
        without enumerating pairs.
        """
        rows, total = self._scores.rows, float(margin_density.sum())
        if total == 0.0:
            return Metric(np.ones(len(self)), np.eye(len(self)))
        mean = rows @ margin_density / total
        spread = (rows * margin_density) @ rows.T - total * np.outer(mean, mean)
        curvature, axes = np.linalg.eigh(spread)
        return Metric(np.maximum(curvature, _FLAT * curvature[-1]), axes)

    def together(self) -> tuple[Floats, float]:
        """Gradient by row and offset of the planes combined with the shares of the last program."""
        share = self.planes.share
        return share @ self._gradients.rows, float(share @ self.planes.offsets)

    def forget(self, patience: int) -> None:
        """Drop planes that the last `patience` programs did not use."""
        self._gradients.keep(self.planes.forget(patience))

    def make_room(self, z: Floats) -> Floats:
        """If there are too many directions, keep the newer half and z; return the coordinates of z."""
        if len(self) < max(_DIRECTIONS, _BYTES // (8 * self._n_rows)):
            return z
        newer = np.eye(len(self))[:, len(self) // 2 :]
        kept = np.linalg.qr(np.column_stack([z, newer]))[0].T
        self._basis.rotate(kept)
        self._scores.rotate(kept)
        self.planes.rotate(kept)
        return np.asarray(kept @ z)


class _Stack:
    """A growable stack of rows."""

    def __init__(self, width: int) -> None:
        self._buffer = np.empty((4, width))
        self._n_rows = 0

    @property
    def rows(self) -> Floats:
        return self._buffer[: self._n_rows]

    def append(self, row: Floats) -> None:
        if self._n_rows == len(self._buffer):
            self._buffer = np.concatenate([self._buffer, np.empty_like(self._buffer)])
        self._buffer[self._n_rows] = row
        self._n_rows += 1

    def keep(self, index: list[int]) -> None:
        for to, place in enumerate(index):
            if to != place:
                self._buffer[to] = self._buffer[place]
        self._n_rows = len(index)

    def rotate(self, combinations: Floats) -> None:
        self._buffer = combinations @ self.rows
        self._n_rows = len(combinations)
