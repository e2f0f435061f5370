"""Quality by the number of training queries, ``q(n) = a − b n⁻ᶜ``, and what follows from it for larger n.

For a given c the curve is linear in a and b, so the prediction at any size is a weighted mean of the values
at the measured sizes. The exponents of `EXPONENTS` are averaged by how well they fit, because few points do
not tell c, and how much the exponents disagree is part of the error.

The values have two kinds of errors. *Tested queries* are a sample, common to all sizes: their covariance
comes from the effects of the queries. *Training queries* are a sample, too: the variance between draws falls
as ``τ / n``. Draws of the same queries overlap, so their mean keeps ``τ / N`` of it, however many there are.
A single model varies as draws do, which is the spread: τ is what remains of it without chance in the tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise.threads import one_blas_thread
from rankwise.types import Floats, Ints

EXPONENTS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0)


@dataclass(frozen=True, eq=False)
class Points:
    """What was measured.

    Attributes
    ----------
    sizes : Ints, shape (k,)
        Numbers of training queries, in ascending order.
    means : Floats, shape (k,)
    effects : Floats, shape (n_queries, k)
        What each tested query adds to the deviation of the means; their sums are 0.
    tau : float
        The variance between models that were trained on n queries, times n.
    spread : float
        The variance between draws of n training queries, times n, which also differ in their test queries.
    n_draws : int
    n_queries : int
        From how many queries the draws took training and test queries.
    """

    sizes: Ints
    means: Floats
    effects: Floats
    tau: float
    spread: float
    n_draws: int
    n_queries: int

    @property
    def covariance(self) -> Floats:
        """Of the means."""
        n = len(self.effects)
        tested: Floats = self.effects.T @ self.effects * (n / max(n - 1, 1))
        return tested + self.tau / self.n_queries + np.diag(self.tau / (self.n_draws * self.sizes))

    def predict(self, size: float, than: float | None = None) -> tuple[float, float]:
        """The quality of a model that is trained on so many queries, and the standard error.

        With `than`, how much better it is than the model before it, which was trained on fewer.
        """
        noise = self.spread / (self.n_draws * self.sizes)
        noise = noise + 1e-12 * max(float(np.square(self.means).max()), 1e-300)  # models may all be equal
        fits = [_fitted(self.sizes, noise, exponent, size, than) for exponent in EXPONENTS]
        found = np.array([weights @ self.means for weights, _ in fits])
        misfit = np.array([np.square(residual @ self.means).sum() for _, residual in fits])
        share = np.exp(-0.5 * (misfit - misfit.min()))
        share /= share.sum()
        mean = float(share @ found)
        errors = np.array([weights @ self.covariance @ weights for weights, _ in fits])
        variance = float(share @ (errors + np.square(found - mean)))
        of_model = self.spread * (1.0 / size if than is None else abs(1.0 / than - 1.0 / size))
        return mean, float(np.sqrt(variance + of_model))


@one_blas_thread()
def _fitted(
    sizes: Ints, noise: Floats, exponent: float, size: float, than: float | None
) -> tuple[Floats, Floats]:
    """The weights of the means in the prediction, and the matrix that gives standardized residuals."""

    def basis(n: Any) -> Floats:
        shape = np.power(np.atleast_1d(n) / sizes[-1], -exponent)
        return np.column_stack([np.ones(len(shape)), shape])

    of_sizes, error = basis(sizes), np.sqrt(noise)[:, None]
    solution = np.linalg.pinv(of_sizes / error) / error.T
    at = basis(size)[0] - (0.0 if than is None else basis(than)[0])
    return at @ solution, (np.eye(len(sizes)) - of_sizes @ solution) / error
