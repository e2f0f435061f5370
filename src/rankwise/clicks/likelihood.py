"""How well click models with and without position bias predict the clicks of sessions held out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise.clicks.log import ClickLog
from rankwise.clicks.position_bias import estimate_position_bias
from rankwise.errors import DataError
from rankwise.preferences.queries import group_rows
from rankwise.rendering import text_table
from rankwise.types import Bools, Floats, Ints, RandomSource
from rankwise.validation import check_count, check_kind, check_random_state

# Clicks added to the observed and the expected clicks of a row: rows with few impressions are nearly average.
_PRIOR_CLICKS = 1.0
# No click is certain or impossible, whatever a few sessions say.
_LEAST_PROBABILITY = 1e-4
LIKELIHOOD_HEADER = ("click model", "log-likelihood", "perplexity")


@dataclass(frozen=True)
class ClickLikelihood:
    """The result of `click_likelihood`; log-likelihoods are means per result shown, higher is better.

    Attributes
    ----------
    without_bias : float
        The clicks of a row do not depend on its position.
    with_bias : float
        They do: the probability of a click is that of the row times that of the position.
    interval : (float, float)
        The 95 % confidence interval of `gain`, over sessions.
    n_sessions, n_results : int
        The sessions and results that were predicted, each once.
    """

    without_bias: float
    with_bias: float
    interval: tuple[float, float]
    n_sessions: int
    n_results: int

    @property
    def gain(self) -> float:
        """How much more likely the clicks are with position bias: the difference of the log-likelihoods."""
        return self.with_bias - self.without_bias

    @property
    def has_bias(self) -> bool:
        """Whether position bias predicts clicks better: the interval of the gain is above 0."""
        return self.interval[0] > 0.0

    @property
    def rows(self) -> list[tuple[str, float, float]]:
        """Each model with its log-likelihood and perplexity, ``exp(-log-likelihood)``."""
        named = {"without position bias": self.without_bias, "with position bias": self.with_bias}
        return [(name, mean, float(np.exp(-mean))) for name, mean in named.items()]

    def __str__(self) -> str:
        low, high = self.interval
        gain = f"gain {self.gain:.5f} per result, 95 % interval {low:.5f} to {high:.5f}"
        return f"{text_table(LIKELIHOOD_HEADER, self.rows)}\n{gain}"


def click_likelihood(log: ClickLog, *, n_folds: int = 5, random_state: RandomSource = 0) -> ClickLikelihood:
    """Compare click models with and without position bias on sessions that they have not seen.

    Both models give every row r a click probability γ_r; the position-based model multiplies it by the
    probability θ_k that users examine position k. Sessions are split into folds; both models are estimated on
    all folds but one and predict the clicks of that one. γ_r is shrunk towards the mean of all rows by one
    click. The propensities of the log are not used. O(results shown) per round of the estimation of θ.

    A gain shows that the position matters, not that correcting for it gives a better ranker: that also
    depends on the engine that wrote the log and on the number of sessions. docs/clicks.md has a map.

    Parameters
    ----------
    log : ClickLog
    n_folds : int, default=5
    random_state : int, RandomState, Generator or None, default=0

    Returns
    -------
    ClickLikelihood

    Raises
    ------
    DataError
        If the position bias cannot be estimated, because the engine hardly varied its rankings.

    Examples
    --------
    >>> from rankwise import make_search_data
    >>> from rankwise.clicks import click_likelihood
    >>> _, log = make_search_data(100, random_state=0, clicks=True)
    >>> print(click_likelihood(log))
    click model            log-likelihood  perplexity
    without position bias         -0.2246      1.2519
    with position bias            -0.2045      1.2270
    gain 0.02008 per result, 95 % interval 0.01775 to 0.02242
    """
    n_folds, log = check_count("n_folds", n_folds), check_kind("log", log, ClickLog)
    sessions = group_rows(log.session, len(log.row))
    n_sessions = sessions.n_queries
    if not 2 <= n_folds <= n_sessions:
        raise DataError(f"{n_folds} folds need at least 2 and as many sessions; the log has {n_sessions}.")
    rng = check_random_state("random_state", random_state)
    session = sessions.query_of_row()
    fold = (rng.permutation(n_sessions) % n_folds)[session]
    log_likelihood = np.empty((2, len(log.row)))
    for held in range(n_folds):
        train, test = fold != held, fold == held
        theta = np.full(int(log.position.max()) + 1, np.nan)  # of positions that only held-out sessions have
        theta[log.position[train]] = estimate_position_bias(
            log.row[train], log.position[train], log.clicked[train]
        )
        for model, look in enumerate((np.ones(len(log.row)), theta[log.position])):
            p = _click_probability(log, look, train)[test]
            log_likelihood[model, test] = np.log(np.where(log.clicked[test], p, 1.0 - p))
    known = ~np.isnan(log_likelihood).any(axis=0)
    return _compared(log_likelihood[:, known], session[known])


def _click_probability(log: ClickLog, look: Floats, train: Bools) -> Floats:
    """The probability of every click, with rows estimated from the entries in `train`."""
    item, n_items = log.row, int(log.row.max()) + 1
    clicks = np.bincount(item[train], log.clicked[train], n_items)
    exposure = np.bincount(item[train], look[train], n_items)
    rate = clicks.sum() / exposure.sum()
    liking = rate * (clicks + _PRIOR_CLICKS) / (rate * exposure + _PRIOR_CLICKS)
    p: Floats = np.clip(look * liking[item], _LEAST_PROBABILITY, 1.0 - _LEAST_PROBABILITY)
    return p


def _compared(log_likelihood: Floats, session: Ints) -> ClickLikelihood:
    """Means per result, and an interval of their difference in which the session is the unit."""
    n_results = log_likelihood.shape[1]
    without, with_bias = log_likelihood.mean(axis=1).tolist()
    gain = log_likelihood[1] - log_likelihood[0]
    _, of_session = np.unique(session, return_inverse=True)
    # The mean per result is a ratio of sums over sessions, whose residuals are these.
    residual = np.bincount(of_session, gain - gain.mean())
    n_sessions = len(residual)
    error = np.sqrt((residual**2).sum() * n_sessions / max(n_sessions - 1, 1)) / n_results
    interval = (float(gain.mean() - 1.96 * error), float(gain.mean() + 1.96 * error))
    return ClickLikelihood(without, with_bias, interval, n_sessions, n_results)
