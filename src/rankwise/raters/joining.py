"""Ratings joined to rows with features, by query and document."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankwise.errors import DataError
from rankwise.raters.rater_model import fit_raters
from rankwise.rows.documents import find_row, rows_by_name, warn_of_unknown
from rankwise.rows.ranking import RankingData
from rankwise.rows.ratings import Ratings


def pooled_rows(data: RankingData, ratings: Ratings) -> tuple[RankingData, Ratings]:
    """The rows that were rated, with pooled labels and weights, and their ratings, in the same order.

    Ratings of documents that the data lacks are counted in a warning, and left out.
    """
    rows = rows_by_name(data)
    names = [
        (str(qid), str(doc)) for qid, doc in zip(ratings.qid.tolist(), ratings.docs.tolist(), strict=True)
    ]
    try:
        found = [find_row(rows, *name) for name in names]
    except DataError as error:
        raise DataError(f"The judgments do not fit the rows: {error}") from None
    unknown = [names[document] for document in ratings.document.tolist() if found[document] is None]
    warn_of_unknown(unknown, len(ratings.grade) - len(unknown))
    if unknown:
        ratings = ratings.of_documents(np.flatnonzero([row is not None for row in found]))
    known = np.array([row for row in found if row is not None])
    if len(np.unique(known)) < len(known):
        raise DataError("Two documents of the judgments have the same name as text.")
    label, weight = fit_raters(ratings).pooled(ratings)
    return replace(data.select(known), y=label, sample_weight=weight), ratings
