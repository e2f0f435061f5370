"""Ratings joined to rows with features, by query and document."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankwise.errors import DataError
from rankwise.raters.rater_model import fit_raters
from rankwise.rows.documents import row_named, rows_by_name
from rankwise.rows.ranking import RankingData
from rankwise.rows.ratings import Ratings


def pooled_rows(data: RankingData, ratings: Ratings) -> RankingData:
    """The rows that were rated, in the order of the ratings' documents, with pooled labels and weights."""
    rows = rows_by_name(data)
    names = zip(ratings.qid.tolist(), ratings.docs.tolist(), strict=True)
    try:
        found = np.array([row_named(rows, str(qid), str(doc)) for qid, doc in names])
    except DataError as error:
        raise DataError(f"The judgments do not fit the rows: {error}") from None
    if len(np.unique(found)) < len(found):
        raise DataError("Two documents of the judgments have the same names as text.")
    label, weight = fit_raters(ratings).pooled(ratings)
    return replace(data.select(found), y=label, sample_weight=weight)
