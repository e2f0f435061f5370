"""Judgments that scores contradict, or other raters: rows and pairs, most suspicious first."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from rankwise.preferences.queries import Queries
from rankwise.raters.rater_model import fit_raters
from rankwise.rendering import Cell
from rankwise.rows.ratings import Ratings
from rankwise.types import Bools, Floats, Ints

# More labels of a query than this are put into bins of as many labels each.
MAX_LEVELS = 32
# Bisections of an interval as wide as the range of the log odds of a query.
_BISECTIONS = 45


def label_probabilities(log_odds: Floats, y: Floats, queries: Queries) -> tuple[Floats, Bools]:
    """How probable the label of each row is, given its score and the labels of its query.

    If two rows with different labels are in the order of their scores with a logistic probability of the
    difference, then the odds that row i has a label of at least t are ``exp(log_odds_i + c)``, whatever the
    distribution of the scores. The constant c depends on the query and on t, and makes the expected number of
    such labels the actual one. So a high label is suspicious in a row with a low score, and more so in
    a query with few high labels. O(m log m), and O(m) per label.

    Parameters
    ----------
    log_odds : Floats, shape (m,)
        Scores times the slope of their calibration.
    y : Floats, shape (m,)
    queries : Queries
        Rows whose scores can be compared.

    Returns
    -------
    probability : Floats, shape (m,)
        Of a label at least as high as the given one, or of one at least as low, whichever is smaller.
    too_high : Bools, shape (m,)
        Whether it is the former.
    """
    log_odds, starts = queries.grouped(log_odds), queries.offsets[:-1]
    query = np.repeat(np.arange(queries.n_queries), queries.sizes)
    level = _levels(queries.grouped(y), query)
    lowest, highest = np.minimum.reduceat(log_odds, starts), np.maximum.reduceat(log_odds, starts)
    at_least, at_most = np.ones((2, len(level)))
    for number in range(1, level.max(initial=0) + 1):
        n_above = np.add.reduceat((level >= number).astype(np.int64), starts)
        split = n_above > 0  # then there are lower labels, too
        middle = logit(np.where(split, n_above / queries.sizes, 0.5))
        low, high = middle - highest, middle - lowest
        for _ in range(_BISECTIONS):
            constant = 0.5 * (low + high)
            too_many = np.add.reduceat(expit(log_odds + constant[query]), starts) > n_above
            low, high = np.where(too_many, low, constant), np.where(too_many, constant, high)
        above = expit(log_odds + (0.5 * (low + high))[query])
        at_least = np.where(level == number, above, at_least)
        at_most = np.where((level == number - 1) & split[query], 1.0 - above, at_most)
    return queries.restored(np.minimum(at_least, at_most)), queries.restored(at_least < at_most)


def _levels(y: Floats, query: Ints) -> Ints:
    """The number of each label among those of its query, from 0."""
    order = np.lexsort((y, query))
    new_query = np.diff(query[order], prepend=-1) != 0
    new_label = (np.diff(y[order], prepend=np.nan) != 0.0) & ~new_query
    count = np.cumsum(new_label)
    number = np.empty(len(y), dtype=np.int64)
    number[order] = count - np.repeat(count[new_query], np.bincount(query))
    n_levels = 1 + np.maximum.reduceat(number, np.flatnonzero(np.diff(query, prepend=-1)))[query]
    return np.where(n_levels > MAX_LEVELS, number * MAX_LEVELS // n_levels, number)


def contradicted_pairs(log_odds: Floats, y: Floats, queries: Queries, n_pairs: int) -> list[tuple[int, int]]:
    """The pairs that scores contradict most, the row with the higher label first; no row occurs twice.

    A single wrong label contradicts many pairs, so the worst pair is taken, and then the worst of those
    without its rows, and so on. O(m log m), and O(h log h) per pair for queries of h rows.
    """
    rows_of = [
        np.arange(a, b) if queries.order is None else queries.order[a:b]
        for a, b in zip(queries.offsets[:-1].tolist(), queries.offsets[1:].tolist(), strict=True)
    ]
    worst = [(*_worst(log_odds, y, rows), number) for number, rows in enumerate(rows_of)]
    heapq.heapify(worst)
    found: list[tuple[int, int]] = []
    while worst and len(found) < n_pairs:
        difference, better, worse, number = heapq.heappop(worst)
        if difference >= 0.0:  # the scores agree with this pair, and with all others
            break
        found.append((better, worse))
        rows_of[number] = rows_of[number][~np.isin(rows_of[number], (better, worse))]
        heapq.heappush(worst, (*_worst(log_odds, y, rows_of[number]), number))
    return found


def _worst(log_odds: Floats, y: Floats, rows: Ints) -> tuple[float, int, int]:
    """The smallest difference of a pair of rows with different labels, and the pair; 0 without pairs."""
    rows = rows[np.argsort(y[rows], kind="stable")]
    own, label = log_odds[rows], y[rows]
    n_below = np.searchsorted(label, label)
    if not len(rows) or n_below[-1] == 0:
        return 0.0, -1, -1
    highest_so_far = np.maximum.accumulate(own)
    difference = np.where(n_below > 0, own - highest_so_far[n_below - 1], np.inf)
    better = int(difference.argmin())
    worse = int(own[: n_below[better]].argmax())
    return float(difference[better]), int(rows[better]), int(rows[worse])


@dataclass(frozen=True)
class SuspectJudgment:
    """A judgment far from what the other judgments of its document, and its features, say.

    Attributes
    ----------
    query, doc, rater
        The labels of the query, of the document and of the rater.
    grade : float
    expected : float
        The grade that this rater would give, by all other judgments and a model of the other queries.
    surprise : float
        How far the grade is from that, in standard deviations.
    """

    query: Cell
    doc: Cell
    rater: Cell
    grade: float
    expected: float
    surprise: float


def suspect_judgments(
    ratings: Ratings, scores: Floats, query: Ints, n_suspects: int
) -> tuple[SuspectJudgment, ...]:
    """The judgments that surprise most, the most surprising first.

    Parameters
    ----------
    ratings : Ratings
    scores : Floats, shape (D,)
        Scores of the documents by a model that was not trained on their query.
    query : Ints, shape (D,)
        The number of the query of each document.
    n_suspects : int
    """
    expected, surprise = fit_raters(ratings, (scores, query)).surprise(ratings)
    worst = np.argsort(-np.abs(surprise), kind="stable")[:n_suspects]
    document = ratings.document[worst]
    columns = (
        ratings.qid[document],
        ratings.docs[document],
        ratings.raters[ratings.rater[worst]],
        ratings.grade[worst],
        expected[worst],
        surprise[worst],
    )
    return tuple(SuspectJudgment(*one) for one in zip(*(c.tolist() for c in columns), strict=True))
