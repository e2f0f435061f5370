"""Whether a model was trained on rows on which it is measured: what its file says of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rankwise.model.data_scores import scaled_like, with_numbers
from rankwise.model.history import SEEN, File, History
from rankwise.preferences.digests import label_digests
from rankwise.ridge.moments.learned import query_digests

if TYPE_CHECKING:
    from rankwise.model.model import Model
    from rankwise.rows.ranking import RankingData
    from rankwise.types import Ints

# The rows of so many queries are looked at together.
QUERIES_AT_ONCE = 512


def is_trained_on(history: History, files: Sequence[File]) -> bool:
    """Whether these very files were learned, and nothing of them forgotten."""
    rows = [rows for step in history for rows in step.rows]
    learned = {file.sha256 for part in rows if part.part in SEEN for file in part.files}
    forgotten = {file.sha256 for part in rows if part.part == "forgotten" for file in part.files}
    return {file.sha256 for file in files} <= learned - forgotten - {None}


def count_learned_queries(model: Model, data: RankingData) -> int:
    """The number of queries that the model learned with the same rows and labels, as its moments say.

    None, unless one of them has rows that no other query has: rows of few values are equal by chance.
    """
    labels, moments = data.queries.labels, model.moments
    if moments is None or moments.has_qid is (labels is None):
        return 0
    if labels is None:
        if data.n_rows != moments.n_rows:
            return 0
        own = contents = _contents(model, data)
    else:
        digests = label_digests(labels.tolist())
        known = np.flatnonzero(np.isin(digests, moments.learned.labels))
        if not len(known):
            return 0
        parts = np.split(known, range(QUERIES_AT_ONCE, len(known), QUERIES_AT_ONCE))
        contents = np.concatenate(
            [_contents(model, data.select(queries=labels[part].tolist())) for part in parts]
        )
        own = digests[known]
    return int(moments.learned.holds(own, contents).sum())


def _contents(model: Model, data: RankingData) -> Ints:
    """The digests of the rows of each query, as moments have them."""
    assert model.moments is not None
    data = scaled_like(data, model.features)
    if model.encoding is None:
        X = with_numbers(data, model.feature_names).X
    else:
        X = model.encoding.encode(model.table(data))
    return query_digests(X, data.y, data.sample_weight, data.queries, model.moments.learned.places)
