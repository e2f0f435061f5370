"""What a linear RankRLS model knows, and how one more difference changes it.

RankRLS is ridge regression on differences, so one more difference z with weight g and target t adds ``g zzᵀ``
to ``A = XᵀLX`` and ``g t z`` to b: the model after it follows from that before in O(n²), and what it would
teach is known before anyone judges it. What counts as one difference:

- a *pair* of rows: ``z = xᵢ − xⱼ``, with the weight of the pair;
- a *document* that is judged in a query of total weight S with means x̄, ȳ: ``z = x − x̄``, ``t = y − ȳ`` and
  ``g = S / (S + 1)`` (Chan's update of a scatter), provided that ties are kept and the weighting is
  "example". Under other weightings, all pairs of a query change their weight with its size, and the change
  has the rank of the query.

With ties kept and the weighting "example", the model is also the mean of the posterior of linear regression
with an intercept for each query: the covariance of its weights is ``σ² (A + αI)⁻¹``, where σ² is the
variance of a judgment around the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import linalg

from rankwise.errors import DataError
from rankwise.ridge.moments.moment_family import MomentFamily
from rankwise.ridge.moments.quadratic import Quadratic
from rankwise.threads import SMALL, one_blas_thread
from rankwise.types import Floats


@dataclass(frozen=True, eq=False)
class Knowledge:
    """The weights of a linear RankRLS model, and their covariance in units of the variance of a judgment.

    Attributes
    ----------
    covariance : Floats, shape (n, n)
        ``C = (A + αI)⁻¹``.
    coef : Floats, shape (n,)
        ``w = C b``.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwise import Moments, RankRLS, make_search_data
    >>> from rankwise.ridge.knowledge import Knowledge
    >>> data = make_search_data(20, random_state=0)
    >>> model = RankRLS(solver="primal").fit(data)
    >>> before = Knowledge.of(model.moments_.quadratic, model.alpha)
    >>> preferred = data.X[3] - data.X[5]
    >>> after = before.after(preferred, target=1.0)
    >>> bool(after.variance(preferred) < before.variance(preferred))
    True
    """

    covariance: Floats
    coef: Floats

    @classmethod
    def of(cls, quadratic: Quadratic, alpha: float) -> Self:
        """What is known after the differences in a quadratic; O(n³).

        Raises
        ------
        DataError
            If ``A + αI`` is singular: some differences are then not known at all.
        """
        system, scale = MomentFamily(quadratic).scaled_system(alpha)
        factor, reciprocal = system.factor(0.0)
        if reciprocal == 0.0:
            raise DataError(
                f"XᵀLX + alpha I is singular at alpha = {alpha:g}, so the variance of some "
                "differences is infinite; choose a larger alpha."
            )
        with one_blas_thread(system.is_small):
            inverse, _ = linalg.lapack.dpotri(factor, lower=1)
        lower = np.tril(inverse)
        symmetric = lower + np.tril(inverse, -1).T
        covariance = symmetric / np.outer(scale, scale)
        return cls(covariance, covariance @ quadratic.right)

    @classmethod
    def nothing(cls, n_features: int, alpha: float) -> Self:
        """What is known before the first judgment: weights of 0, as sure as alpha is large."""
        if not alpha > 0.0:
            raise DataError("Without judgments, alpha must be above 0.")
        return cls(np.eye(n_features) / alpha, np.zeros(n_features))

    def after(self, difference: Floats, target: float = 0.0, weight: float = 1.0) -> Self:
        """What is known after one more difference, as by a fit to all (Sherman, Morrison); O(n²)."""
        learned = self.covariance @ difference
        share = weight / (1.0 + weight * float(difference @ learned))
        covariance = self.covariance - share * np.outer(learned, learned)
        surprise = target - float(difference @ self.coef)
        return type(self)(covariance, self.coef + share * surprise * learned)

    def changes(self, differences: Floats, targets: Floats, weight: Floats) -> Floats:
        """The change of the weights by each of these differences alone, shape (m, n)."""
        learned = self._learned(differences)
        share = weight / (1.0 + weight * (learned * differences).sum(axis=1))
        return np.asarray((share * (targets - differences @ self.coef))[:, None] * learned)

    def variance(self, differences: Floats) -> Floats:
        """``zᵀCz`` of each difference: how uncertain it is, in units of the variance of a judgment."""
        return np.asarray((self._learned(np.atleast_2d(differences)) * differences).sum(axis=-1)).squeeze()

    def total_variance(self, wanted: Floats) -> float:
        """``tr(C M)``: the variance of all differences that matter, of which ``M = Σ zzᵀ``."""
        return float((self.covariance * wanted).sum())

    def reductions(self, differences: Floats, weight: Floats, wanted: Floats) -> Floats:
        """By how much each of these differences alone would reduce `total_variance`; O(m n²).

        ``g zᵀCMCz / (1 + g zᵀCz)``, whatever the judgment says.
        """
        learned = self._learned(differences)
        with one_blas_thread(len(self.coef) <= SMALL):
            taught = ((learned @ wanted) * learned).sum(axis=1)
        return np.asarray(weight * taught / (1.0 + weight * (learned * differences).sum(axis=1)))

    def _learned(self, differences: Floats) -> Floats:
        with one_blas_thread(len(self.coef) <= SMALL):
            return np.asarray(differences @ self.covariance)
