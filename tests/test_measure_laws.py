"""Properties of every measure, whatever the data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise.config import config_context
from rankwise.errors import DataError
from rankwise.metrics import KINDS, get_measure, pairwise_error

NAMES = sorted(f"{kind}@3" if entry.cutoff == "needed" else kind for kind, entry in KINDS.items())
CUT = ["ndcg@2", "map@3", "rr@2", "err@3"]
laws = settings(max_examples=25, deadline=None)


@st.composite
def rankings(draw):
    """Small labels, tied scores and a few queries, as three lists of one length."""
    m = draw(st.integers(1, 24))
    column = lambda values: draw(st.lists(values, min_size=m, max_size=m))  # noqa: E731
    y = np.array(column(st.integers(0, 3)), dtype=float)
    scores = np.array(column(st.integers(-5, 5)), dtype=float)
    return y, scores, np.array(column(st.integers(0, 3)))


def values_by_query(name, y, scores, qid, **options):
    """Values keyed by query, so that the order of queries does not matter."""
    prepared = get_measure(name, max_grade=3.0, **options).prepare(y, qid)
    return dict(zip(prepared.queries.labels.tolist(), prepared.per_query(scores), strict=True))


def assert_same(a, b):
    assert a.keys() == b.keys()
    np.testing.assert_allclose([a[q] for q in a], [b[q] for q in a], rtol=1e-12, atol=1e-14, equal_nan=True)


@pytest.mark.parametrize("name", NAMES + CUT)
@laws
@given(data=rankings(), seed=st.integers(0, 2**32 - 1))
def test_the_order_of_rows_and_queries_changes_nothing(name, data, seed):
    y, scores, qid = data
    shuffled = np.random.default_rng(seed).permutation(len(y))
    assert_same(
        values_by_query(name, y, scores, qid),
        values_by_query(name, y[shuffled], scores[shuffled], qid[shuffled]),
    )


@pytest.mark.parametrize("name", NAMES + CUT)
@laws
@given(data=rankings())
def test_a_strictly_increasing_map_of_the_scores_changes_nothing(name, data):
    y, scores, qid = data
    for mapped in (scores**3, np.exp(scores), scores * 1e-300, 1e6 - np.exp(-scores)):
        assert_same(values_by_query(name, y, scores, qid), values_by_query(name, y, mapped, qid))


@pytest.mark.parametrize("name", NAMES + CUT)
@laws
@given(data=rankings())
def test_sorting_by_the_labels_is_best(name, data):
    y, scores, qid = data
    measure = get_measure(name, max_grade=3.0)
    value, best = measure(y, scores, qid), measure(y, y, qid)
    assert not measure.is_better(value, best) or value == pytest.approx(best, abs=1e-12)
    if name.startswith(("ndcg", "auc", "pairwise", "disagreement")) and not np.isnan(best):
        assert best == pytest.approx(float(measure.higher_is_better), abs=1e-12)


@laws
@given(data=rankings())
def test_reversing_the_scores_turns_the_error_around(data):
    y, scores, qid = data
    if np.isnan(error := pairwise_error(y, scores, qid)):
        return
    assert pairwise_error(y, -scores, qid) == pytest.approx(1.0 - error, abs=1e-12)


@laws
@given(data=rankings(), seed=st.integers(0, 2**32 - 1))
def test_weight_two_equals_the_row_twice(data, seed):
    y, scores, qid = data
    weight = np.random.default_rng(seed).integers(1, 4, len(y))
    weight_of_row = dict(zip(range(len(y)), weight, strict=True))
    twice = np.repeat(np.arange(len(y)), [weight_of_row[i] for i in range(len(y))])
    for average in ("macro", "micro"):
        weighted = pairwise_error(y, scores, qid, average=average, sample_weight=weight)
        repeated = pairwise_error(y[twice], scores[twice], qid[twice], average=average)
        assert weighted == pytest.approx(repeated, abs=1e-12, nan_ok=True)


@laws
@given(data=rankings())
def test_single_row_queries_change_no_pairwise_measure(data):
    y, scores, qid = data
    more = np.append(y, [0.0, 3.0]), np.append(scores, [9.0, 9.0]), np.append(qid, [7, 8])
    for name in ("pairwise_error", "pairwise_error_micro", "disagreement_error", "kendall_tau_b", "auc"):
        measure = get_measure(name)
        assert measure(*more) == pytest.approx(measure(y, scores, qid), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", NAMES + CUT)
@laws
@given(data=rankings(), seed=st.integers(0, 2**32 - 1), empty=st.sampled_from(["leave-out", "zero", "one"]))
def test_many_vectors_are_measured_as_each_of_them_is(name, data, seed, empty):
    y, scores, qid = data
    rng = np.random.default_rng(seed)
    # Vectors that differ from the previous one in a few rows, with ties, and one in a different order.
    steps = rng.integers(-2, 3, size=(12, len(y))) * (rng.random((12, len(y))) < 0.2)
    table = scores + np.cumsum(steps, axis=0)
    table[5] = -table[4]
    prepared = get_measure(name, max_grade=3.0, empty=empty).prepare(y, qid)
    each = [prepared(vector) for vector in table]
    np.testing.assert_allclose(prepared.many(table), each, rtol=0.0, atol=1e-15, equal_nan=True)


@laws
@given(data=rankings(), seed=st.integers(0, 2**32 - 1))
def test_many_vectors_of_weighted_rows_are_measured_as_each_of_them_is(data, seed):
    y, scores, qid = data
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, size=len(y))
    prepared = get_measure("pairwise_error").prepare(y, qid, weight)
    table = np.stack([scores, -scores, scores + y])
    each = [prepared(vector) for vector in table]
    np.testing.assert_allclose(prepared.many(table), each, rtol=0.0, atol=1e-15, equal_nan=True)


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("name", ["pairwise_error", "auc", "kendall_tau_b", "ndcg@10"])
def test_many_vectors_of_long_queries_are_measured_as_each_of_them_is(name, n_threads):
    rng = np.random.default_rng(0)
    y, qid = rng.integers(0, 3, size=3000).astype(float), rng.integers(0, 4, size=3000)
    table = np.cumsum(np.round(rng.normal(size=(800, 3000)) * (rng.random((800, 3000)) < 0.002), 1), axis=0)
    table += np.round(rng.normal(size=3000), 2)
    table[400] = rng.normal(size=3000)
    with config_context(n_threads=n_threads):
        prepared = get_measure(name).prepare(y, qid)
    chosen = np.r_[0, 1, 2, 348:352, 398:403, 799]
    each = [prepared(table[t]) for t in chosen]
    np.testing.assert_allclose(prepared.many(table)[chosen], each, rtol=0.0, atol=1e-15)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([1.0, 2.0, 3.0], "shape"),
        ([[1.0, 2.0]], "shape"),
        ([[1.0, 2.0, np.nan]], "vector 0, row 2"),
        ([["a", "b", "c"]], "real numbers"),
    ],
)
def test_bad_tables_of_scores_are_refused(table, message):
    with pytest.raises(DataError, match=message):
        get_measure("pairwise_error").prepare([0.0, 1.0, 2.0]).many(table)


@laws
@given(data=rankings(), seed=st.integers(0, 2**32 - 1))
def test_the_weights_of_one_query_do_not_touch_the_others(data, seed):
    y, scores, qid = data
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, len(y))
    heavy = np.where(qid == qid[0], 1e15 * weight, weight)
    values = [
        get_measure("pairwise_error").per_query(y, scores, qid, sample_weight=s) for s in (weight, heavy)
    ]
    np.testing.assert_allclose(*values, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name, weight", [*((name, None) for name in NAMES), ("auc", [1.0, 2.0, 3.0])])
def test_no_score_vectors_have_no_means(name, weight):
    prepared = get_measure(name, max_grade=3.0).prepare([2.0, 0.0, 1.0], sample_weight=weight)
    assert prepared.many(np.empty((0, 3))).shape == (0,)
