"""The sign test: is a coin fair, how unfair may it be, and how many tosses does it take to find out?"""

from __future__ import annotations

import numpy as np

from rankwise.errors import DataError
from rankwise.validation import check_number

# The probability of rejecting a fair coin, at most; intervals cover the rest.
LEVEL = 0.05
# The number of units with a winner is random; power is the mean over so many quantiles of it.
_N_QUANTILES = 201


def sign_test_p(first: int, second: int) -> float:
    """Two-sided exact p-value of as many wins of each side; 1 without any."""
    from scipy.special import bdtr

    return min(1.0, 2.0 * float(bdtr(min(first, second), first + second, 0.5))) if first + second else 1.0


def share_interval(wins: int, n: int) -> tuple[float, float]:
    """The exact interval of a share (Clopper and Pearson 1934); it contains .5 if and only if p ≥ .05."""
    from scipy.special import betaincinv

    tail = LEVEL / 2.0
    low = float(betaincinv(wins, n - wins + 1, tail)) if wins else 0.0
    high = float(betaincinv(wins + 1, n - wins, 1.0 - tail)) if wins < n else 1.0
    return low, high


def power_of(n_units: int, won: float, share: float) -> float:
    """The probability that the test finds a preference, if units have a winner with probability `won`."""
    from scipy.stats import binom

    quantile = (np.arange(_N_QUANTILES) + 0.5) / _N_QUANTILES
    n_won = binom.ppf(quantile, n_units, won)
    tail = LEVEL / 2.0
    least = binom.ppf(tail, n_won, 0.5)
    rejected = least - (binom.cdf(least, n_won, 0.5) > tail)  # at most so many wins of one side
    return float(np.mean(binom.cdf(rejected, n_won, share) + binom.sf(n_won - rejected - 1, n_won, share)))


def units_to_detect(share: float, won: float, power: float) -> int:
    """About the least number of units of which the test has this power."""
    share = check_number("share", share, minimum=0.5, maximum=1.0, exclusive=True)
    power = check_number("power", power, minimum=0.0, maximum=1.0, exclusive=True)
    if won == 0.0:
        raise DataError("No unit has a winner, so no number of units shows a preference.")
    high = 2
    while power_of(high, won, share) < power:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_of(middle, won, share) >= power else (middle, high)
    return high
