"""How well click models with and without position bias predict the clicks of sessions held out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise.clicks.log import ClickLog
from rankwise.clicks.position_bias import estimate_position_bias
from rankwise.errors import DataError
from rankwise.preferences.queries import group_rows
from rankwise.rendering import text_table
from rankwise.types import Floats, Ints, RandomSource
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
        The sessions, or queries of counts, and the results that were predicted, each once.
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
    """Compare click models with and without position bias on held-out sessions.

    Both models give every row r a click probability γ_r; the position-based model multiplies it by the
    probability θ_k that users examine position k. Sessions are split into folds; both models are estimated on
    all folds but one and predict the clicks of that one. γ_r is shrunk towards the mean of all rows by one
    click. With counts, impressions instead of sessions are split into folds, and the interval treats queries
    as independent. The propensities of the log are not used. O(results shown) per iteration of the estimation
    of θ.

    A gain shows that the position matters, not that correcting for it gives a better ranker: that also
    depends on the engine that wrote the log and on the number of sessions. docs/clicks.md has a map.

    Parameters
    ----------
    log : ClickLog
        The log, matched to data or not.
    n_folds : int, default=5
        The number of folds.
    random_state : int, RandomState, Generator or None, default=0
        The seed for assigning sessions, or impressions, to folds.

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
        unit = "queries" if log.shown is not None else "sessions"
        raise DataError(f"{n_folds} folds need at least 2 and as many {unit}; the log has {n_sessions}.")
    rng = check_random_state("random_state", random_state)
    session = sessions.query_of_row()
    shown, clicked = _in_folds(log, session, n_folds, rng)
    log_likelihood = np.zeros((2, len(log.row)))
    predicted = np.zeros(len(log.row))
    for held in range(n_folds):
        train_shown = shown.sum(axis=0) - shown[held]
        train_clicked = clicked.sum(axis=0) - clicked[held]
        train = train_shown > 0.0
        theta = np.full(int(log.position.max()) + 1, np.nan)  # of positions that only held-out sessions have
        theta[log.position[train]] = estimate_position_bias(
            log.row[train], log.position[train], train_clicked[train], train_shown[train]
        )
        known = (shown[held] > 0.0) & ~np.isnan(theta[log.position])
        predicted[known] += shown[held][known]
        for model, look in enumerate((np.ones(len(log.row)), theta[log.position])):
            p = _click_probability(log.row, look, train_shown, train_clicked)[known]
            hits, all_shown = clicked[held][known], shown[held][known]
            log_likelihood[model, known] += hits * np.log(p) + (all_shown - hits) * np.log(1.0 - p)
    kept = predicted > 0.0
    return _compared(log_likelihood[:, kept], predicted[kept], session[kept])


def _in_folds(log: ClickLog, session: Ints, n_folds: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """How often each entry was shown and clicked in each fold of sessions or, with counts, of impressions."""
    if log.shown is None:
        fold = (rng.permutation(int(session.max()) + 1) % n_folds)[session]
        shown = (fold == np.arange(n_folds)[:, None]).astype(np.float64)
        return shown, shown * log.clicked
    even = np.full(n_folds, 1.0 / n_folds)
    clicked, others = (
        rng.multinomial(counts.astype(np.int64), even).T.astype(np.float64)
        for counts in (log.clicked, log.shown - log.clicked)
    )
    return clicked + others, clicked


def _click_probability(item: Ints, look: Floats, shown: Floats, clicked: Floats) -> Floats:
    """The probability of a click of each entry, with rows estimated from these counts."""
    n_items = int(item.max()) + 1
    clicks = np.bincount(item, clicked, n_items)
    exposure = np.bincount(item, np.where(shown > 0.0, look * shown, 0.0), n_items)
    rate = clicks.sum() / exposure.sum()
    liking = rate * (clicks + _PRIOR_CLICKS) / (rate * exposure + _PRIOR_CLICKS)
    p: Floats = np.clip(look * liking[item], _LEAST_PROBABILITY, 1.0 - _LEAST_PROBABILITY)
    return p


def _compared(log_likelihood: Floats, predicted: Floats, session: Ints) -> ClickLikelihood:
    """Means per result, and an interval of their difference in which the session is the unit."""
    n_results = float(predicted.sum())
    without, with_bias = (log_likelihood.sum(axis=1) / n_results).tolist()
    gain = log_likelihood[1] - log_likelihood[0]
    mean = gain.sum() / n_results
    _, of_session = np.unique(session, return_inverse=True)
    # The mean per result is a ratio of sums over sessions, whose residuals are these.
    residual = np.bincount(of_session, gain - mean * predicted)
    n_sessions = len(residual)
    error = np.sqrt((residual**2).sum() * n_sessions / max(n_sessions - 1, 1)) / n_results
    interval = (float(mean - 1.96 * error), float(mean + 1.96 * error))
    return ClickLikelihood(without, with_bias, interval, n_sessions, int(n_results))
