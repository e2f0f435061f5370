"""Is a ranker shown not to be worse than another by more than a margin? A test for release gates."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from rankwise.types import Floats
from rankwise.validation import check_column, check_number
from rankwise.validation.arrays import as_floats

# The chance that a ranker passes that is worse by exactly the margin.
LEVEL = 0.05
# The chance with which an equal ranker passes on as many queries as are said to decide.
POWER = 0.95


class Verdict(StrEnum):
    """What a gate says."""

    NOT_WORSE = "not worse"
    WORSE = "worse"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class NonInferiority:
    """The result of `non_inferiority`: whether a ranker is worse than another by more than a margin.

    Attributes
    ----------
    verdict : Verdict
        "not worse", "worse" or "undecided".
    margin : float
        The largest acceptable loss.
    gain, spread : float
        The mean gain of the ranker per query, and its standard deviation over queries.
    n_queries : int
        The number of queries.
    p_not_worse, p_worse : float
        The p-values of the hypotheses that it is worse by at least the margin, and by at most the margin.
    n_to_decide : int or None
        The approximate number of queries on which a ranker that is equal on average passes with a probability
        of 95 %.

    See Also
    --------
    non_inferiority : Returns it.
    PairedTest : A test for any difference.

    Examples
    --------
    >>> from rankwise.metrics import non_inferiority
    >>> result = non_inferiority([0.1, -0.1] * 100, 0.005)
    >>> result.n_queries, result.n_to_decide, str(result.verdict)
    (200, 4743, 'undecided')
    """

    verdict: Verdict
    margin: float
    gain: float
    spread: float
    n_queries: int
    p_not_worse: float
    p_worse: float
    n_to_decide: int | None


def non_inferiority(gains: ArrayLike, margin: float, *, value_range: float = 1.0) -> NonInferiority:
    """Test whether a mean gain is above or below −margin; valid for any number of queries.

    The p-value is P(Σ Dₖ gₖ ≤ −margin), where the weights Dₖ are uniform on the simplex and the gains gₖ
    include one more query with the worst possible gain: the bound of Gaffke (2005) and Learned-Miller and
    Thomas (2019) for means of bounded variables. With many queries, it approaches that of a t-test; with few,
    it allows for rare large losses that were not observed, which a t-test does not. O(n) for each of about 50
    steps.

    Parameters
    ----------
    gains : array-like, shape (n,)
        The gain of the new ranker on each query, positive if it is better.
    margin : float
        The largest acceptable loss.
    value_range : float, default=1
        The largest possible difference on a query.

    Examples
    --------
    >>> from rankwise.metrics import non_inferiority
    >>> result = non_inferiority([0.01, -0.01] * 500, 0.005)
    >>> result.verdict, round(result.p_not_worse, 3)
    (<Verdict.NOT_WORSE: 'not worse'>, 0.007)
    """
    gain = check_column("gains", as_floats("gains", gains))
    gain = gain[~np.isnan(gain)]
    margin = check_number("margin", margin, minimum=0.0, exclusive=True)
    value_range = check_number("value_range", value_range, minimum=0.0, exclusive=True)
    n = len(gain)
    shifted = gain + margin
    p_not_worse = probability_below(np.append(shifted, margin - value_range))
    p_worse = probability_below(np.append(-shifted, -margin - value_range))
    if p_not_worse <= LEVEL:
        verdict = Verdict.NOT_WORSE
    else:
        verdict = Verdict.WORSE if p_worse <= LEVEL else Verdict.UNDECIDED
    spread = float(gain.std(ddof=1)) if n > 1 else float("nan")
    needed = queries_to_decide(spread, margin, value_range) if n > 1 else None
    mean = float(gain.mean()) if n else float("nan")
    return NonInferiority(verdict, margin, mean, spread, n, p_not_worse, p_worse, needed)


def queries_to_decide(spread: float, margin: float, value_range: float = 1.0) -> int:
    """About the number of queries on which an equal ranker passes with a probability of `POWER`."""
    from scipy.special import ndtri

    normal = float(ndtri(1.0 - LEVEL) + ndtri(POWER)) * spread
    return int(np.ceil(((normal + np.sqrt(normal**2 + 4.0 * margin * value_range)) / (2.0 * margin)) ** 2))


def queries_to_detect(spread: float, difference: float) -> int:
    """About the number of queries on which a two-sided test at 5 % has a power of 80 %."""
    from scipy.special import ndtri

    return max(2, int(np.ceil(((ndtri(0.975) + ndtri(0.8)) * spread / difference) ** 2)))


def probability_below(a: Floats) -> float:
    """P(Σ Eₖ aₖ ≤ 0) for independent exponential Eₖ, by the approximation of Lugannani and Rice (1980)."""
    from scipy.optimize import brentq
    from scipy.special import ndtr

    a = a / np.abs(a).max()
    low, high = float(a.min()), float(a.max())
    if low >= 0.0:
        return 0.0
    if high <= 0.0:
        return 1.0

    def slope(t: float) -> float:
        return float((a / (1.0 - t * a)).sum())

    # The slope of the cumulant function is −∞ and ∞ at the ends.
    left, right = 1.0 / low, 1.0 / high
    inside = 1e-12
    t = brentq(slope, left * (1.0 - inside), right * (1.0 - inside), xtol=1e-14, rtol=1e-13)
    cumulant = -float(np.log1p(-t * a).sum())
    curvature = float(((a / (1.0 - t * a)) ** 2).sum())
    r = float(np.sign(t) * np.sqrt(max(-2.0 * cumulant, 0.0)))
    q = t * np.sqrt(curvature)
    if abs(r) < 1e-4:  # where both terms grow, and their difference does not
        third = 2.0 * float(((a / (1.0 - t * a)) ** 3).sum()) / curvature**1.5
        return float(np.clip(0.5 + third / (6.0 * np.sqrt(2.0 * np.pi)), 0.0, 1.0))
    density = float(np.exp(-0.5 * r * r) / np.sqrt(2.0 * np.pi))
    return float(np.clip(ndtr(r) + density * (1.0 / r - 1.0 / q), 0.0, 1.0))
