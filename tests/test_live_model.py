"""A model that is judged live is, after every judgment, the model of a fit to all that is said."""

import numpy as np
import pytest
from scipy import sparse

from rankwise import RankRLS, make_search_data
from rankwise.judging.live_model import LiveModel, Loss, Said
from rankwise.preferences.queries import group_rows
from rankwise.types import Ties, Weighting
from stressed import KINDS, stressed


def refit(X, query_of_row, said, alpha, ties="keep", weighting="example"):
    """The weights of a fit from scratch to the same grades and pairs."""
    y, weight = np.zeros(X.shape[0]), np.zeros(X.shape[0])
    pairs, margins = [np.empty((0, 2), dtype=np.int64)], [np.empty(0)]
    for one in said.values():
        y[one.rows], weight[one.rows] = one.grades, 1.0
        pairs.append(one.pairs)
        margins.append(one.margins)
    pairs, margins = np.concatenate(pairs), np.concatenate(margins)
    ranker = RankRLS(alpha, solver="primal", ties=ties, weighting=weighting)
    rows = np.flatnonzero(weight)
    graded = any(len(set(one.grades.tolist())) > 1 for one in said.values())
    if not graded and any(len(one.rows) > 1 for one in said.values()):
        return None  # rankers take labels of which all are tied for a mistake
    if not len(pairs):
        return ranker.fit(X[rows], y[rows], query_of_row[rows]).coef_ if graded else None
    given = {"y": y, "qid": query_of_row, "sample_weight": weight} if graded else {}
    return ranker.fit_preferences(X, pairs, margins, **given).coef_


def random_judgment(rng, queries, said):
    """What is said of a random query after one more judgment of it: a grade, new or replaced, or a pair."""
    query = int(rng.integers(queries.n_queries))
    rows, before = queries.rows_of(query), said.get(query, Said())
    kind = rng.integers(4)
    if kind == 0 and len(rows) > 1:
        pair, margin = rng.choice(rows, 2, replace=False), float(rng.integers(2))
        pairs, margins = np.vstack([before.pairs, pair]), np.append(before.margins, margin)
        return query, Said(before.rows, before.grades, pairs, margins)
    if kind == 1 and len(before.rows):  # undo
        return query, Said(before.rows[1:], before.grades[1:], before.pairs, before.margins)
    row = rng.choice(rows)
    kept = before.rows != row
    graded = np.append(before.rows[kept], row), np.append(before.grades[kept], float(rng.integers(4)))
    return query, Said(*graded, before.pairs, before.margins)


def differ(coef, expected, X):
    """The largest difference of scores, relative to their range."""
    scores, others = X @ coef, X @ expected
    return np.abs((scores - scores[0]) - (others - others[0])).max() / max(np.ptp(others), 1e-12)


@pytest.mark.parametrize("ties", Ties)
@pytest.mark.parametrize("weighting", Weighting)
def test_after_every_judgment_the_model_is_that_of_a_refit(ties, weighting):
    rng = np.random.default_rng(3)
    data = make_search_data(8, random_state=1)
    live = LiveModel(Loss(data.X, ties, weighting), alpha=0.3)
    qid, compared = data.queries.query_of_row(), 0
    for _ in range(60):
        live.say(*random_judgment(rng, data.queries, live.said))
        expected = refit(data.X, qid, live.said, 0.3, str(ties), str(weighting))
        if expected is not None and live.knows_anything:
            assert differ(live.coef, expected, data.X) < 1e-9
            compared += 1
    assert compared > 45


@pytest.mark.parametrize("kind", [*KINDS])
def test_rows_that_are_not_nice_are_judged_as_a_refit_would(kind):
    rng = np.random.default_rng(5)
    X, _, qid = stressed(kind)
    queries, alpha = group_rows(qid, X.shape[0]), 1.0
    rows = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    live = LiveModel(Loss(X), alpha)
    for _ in range(25):
        live.say(*random_judgment(rng, queries, live.said))
        expected = refit(X, queries.query_of_row(), live.said, alpha)
        if expected is not None and live.is_resolved:
            for query in range(queries.n_queries):
                assert differ(live.coef, expected, rows[queries.rows_of(query)]) < 1e-6
