"""Arithmetic with 60 digits, on NumPy arrays of decimal numbers."""

import decimal

import numpy as np
from scipy import sparse

decimal.getcontext().prec = 60
_decimal = np.frompyfunc(decimal.Decimal, 1, 1)


def exact(values):
    """The same numbers, without rounding, as an array of decimal numbers."""
    values = values.toarray() if sparse.issparse(values) else np.asarray(values)
    return _decimal(values.astype(object))


def rounded(values):
    """The nearest numbers in double precision."""
    return np.asarray(values).astype(float)


def solve(A, b):
    """Solve ``A x = b`` by elimination with row pivoting."""
    n, table = len(A), np.column_stack([A, b])
    for k in range(n):
        pivot = k + np.abs(table[k:, k]).argmax()
        table[[k, pivot]] = table[[pivot, k]]
        table[k + 1 :] -= np.multiply.outer(table[k + 1 :, k] / table[k, k], table[k])
    x = table[:, n]
    for k in reversed(range(n)):
        x[k] = (x[k] - table[k, k + 1 : n] @ x[k + 1 :]) / table[k, k]
    return x


def least_norm(A, b):
    """The solution of ``A x = b`` with the smallest norm, for a positive semi-definite A of any rank."""
    rest, chosen = A.copy(), []
    for _ in range(len(A)):
        k = np.diag(rest).argmax()
        if rest[k, k] <= decimal.Decimal("1e-40") * np.diag(A).max():  # what is left is rounding errors
            break
        chosen.append(k)
        rest = rest - np.multiply.outer(rest[:, k], rest[:, k]) / rest[k, k]
    basis = A[:, chosen]
    return basis @ solve(basis.T @ (A @ basis), basis.T @ b)
