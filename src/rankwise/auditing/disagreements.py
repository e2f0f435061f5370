"""Judgments that the other raters of a document, and its features, contradict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise.raters.rater_model import fit_raters
from rankwise.rendering import Cell
from rankwise.rows.ratings import Ratings
from rankwise.types import Floats, Ints


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
