"""Quality by the number of training queries, ``q(n) = a − b n⁻ᶜ``, and what follows from it for larger n.

For a given c the curve is linear in a and b, so the prediction at any size is a weighted mean of the values
at the measured sizes. The exponents of `EXPONENTS` are averaged by how well they fit, because few points do
not tell c, and how much the exponents disagree is part of the error.

The values have two kinds of errors. *Tested queries* are a sample, common to all sizes: their covariance
comes from the effects of the queries. *Training queries* are a sample, too: models of n queries differ, with
a variance of ``τ n⁻ᵖ``. Where one training set holds another, the variance of the difference between their
models is the difference of the variances. All draws are parts of the N queries of the data, so their mean is
as far from the mean over all training sets as a model of all N; a gain over that model has no such error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise.metrics.significance import CONFIDENCE
from rankwise.threads import one_blas_thread
from rankwise.types import Floats, Ints

EXPONENTS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
# p: 1 if the measure were linear in the weights, 2 if it were quadratic around the best ones. In simulations,
# the variance falls by about this power.
DECAY = 1.5


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
    tau, tau_error : float
        The variance between models that were trained on n queries, times ``n ** DECAY``, and its error.
    n_draws : int
    n_queries : int
        From how many queries the draws took training and test queries.
    """

    sizes: Ints
    means: Floats
    effects: Floats
    tau: float
    tau_error: float
    n_draws: int
    n_queries: int

    @property
    def margins(self) -> Floats:
        """Half of 95 % intervals of the means."""
        variances = np.diag(self.covariance).tolist()
        return np.array([self._margin(variance, self.n_queries**-DECAY) for variance in variances])

    @property
    def covariance(self) -> Floats:
        """Of the means, but for what all draws have in common."""
        n = len(self.effects)
        tested: Floats = self.effects.T @ self.effects * (n / max(n - 1, 1))
        larger = np.maximum.outer(self.sizes, self.sizes).astype(np.float64)  # of two sizes of a draw
        return tested + self.tau / self.n_draws * larger**-DECAY

    def predict(self, size: float, *, gain: bool = False) -> tuple[float, float]:
        """The quality of a model that is trained on so many queries, and half of a 95 % interval.

        The queries of the data are among those of the model, or the other way round. With `gain`, how much
        better it is than the model of all queries of the data.
        """
        covariance = self.covariance
        than = self.n_queries if gain else None
        fits = [_fitted(self.sizes, self._noise, exponent, size, than) for exponent in EXPONENTS]
        found = np.array([weights @ self.means for weights, _ in fits])
        misfit = np.array([np.square(residual @ self.means).sum() for _, residual in fits])
        share = np.exp(-0.5 * (misfit - misfit.min()))
        share /= share.sum()
        mean = float(share @ found)
        errors = np.array([weights @ covariance @ weights for weights, _ in fits])
        variance = float(share @ (errors + np.square(found - mean)))
        return mean, self._margin(variance, abs(self.n_queries**-DECAY - size**-DECAY))

    @property
    def _noise(self) -> Floats:
        """The variance of each mean around a curve: of models, and of queries that prefer some sizes."""
        of_queries = np.square(self.effects - self.effects.mean(axis=1, keepdims=True)).sum(axis=0)
        noise: Floats = of_queries + self.tau / self.n_draws * self.sizes**-DECAY
        return noise + 1e-12 * max(float(np.square(self.means).max()), 1e-300)  # models may all be equal

    def _margin(self, variance: float, share: float) -> float:
        """Half of a 95 % interval, from the variance of a mean over queries, and a share of tau."""
        from scipy.special import stdtrit

        total = variance + share * self.tau
        if not total > 0.0:
            return 0.0
        # By Satterthwaite: the more of the variance is known only from a few draws, the wider the interval.
        freedom = 1.0 / (1.0 / max(len(self.effects) - 1, 1) + 0.5 * (share * self.tau_error / total) ** 2)
        return float(stdtrit(freedom, (1.0 + CONFIDENCE) / 2.0) * np.sqrt(total))


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
