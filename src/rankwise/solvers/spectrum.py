"""Ridge regression on differences, in closed form."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from rankwise.operators.design import Design
from rankwise.preferences.differences import Differences
from rankwise.types import Floats


def solve_primal(design: Design, differences: Differences, y: Floats, alpha: float) -> Floats:
    """Minimize ``‖F X w − F y‖² + alpha ‖w‖²`` by one Cholesky factorization (paper A, equation 11).

    Parameters
    ----------
    y : Floats, shape (m,) or (m, k)

    Returns
    -------
    Floats, shape (n,) or (n, k)

    Notes
    -----
    O(m n² + n³) time for dense X, O(n²) memory beyond X.
    """
    A = design.difference_gram(differences)
    A[np.diag_indices_from(A)] += alpha
    b = design.adjoint(differences.laplacian(y))
    return np.asarray(linalg.solve(A, b, assume_a="pos", overwrite_a=True))
