"""Prediction-powered inference: a mean over a sample, made more precise by a proxy that is known everywhere.

With values h of n sampled queries, and values f of a proxy for these and for N others,
``θ = mean(h) + λ (mean_others(f) − mean_sample(f))`` is consistent for every λ, however bad the proxy is,
because the bracket has mean 0. The λ of least variance, ``cov(h, f) / ((1 + n/N) var(f))``, makes it as
precise as the proxy is good; λ = 1 would make it worse than the sample alone where the proxy is poor.

Samples are small, so intervals cannot lean on the limit: the variance is the jackknife's, which tunes λ again
without each query, because a λ that fits few queries makes their residuals too small; and the quantile allows
for skewed values.

Angelopoulos, Duchi and Zrnic, "PPI++: Efficient Prediction-Powered Inference" (2023).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from rankwise.metrics.evaluation import QueryValues
from rankwise.metrics.significance import skewed_quantile
from rankwise.types import Bools, Floats

# Fewer queries say nothing about a variance and a slope.
LEAST_QUERIES = 5


@dataclass(frozen=True, eq=False)
class Part:
    """Values of some queries: their weighted mean, and the effect of each query on it, times n."""

    mean: float
    effect: Floats

    @classmethod
    def of(cls, measured: QueryValues, queries: Bools) -> Self:
        weight = np.where(measured.left_out, 0.0, measured.weight)[queries]
        values = np.where(weight > 0.0, measured.values[queries], 0.0)
        total = float(weight.sum())
        if not total > 0.0:
            return cls(float("nan"), weight)
        mean = float(weight @ values) / total
        return cls(mean, weight * (values - mean) * len(weight) / total)

    @property
    def variance(self) -> float:
        """Of the mean."""
        n = len(self.effect)
        return float(self.effect @ self.effect) / (n - 1) / n if n > 1 else float("nan")

    @property
    def margin(self) -> float:
        """Half the width of a 95 % interval of the mean."""
        return skewed_quantile(self.effect, len(self.effect) - 1) * float(np.sqrt(self.variance))


@dataclass(frozen=True)
class Combined:
    """The estimate, half the width of its 95 % interval, λ, and the correlation of h and f."""

    mean: float
    margin: float
    weight: float
    correlation: float


def combine(sample: Part, proxy: Part, outside: Part) -> Combined:
    """The mean by a sample and a proxy; O(n + N).

    Parameters
    ----------
    sample, proxy : Part
        The values h, and the values f of the same queries.
    outside : Part
        The values f of all other queries.
    """
    human, model = sample.effect, proxy.effect
    product, size = float(human @ model), float(np.sqrt((human @ human) * (model @ model)))
    correlation = product / size if size > 0.0 else float("nan")
    n, n_outside = len(human), len(outside.effect)
    if n_outside < LEAST_QUERIES or not (correlation > 0.0 and np.isfinite(outside.mean)):
        return Combined(sample.mean, sample.margin, 0.0, correlation)
    weight = product / (float(model @ model) * (1.0 + n / n_outside))
    gap = outside.mean - proxy.mean
    variance = _jackknife(human, model, gap, n_outside) + weight**2 * outside.variance
    margin = skewed_quantile(human - weight * model, n - 2) * float(np.sqrt(variance))
    return Combined(sample.mean + weight * gap, margin, weight, correlation)


def _jackknife(human: Floats, model: Floats, gap: float, n_outside: int) -> float:
    """The variance due to the sample: each query left out in turn, and λ tuned again without it; O(n)."""
    n = len(human)
    share = n / (n - 1)  # the mean moves as well when a query is left out
    total = float(model @ model)
    products = np.maximum(human @ model - share * human * model, 0.0)
    squares = total - share * np.square(model)
    known = squares > 1e-12 * total
    weights = np.where(known, products, 0.0) / np.where(known, squares, 1.0) / (1.0 + (n - 1) / n_outside)
    estimates = weights * (gap + model / (n - 1)) - human / (n - 1)
    return float(np.square(estimates - estimates.mean()).sum()) / share
