"""The triangular factor of ``FX`` for rows in parts, where ``XᵀLX`` would lose too many digits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankwise.cluster.coupling import Coupling
from rankwise.cluster.parted_products import NormalPart
from rankwise.cluster.tree import Tally
from rankwise.operators.blocks import dense
from rankwise.threads import SMALL, one_blas_thread
from rankwise.types import Floats


@dataclass(frozen=True, eq=False)
class Triangle:
    """R of ``[FX Fy] = QR``; the sum of two is that of the rows of both."""

    rows: Floats

    @classmethod
    def of(cls, rows: Floats) -> Triangle:
        with one_blas_thread(rows.shape[1] <= SMALL):
            return cls(np.asarray(np.linalg.qr(rows, mode="r")))

    def __add__(self, other: Triangle) -> Triangle:
        return Triangle.of(np.concatenate([self.rows, other.rows]))

    def split(self, n_features: int) -> tuple[Floats, Floats]:
        """R of ``FX``, and ``Qᵀ F y``."""
        rows = self.rows[:n_features]
        return rows[:, :n_features], rows[:, n_features]


def factor_of(part: NormalPart) -> Tally:
    """The triangle of a part, and the means of features and labels of its groups."""
    triangles = []
    for block in part.blocks:
        R, projected = block.design.difference_factor(block.loss.differences, block.loss.target)
        triangles.append(Triangle(np.column_stack([R, projected])))
    means = np.zeros((0, 0))
    if part.means is not None:
        means = np.column_stack([dense(part.means), part.label_means])
    return Tally(sum(triangles[1:], start=triangles[0]), (means,))


def rows_between(coupling: Coupling, means: Sequence[Floats]) -> Floats:
    """Rows whose products are what differences between the groups of split queries add to ``XᵀLX``."""
    table = np.concatenate([part for part in means if len(part)])
    scales, differences = coupling.between(table)
    return np.sqrt(scales)[:, None] * differences
