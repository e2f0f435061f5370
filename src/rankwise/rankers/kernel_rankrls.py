"""Kernel RankRLS, on all rows or on basis vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwise.errors import ParameterError
from rankwise.model.schemas import SCHEMAS
from rankwise.operators.kernel import KernelFunction
from rankwise.rankers.kernels import checked_kernel
from rankwise.rankers.ridge_ranker import FixedAlphaRidge
from rankwise.ridge.kernel_spaces import BasisSpace, KernelSpace, kernel_space
from rankwise.types import Ints, Matrix, RandomSource
from rankwise.validation import check_random_state


class KernelRankRLS(FixedAlphaRidge):
    """Kernel RankRLS: minimize ``Σ_q c_q Σ_{i<j in q} (yᵢ − yⱼ − (f(xᵢ) − f(xⱼ)))² + alpha ‖f‖²``.

    Parameters
    ----------
    alpha : float, default=1.0
        The papers' λ.
    kernel : {"rbf", "linear", "polynomial", "precomputed"} or callable, default="rbf"
        A callable k(A, B) returns the matrix of values between the rows of A and B. With "precomputed", X is
        the matrix of kernel values: (m, m) for `fit`, (rows, m) for `predict`; use this for kernels on
        graphs, strings or parses.
    gamma : float, optional
        The rbf kernel is exp(−gamma ‖a − b‖²), the polynomial kernel (gamma a·b + coef0)^degree. By default,
        1 over the number of features or, with `columns`, of columns.
    degree : float, default=3
        The degree of the polynomial kernel.
    coef0 : float, default=1
        The constant term of the polynomial kernel.
    basis : None, int or array of int, default=None
        The training rows that may have a coefficient: all of them (None; paper A, O(m³)), this many chosen at
        random, or the given rows (paper B, Sparse RankRLS, O(m r²) for r basis vectors).
    ties : {"keep", "drop"}, default="keep"
        Whether to keep or drop pairs with equal labels.
    weighting : {"example", "pair", "query"}, default="example"
        The weight c of a query's pairs: one over its number of rows, 1, or one over its number of pairs.
    random_state : int, RandomState, Generator or None, default=None
        Determines the random basis and the rows to hold out.
    columns : str or dict, optional
        How to encode the columns of a table, as in `RankRLS`; the kernel is computed from the encoded
        features: "auto" standardizes numbers, and makes a feature of 0 and 1 for each category.
    solver : {"auto", "closed", "primal", "dual", "cg"}, default="auto"
        "closed" decomposes the kernel matrix of all rows ("dual", O(m³) time and O(m²) memory) or the
        features of a basis ("primal"). "cg" multiplies by the kernel matrix, recomputed in blocks in every
        iteration, in O(t m² s) time and O(m) memory. "auto" chooses "cg" if the matrix would be too
        large for memory, or if `early_stopping` or `checkpoint` requires iterations.
    tol, max_iter, early_stopping, patience, validation_fraction, measure, checkpoint, checkpoint_seconds
        For "cg", as in `RankRLS`.

    Attributes
    ----------
    basis_indices_ : array of int, shape (r,)
        The training rows that have a coefficient, without those spanned by the others.
    basis_ : array or CSR matrix, shape (r, n)
        Those rows, or their features if columns are encoded; not set for a precomputed kernel.
    dual_coef_ : array, shape (r,) or (k, r)
        Their coefficients a, one row per target if y has k columns.
    rank_ : int
        The number r of independent basis vectors.
    gamma_, degree_, coef0_ : float
        The kernel parameters used.
    solver_, n_iter_, validation_score_, validation_curve_, best_iter_, calibration_
        As in `RankRLS`.

    References
    ----------
    Pahikkala et al., "Learning to Rank with Pairwise Regularized Least-Squares" (2007), equation 8;
    Tsivtsivadze et al., "A Sparse Regularized Least-Squares Preference Learning Algorithm" (2008).

    See Also
    --------
    KernelRankRLSCV : Chooses alpha and kernel parameters.
    RankRLS : The linear version, which is faster.
    RankSVMPath : Kernel RankSVM for every alpha.

    Examples
    --------
    >>> from rankwise import KernelRankRLS, make_search_data
    >>> data = make_search_data(60, random_state=0).scale_per_query()
    >>> model = KernelRankRLS(basis=100, random_state=0).fit(data)
    >>> model.dual_coef_.shape
    (100,)
    >>> round(model.score(data.X, data.y, data.qid), 2)
    0.89
    """

    _schema = SCHEMAS["KernelRankRLS"]

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        kernel: str | KernelFunction = "rbf",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        basis: int | Sequence[int] | Ints | None = None,
        ties: str = "keep",
        weighting: str = "example",
        random_state: RandomSource = None,
        solver: str = "auto",
        tol: float = 1e-5,
        max_iter: int = 500,
        early_stopping: bool = False,
        patience: int = 10,
        validation_fraction: float = 0.1,
        measure: str = "pairwise_error",
        checkpoint: str | None = None,
        checkpoint_seconds: float = 60.0,
        columns: Any = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.basis = basis
        self.ties = ties
        self.weighting = weighting
        self.random_state = random_state
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.measure = measure
        self.checkpoint = checkpoint
        self.checkpoint_seconds = checkpoint_seconds
        self.columns = columns

    def _make_space(self, X: Matrix, reference: Ints) -> KernelSpace | BasisSpace:
        kernel = checked_kernel(self.kernel, self.gamma, self.degree, self.coef0, X, self._inputs.encoding)
        basis = checked_basis(self.basis, X.shape[0], self.random_state)
        if basis is None:
            return kernel_space(X, kernel, reference)
        return BasisSpace(X, kernel, basis, reference)


def checked_basis(basis: object, n_rows: int, random_state: RandomSource) -> Ints | None:
    """The training rows that the `basis` parameter selects; None means all."""
    random = check_random_state("random_state", random_state)
    if basis is None:
        return None
    if isinstance(basis, (int, np.integer)) and not isinstance(basis, bool):
        if not 1 <= basis <= n_rows:
            raise ParameterError(f"The 'basis' parameter must be between 1 and {n_rows} rows; got {basis}.")
        drawn = random.choice(n_rows, int(basis), replace=False)
        return np.sort(drawn).astype(np.int64)
    indices = np.asarray(basis)
    if indices.ndim != 1 or len(indices) == 0 or indices.dtype.kind not in "iu":
        raise ParameterError(
            f"The 'basis' parameter must be None, an int or an array of row numbers; got {basis!r}."
        )
    outside = (indices < 0) | (indices >= n_rows)
    if outside.any():
        raise ParameterError(
            f"The 'basis' parameter must contain rows 0 to {n_rows - 1}; got {indices[outside.argmax()]}."
        )
    values, counts = np.unique(indices, return_counts=True)
    if (counts > 1).any():
        raise ParameterError(
            f"The 'basis' parameter must not repeat rows; got {values[counts.argmax()]} more than once."
        )
    return indices.astype(np.int64)
