"""The hinge oracle counts exactly what a loop over all pairs counts."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from all_pairs import hinge_pairs, pair_hinge
from rankwise import _native
from rankwise.config import config_context
from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.pairs import Pairs
from rankwise.preferences.queries import group_rows
from rankwise.svm.hinge import QueryHinge, query_hinge
from rankwise.svm.pair_hinge import PairHinge
from rankwise.types import Ties, Weighting
from rankwise.validation import Problem

SCORES = {
    "random": lambda rng, m: rng.normal(size=m) * 2,
    "on a grid, so that margins are exactly 0, 1 and -1": lambda rng, m: rng.integers(-3, 4, m) * 0.5,
    "all equal": lambda rng, m: np.full(m, 0.3),
    "far apart": lambda rng, m: rng.normal(size=m) * 1e6,
    "huge": lambda rng, m: rng.choice([-1e308, 0.0, 1e308, 1e-300], m),
    "an outlier": lambda rng, m: np.append(rng.normal(size=m - 1), 1e12),
}
LABELS = {
    "real": lambda rng, m: rng.normal(size=m),
    "graded": lambda rng, m: rng.integers(0, 3, m).astype(float),
    "heavily tied": lambda rng, m: (rng.random(m) < 0.05).astype(float),
}
QUERIES = {
    "one": lambda rng, m: np.zeros(m, dtype=int),
    "several": lambda rng, m: rng.integers(0, 4, m),
    "with singletons": lambda rng, m: np.where(rng.random(m) < 0.5, np.arange(m), -1),
}


def counts(y, qid, scores, n_threads=1, weight=None):
    """Active partners above and below each row, in the caller's order, straight from the kernel."""
    order = np.lexsort((y, qid))
    offsets = np.append(np.flatnonzero(np.diff(qid[order], prepend=qid.min() - 1)), len(y))
    lower, upper = np.empty(len(y), dtype=np.int32), np.empty(len(y), dtype=np.int32)
    for start, end in itertools.pairwise(offsets):
        labels = y[order[start:end]]
        lower[start:end] = np.searchsorted(labels, labels, "left")
        upper[start:end] = np.searchsorted(labels, labels, "right")
    row, score = np.empty(len(y), dtype=np.int32), np.empty(len(y))
    above, below = np.empty(len(y)), np.empty(len(y))
    grouped = None if weight is None else weight[order]
    _native.order_scores(offsets, scores[order], row, score, n_threads)
    _native.sum_active(offsets, lower, upper, row, score, grouped, above, below, n_threads)
    back = np.argsort(order)
    return above[back], below[back]


def counts_by_pairs(y, qid, scores):
    with np.errstate(over="ignore"):
        margin = scores[:, None] - scores[None, :]
    active = (y[:, None] > y[None, :]) & (qid[:, None] == qid[None, :]) & (margin < 1.0)
    return active.sum(axis=0), active.sum(axis=1)


@pytest.mark.parametrize("scores", SCORES.values(), ids=SCORES)
@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("queries", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize("m", [1, 2, 33, 700])
def test_counts_equal_those_of_all_pairs(scores, labels, queries, m):
    rng = np.random.default_rng(m)
    y, qid, f = labels(rng, m), queries(rng, m), scores(rng, m)
    for fast, slow in zip(counts(y, qid, f), counts_by_pairs(y, qid, f), strict=True):
        np.testing.assert_array_equal(fast, slow)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_counts_in_a_query_cut_into_parts_equal_those_of_some_rows(n_threads):
    rng = np.random.default_rng(7)
    m = 150_000
    y, f = np.round(rng.normal(size=m), 3), np.round(rng.normal(size=m) * 3, 2)
    above, below = counts(y, np.zeros(m, dtype=int), f, n_threads)
    for i in rng.integers(0, m, 60):
        assert above[i] == ((y > y[i]) & (f - f[i] < 1.0)).sum()
        assert below[i] == ((y < y[i]) & (f[i] - f < 1.0)).sum()
    assert above.sum() == below.sum()
    assert above.sum() > 2**32


def test_weighted_sums_are_the_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(3)
    m = 100_000
    queries = group_rows(rng.integers(0, 3, m), m)
    F = QueryDifferences(queries, rng.normal(size=m), ties=Ties.DROP, row_weight=rng.uniform(0.5, 2, m))
    f = rng.normal(size=m)
    found = []
    for n_threads in (1, 3):
        with config_context(n_threads=n_threads):
            value = QueryHinge(F).squared_value(f)
            found.append((value.risk, value.gradient.tobytes(), value.curvature(f).tobytes()))
    assert found[0] == found[1]


@given(st.integers(0, 10**6), st.integers(2, 25), st.sampled_from(list(Weighting)), st.booleans())
@settings(max_examples=80, deadline=None)
def test_risks_gradients_and_curvature_equal_those_of_all_pairs(seed, m, weighting, weighted):
    rng = np.random.default_rng(seed)
    y, qid = rng.integers(0, rng.integers(2, 6), m).astype(float), rng.integers(0, 3, m)
    y[0], y[1], qid[0], qid[1] = 0.0, 1.0, 0, 0
    f = np.round(rng.normal(size=m) * 2, rng.integers(0, 3))
    weight = rng.integers(1, 4, m).astype(float) if weighted else None
    F = QueryDifferences(group_rows(qid, m), y, ties=Ties.DROP, weighting=weighting, row_weight=weight)
    loss = QueryHinge(F)
    risk, gradient, squared, squared_gradient, hessian = pair_hinge(
        y, qid, f, weighting=weighting, weight=weight
    )
    value, smooth = loss.value(loss.arranged(f)), loss.squared_value(loss.arranged(f))
    v = rng.normal(size=m)
    close = {"rtol": 1e-10, "atol": 1e-12}
    np.testing.assert_allclose(value.risk, risk, **close)
    np.testing.assert_allclose(loss.restored(value.gradient), gradient, **close)
    np.testing.assert_allclose(value.offset, risk - gradient @ f, **close)
    np.testing.assert_allclose(smooth.risk, squared, **close)
    np.testing.assert_allclose(loss.restored(smooth.gradient), squared_gradient, **close)
    np.testing.assert_allclose(loss.restored(smooth.curvature(loss.arranged(v))), hessian @ v, **close)


@given(st.integers(0, 10**6), st.integers(2, 20))
@settings(max_examples=40, deadline=None)
def test_explicit_pairs_agree_with_scores_that_say_the_same(seed, m):
    rng = np.random.default_rng(seed)
    y, f, v = rng.permutation(m).astype(float), rng.normal(size=m), rng.normal(size=m)
    better, worse = np.nonzero(y[:, None] > y[None, :])
    listed = PairHinge(m, Pairs(better, worse, np.ones(len(better))))
    counted = QueryHinge(QueryDifferences(group_rows(None, m), y, ties=Ties.DROP))
    one, other = listed.value(f), counted.value(counted.arranged(f))
    np.testing.assert_allclose([one.risk, one.offset], [other.risk, other.offset], rtol=1e-12)
    np.testing.assert_allclose(one.gradient, counted.restored(other.gradient), atol=1e-13)
    smooth, counted_smooth = listed.squared_value(f), counted.squared_value(counted.arranged(f))
    np.testing.assert_allclose(smooth.risk, counted_smooth.risk, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(smooth.gradient, counted.restored(counted_smooth.gradient), atol=1e-12)
    curved = counted.restored(counted_smooth.curvature(counted.arranged(v)))
    np.testing.assert_allclose(smooth.curvature(v), curved, atol=1e-12)


def test_row_weights_are_the_weights_of_all_pairs_of_a_row():
    rng = np.random.default_rng(3)
    y, qid, weight = rng.integers(0, 3, 30).astype(float), rng.integers(0, 4, 30), rng.uniform(0.5, 2.0, 30)
    pairs, share = hinge_pairs(y, qid, weighting="example", weight=weight)
    expected = np.bincount(pairs.ravel(), np.repeat(share, 2), 30)
    loss = QueryHinge(QueryDifferences(group_rows(qid, 30), y, ties=Ties.DROP, row_weight=weight))
    np.testing.assert_allclose(loss.restored(loss.row_weights()), expected, rtol=1e-12)
    listed = PairHinge(30, Pairs(pairs[:, 0], pairs[:, 1], np.ones(len(pairs)), share))
    np.testing.assert_allclose(listed.row_weights(), expected, rtol=1e-12)


def test_margin_density_is_the_weight_of_the_pairs_near_their_margin():
    rng = np.random.default_rng(8)
    y, qid, scores = rng.integers(0, 3, 30) * 1.0, rng.integers(0, 2, 30), 2.0 * rng.normal(size=30)
    weight = rng.uniform(0.5, 2.0, 30)
    pairs, weights = hinge_pairs(y, qid, weighting="example", weight=weight)
    differences = QueryDifferences(group_rows(qid, 30), y, ties=Ties.DROP, row_weight=weight)
    loss = QueryHinge(differences)
    listed = PairHinge(30, Pairs(pairs[:, 0], pairs[:, 1], np.ones(len(pairs)), weights))
    found = scores[pairs[:, 0]] - scores[pairs[:, 1]]
    near = np.where((found > 0.5) & (found < 1.5), weights, 0.0)
    expected = np.bincount(pairs.ravel(), np.repeat(near, 2), 30)
    assert 0 < np.count_nonzero(near) < len(pairs)
    np.testing.assert_allclose(
        loss.restored(loss.margin_density(loss.arranged(scores))), expected, atol=1e-12
    )
    np.testing.assert_allclose(listed.margin_density(scores), expected, atol=1e-12)
    stretched = PairHinge(30, Pairs(pairs[:, 0], pairs[:, 1], np.full(len(pairs), 2.0), weights))
    np.testing.assert_allclose(stretched.margin_density(2.0 * scores), expected / 2.0, atol=1e-12)


def test_finite_differences_of_the_risk_agree_with_its_gradient():
    rng = np.random.default_rng(5)
    m, step = 60, 1e-6
    y, f, direction = rng.normal(size=m), rng.normal(size=m), rng.normal(size=m)
    loss = QueryHinge(QueryDifferences(group_rows(rng.integers(0, 3, m), m), y, ties=Ties.DROP))
    for value in (loss.value, loss.squared_value):
        slope = (value(f + step * direction).risk - value(f - step * direction).risk) / (2 * step)
        np.testing.assert_allclose(value(f).gradient @ direction, slope, rtol=1e-6)


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_a_plane_is_never_above_the_risk(seed):
    rng = np.random.default_rng(seed)
    m = 30
    y, f = rng.integers(0, 4, m).astype(float), np.round(rng.normal(size=m), 1)
    y[:2] = 0.0, 1.0
    loss = QueryHinge(QueryDifferences(group_rows(None, m), y, ties=Ties.DROP))
    plane = loss.value(f)
    for other in rng.normal(size=(10, m)) * 3:
        assert plane.offset + plane.gradient @ other <= loss.value(other).risk + 1e-12


def test_rows_of_weight_zero_take_no_part_and_leave_counts_whole():
    rng = np.random.default_rng(5)
    m = 60
    y, qid, f = rng.integers(0, 4, m).astype(float), rng.integers(0, 5, m), rng.normal(size=m)
    weight = rng.integers(0, 2, m).astype(float)
    kept = np.flatnonzero(weight)
    X = rng.normal(size=(m, 3))
    loss = query_hinge(Problem(X, y, group_rows(qid, m), weight), Weighting.QUERY)
    alone = query_hinge(Problem(X[kept], y[kept], group_rows(qid[kept], len(kept)), None), Weighting.QUERY)
    assert loss.n_rows == len(kept)
    assert loss._row_weight is None  # pairs are counted, not summed
    here, there = loss.value(loss.arranged(f)), alone.value(alone.arranged(f[kept]))
    assert here.risk == there.risk
    np.testing.assert_array_equal(loss.restored(here.gradient)[kept], alone.restored(there.gradient))
    assert not loss.restored(here.gradient)[weight == 0.0].any()


@pytest.mark.parametrize("m, weighted", [(32, True), (64, True), (1024, True), (2047, False), (2048, False)])
def test_queries_that_fill_the_nodes_of_the_tree_are_counted_to_the_last_row(m, weighted):
    rng = np.random.default_rng(m)
    y, qid, scores = rng.permutation(m).astype(float), np.zeros(m, dtype=int), rng.normal(size=m)
    weight = np.full(m, 2.0) if weighted else None
    for labels in (y, np.sort(y)):
        expected = np.array(counts_by_pairs(labels, qid, scores)) * (2 if weighted else 1)
        np.testing.assert_array_equal(counts(labels, qid, scores, weight=weight), expected)
