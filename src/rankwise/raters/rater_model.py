"""The bias and noise of raters, and the truth that their grades surround.

A grade is ``y = θ_i + b_r + ε`` with ``ε ~ N(0, σ_r²)``: the truth of the document, the bias of the rater and
noise of the rater's own size. The truth is random, ``θ_i ~ N(μ_i, τ²)``: if it were a parameter, likelihood
would grow without bound as one rater's noise went to 0, and the estimate would collapse onto that rater.
Biases sum to 0, since only differences between raters who share documents can be seen.

The prior mean μ_i is the same for all documents, or a line in the scores of a ranker that did not see their
labels, with an intercept for each query (`expected`): features are then one more witness.

Dempster, Laird and Rubin, "Maximum Likelihood from Incomplete Data via the EM Algorithm" (1977).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise.errors import DataError
from rankwise.rows.ratings import Ratings
from rankwise.types import Floats, Ints

# So many judgments with the noise of all raters are added to those of each: without them, two raters who copy
# each other would have no noise.
PRIOR_JUDGMENTS = 1.0
# The noise of all raters is at least this share of the variance of grades, as rounding to a grade makes it.
LEAST_NOISE = 1e-4
TOLERANCE, MOST_ITERATIONS = 1e-9, 5000


@dataclass(frozen=True, eq=False)
class RaterModel:
    """What explains the grades.

    Attributes
    ----------
    bias, noise : Floats, shape (R,)
        b and σ of each rater, in points of the scale.
    truth, truth_variance : Floats, shape (D,)
        The mean and variance of θ given all judgments.
    prior_mean : Floats, shape (D,)
        μ.
    spread : float
        τ.
    n_iter : int
    converged : bool
    """

    bias: Floats
    noise: Floats
    truth: Floats
    truth_variance: Floats
    prior_mean: Floats
    spread: float
    n_iter: int
    converged: bool

    def pooled(self, ratings: Ratings) -> tuple[Floats, Floats]:
        """The label of each document, and its weight for training.

        The label is the mean of the grades without biases, weighted by precision ``1/σ_r²``, and kept on the
        scale. Its weight is its reliability ``τ² / (τ² + σ_i²)``, where σ_i² is its variance around the
        truth: between 0 and 1, because what features cannot say about the truth is not known any better from
        more raters.
        """
        precision = 1.0 / np.square(self.noise[ratings.rater])
        total = np.bincount(ratings.document, precision, ratings.n_documents)
        unbiased = precision * (ratings.grade - self.bias[ratings.rater])
        label = np.bincount(ratings.document, unbiased, ratings.n_documents) / total
        kept = np.clip(label, ratings.grade.min(), ratings.grade.max())
        return kept, self.spread**2 / (self.spread**2 + 1.0 / total)

    def surprise(self, ratings: Ratings) -> tuple[Floats, Floats]:
        """How far each judgment is from what all others of its document, and the prior, say.

        Returns
        -------
        expected : Floats, shape (N,)
            The grade that this rater would give.
        surprise : Floats, shape (N,)
            The distance from it, in standard deviations.
        """
        precision = 1.0 / np.square(self.noise[ratings.rater])
        document, bias = ratings.document, self.bias[ratings.rater]
        total = 1.0 / self.truth_variance[document]
        others = total - precision
        mean = (total * self.truth[document] - precision * (ratings.grade - bias)) / others
        return mean + bias, (ratings.grade - mean - bias) / np.sqrt(1.0 / others + 1.0 / precision)


def fit_raters(ratings: Ratings, expected: tuple[Floats, Ints] | None = None) -> RaterModel:
    """Estimate biases and noise by EM; O(N) per iteration.

    Parameters
    ----------
    ratings : Ratings
    expected : (scores, query), each of shape (D,), optional
        Scores of the documents by a ranker that did not see their labels, and the number of their query.
    """
    check_connected(ratings)
    variance = float(np.var(ratings.grade))
    if variance == 0.0:
        raise DataError("All grades are equal, so raters cannot be compared.")
    prior, half = _Prior(ratings.n_documents, expected), variance / 2.0
    n_iter, converged = 0, False
    found = _Estimate(
        np.zeros(ratings.n_raters),
        np.full(ratings.n_raters, half),
        np.full(ratings.n_documents, float(ratings.grade.mean())),
        half,
    )
    while not converged and n_iter < MOST_ITERATIONS:
        before, found = found, found.improved(ratings, prior, LEAST_NOISE * variance)
        converged = found.distance(before) <= TOLERANCE * np.sqrt(variance)
        n_iter += 1
    noise, spread = np.sqrt(found.noise), float(np.sqrt(found.spread))
    return RaterModel(found.bias, noise, *found.truth(ratings), found.mean, spread, n_iter, converged)


@dataclass(frozen=True, eq=False)
class _Estimate:
    """An iterate of EM; noise and spread are variances."""

    bias: Floats
    noise: Floats
    mean: Floats
    spread: float

    def truth(self, ratings: Ratings) -> tuple[Floats, Floats]:
        """The mean and variance of the truth of each document, given the grades."""
        precision = 1.0 / self.noise[ratings.rater]
        unbiased = precision * (ratings.grade - self.bias[ratings.rater])
        total = 1.0 / self.spread + np.bincount(ratings.document, precision, ratings.n_documents)
        sums = np.bincount(ratings.document, unbiased, ratings.n_documents)
        return np.asarray((self.mean / self.spread + sums) / total), np.asarray(1.0 / total)

    def improved(self, ratings: Ratings, prior: _Prior, floor: float) -> _Estimate:
        """The parameters that fit the grades best, given what the truth is now known to be."""
        truth, variance = self.truth(ratings)
        rater, document = ratings.rater, ratings.document
        n_judged = np.bincount(rater, minlength=ratings.n_raters)
        residual = ratings.grade - truth[document]
        bias = np.bincount(rater, residual) / n_judged
        squares = np.bincount(rater, np.square(residual - bias[rater]) + variance[document])
        common = max(float(squares.sum()) / len(rater), floor)
        noise = (squares + PRIOR_JUDGMENTS * common) / (n_judged + PRIOR_JUDGMENTS)
        truth = truth + bias.mean()
        mean = prior.mean(truth, self.spread)
        spread = max(float(np.mean(np.square(truth - mean) + variance)), floor)
        return _Estimate(bias - bias.mean(), noise, mean, spread)

    def distance(self, other: _Estimate) -> float:
        """The largest change of a parameter, in points of the scale."""
        bias = float(np.abs(self.bias - other.bias).max())
        noise = float(np.abs(np.sqrt(self.noise) - np.sqrt(other.noise)).max())
        return max(bias, noise, abs(float(np.sqrt(self.spread) - np.sqrt(other.spread))))


class _Prior:
    """The mean of the truth before any judgment."""

    def __init__(self, n_documents: int, expected: tuple[Floats, Ints] | None) -> None:
        self._n = n_documents
        if expected is None:
            self._scores = None
            return
        scores, self._query = expected
        self._sizes = np.bincount(self._query).astype(np.float64)
        self._scores = scores - self._by_query(scores)[self._query]

    def mean(self, truth: Floats, spread: float) -> Floats:
        """The line through the truths, its intercepts drawn to their mean as far as they are noise."""
        if self._scores is None:
            return np.full(self._n, float(truth.mean()))
        centred = truth - self._by_query(truth)[self._query]
        squares = float(self._scores @ self._scores)
        slope = max(float(self._scores @ centred) / squares, 0.0) if squares > 0.0 else 0.0
        levels = self._by_query(truth)
        between = max(float(np.var(levels)) - spread * float((1.0 / self._sizes).mean()), 0.0)
        share = between / (between + spread / self._sizes) if between > 0.0 else np.zeros(len(levels))
        middle = float(truth.mean())
        return np.asarray((middle + share * (levels - middle))[self._query] + slope * self._scores)

    def _by_query(self, values: Floats) -> Floats:
        return np.asarray(np.bincount(self._query, values) / self._sizes)


def check_connected(ratings: Ratings) -> None:
    """Reject raters whose biases cannot be compared, because no chain of common documents connects them."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if ratings.n_raters == 1:
        raise DataError(
            f"All judgments are by one rater, {ratings.raters[0]!r}, so agreement is undefined; at least two "
            f"raters must judge some of the same documents."
        )
    size = ratings.n_raters + ratings.n_documents
    edges = (np.ones(len(ratings.rater)), (ratings.rater, ratings.n_raters + ratings.document))
    n_parts, part = connected_components(coo_array(edges, shape=(size, size)), directed=False)
    of_rater = part[: ratings.n_raters]
    if n_parts > 1:
        apart = np.flatnonzero(of_rater != np.bincount(of_rater).argmax())
        names = ", ".join(repr(ratings.raters[r]) for r in apart[:3]) + (", ..." if len(apart) > 3 else "")
        raise DataError(
            f"No document connects the raters {names} with the others, so their biases cannot be compared; "
            f"have them judge some of the same documents, or leave them out."
        )
