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
