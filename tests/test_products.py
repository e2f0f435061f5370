"""Compiled products equal those of explicit pairs for every strategy, bit-identical for any thread count."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from all_pairs import pair_laplacian
from rankwise import RankRLS, _native, config_context
from rankwise.operators import design, normal, reference, renumbering, spread
from rankwise.operators.blocks import product_on_threads
from rankwise.operators.design import MatrixDesign
from rankwise.operators.native_rows import NativeRows
from rankwise.operators.renumbering import frequency_order, renumbered
from rankwise.operators.spread import _sample_of_groups, column_sums
from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.queries import group_rows
from rankwise.types import Ties, Weighting
from stressed import misaligned

ROADS = [normal.by_query, normal.by_row, normal.in_two_passes]


def stored(dense, kind):
    """The matrix `dense`, stored in one of the formats that the kernels read."""
    values = dense.astype(np.float32 if "float32" in kind else np.float64)
    if "csr" not in kind:
        return values
    X = sparse.csr_array(values)
    if "int64" in kind:
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


KINDS = ["dense", "dense float32", "csr", "csr float32", "csr int64", "csr int64 float32"]


def sparse_values(rng, m, n, density=0.3):
    X = rng.normal(size=(m, n)) * (rng.random((m, n)) < density)
    X[m // 2] = 0.0
    return X


def column_spread(X, weight, **options):
    return column_sums(X, weight, X.shape, **options).spread()


@pytest.mark.parametrize("kind", KINDS)
def test_scores_and_adjoint_are_matrix_products(kind):
    rng = np.random.default_rng(0)
    X = stored(sparse_values(rng, 57, 23), kind)
    exact = np.asarray(X.todense() if sparse.issparse(X) else X, dtype=float)
    design = MatrixDesign(X)
    for columns in ((), (3,)):
        w, u = rng.normal(size=(23, *columns)), rng.normal(size=(57, *columns))
        np.testing.assert_allclose(design.scores(w), exact @ w, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(design.adjoint(u), exact.T @ u, rtol=1e-13, atol=1e-13)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    kind=st.sampled_from(KINDS),
    road=st.sampled_from(ROADS),
    ties=st.sampled_from(Ties),
    weighting=st.sampled_from(Weighting),
    n_queries=st.integers(1, 12),
    weighted=st.booleans(),
)
def test_every_road_equals_explicit_pairs(seed, kind, road, ties, weighting, n_queries, weighted):
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(2, 40)), int(rng.integers(1, 12))
    y, qid = rng.integers(0, 4, m).astype(float), rng.integers(0, n_queries, m)
    weight = rng.integers(1, 4, m).astype(float) if weighted else None
    X = stored(sparse_values(rng, m, n, 0.6), kind)
    exact = np.asarray(X.todense() if sparse.issparse(X) else X, dtype=float)
    F = QueryDifferences(group_rows(qid, m), y, ties=ties, weighting=weighting, row_weight=weight)
    w = rng.normal(size=n)
    expected = exact.T @ pair_laplacian(y, qid, ties=ties, weighting=weighting, weight=weight) @ exact @ w
    scale = 1e-12 * (1.0 + np.abs(exact.T @ np.abs(exact @ w)).max() * m**2)
    np.testing.assert_allclose(road(F, NativeRows(X))(w), expected, rtol=0, atol=scale)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_kernels_read_aligned_copies_of_misaligned_arrays_and_write_to_none(dtype):
    X, w = np.random.default_rng(0).normal(size=(30, 4)).astype(dtype), np.arange(4.0)
    moved = misaligned(X)
    rows = NativeRows(moved)
    moved[...] = 0.0  # in place, the products would change
    np.testing.assert_array_equal(rows.scores(misaligned(w)), NativeRows(X).scores(w))
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _native.scores(rows.matrix, w, misaligned(np.empty(30)), 1)


@pytest.mark.parametrize("road", ROADS)
def test_large_feature_means_cost_no_digits(road):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(400, 3)), rng.normal(size=400)
    F = QueryDifferences(group_rows(None, 400), y)
    w = rng.normal(size=3)
    centred = X - X.mean(axis=0)
    shifted = road(F, NativeRows(X + 1e3))(w)
    np.testing.assert_allclose(shifted, centred.T @ (centred @ w), rtol=1e-8)


@pytest.mark.parametrize("kind", ["csr", "dense float32"])
@pytest.mark.parametrize("road", ROADS)
def test_products_have_the_same_bits_for_any_number_of_threads(road, kind):
    rng = np.random.default_rng(5)
    m, n = 20_000, 13
    X = stored(sparse_values(rng, m, n), kind)
    assert NativeRows(X).n_entries > 1 << 16, "so few that no second thread is started"
    F = QueryDifferences(group_rows(rng.integers(0, 5, m), m), rng.integers(0, 3, m) * 1.0, ties=Ties.DROP)
    w = rng.normal(size=n)
    found = set()
    for n_threads in (1, 2, 3, 8):
        with config_context(n_threads=n_threads):
            rows = NativeRows(X)
            products = road(F, rows)(w), rows.scores(w), rows.adjoint(rows.scores(w))
            found.add(tuple(product.tobytes() for product in products))
    assert len(found) == 1


def test_sums_over_few_entries_per_column_have_the_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(12)
    m, n = 3_000, 8_000
    X = sparse.random(m, n, density=0.004, random_state=12, format="csr")
    assert 1 << 16 < X.nnz < 16 * n, "one sum on one thread would do"
    u = rng.normal(size=m)
    found = set()
    for n_threads in (1, 2, 3):
        with config_context(n_threads=n_threads):
            adjoint = NativeRows(X).adjoint(u)
        np.testing.assert_allclose(adjoint, X.T @ u, rtol=1e-12, atol=1e-12)
        found.add(adjoint.tobytes())
    assert len(found) == 1


def text(rng, m, n, per_row=20):
    """Rows of words, a few of them frequent, numbered at random."""
    frequency = 1.0 / np.arange(1, n + 1)
    words = rng.permutation(n)[rng.choice(n, size=(m, per_row), p=frequency / frequency.sum())]
    row = np.repeat(np.arange(m), per_row)
    return sparse.csr_array((rng.random(m * per_row) + 0.1, (row, words.ravel())), shape=(m, n))


@pytest.fixture
def small_counts_as_large(monkeypatch):
    monkeypatch.setattr(renumbering, "LEAST_COLUMNS", 100)
    monkeypatch.setattr(renumbering, "LEAST_ENTRIES_PER_COLUMN", 2)
    monkeypatch.setattr(renumbering, "CACHED_LINES", 4)


@pytest.mark.parametrize("kind", ["csr", "csr float32", "csr int64"])
@pytest.mark.parametrize("road", ROADS)
def test_renumbered_columns_change_no_bit_of_any_product(road, kind):
    rng = np.random.default_rng(13)
    m, n = 500, 120
    X = stored(text(rng, m, n).toarray(), kind)
    order = rng.permutation(n)
    plain, other = NativeRows(X), NativeRows(renumbered(X, order), column_order=order)
    w, u = rng.normal(size=n), rng.normal(size=m)
    F = QueryDifferences(group_rows(rng.integers(0, 5, m), m), rng.integers(0, 3, m) * 1.0, ties=Ties.DROP)
    assert road(F, other)(w).tobytes() == road(F, plain)(w).tobytes()
    assert other.scores(w).tobytes() == plain.scores(w).tobytes()
    assert other.adjoint(u).tobytes() == plain.adjoint(u).tobytes()
    for mine, theirs in zip(other.column_moments(u, 3), plain.column_moments(u, 3), strict=True):
        assert mine.tobytes() == theirs.tobytes()


def test_renumbering_shares_the_values_and_keeps_the_order_of_entries():
    X = text(np.random.default_rng(14), 300, 200)
    order = np.random.default_rng(15).permutation(200)
    other = renumbered(X, order)
    assert np.shares_memory(other.data, X.data)
    np.testing.assert_array_equal(order[other.indices], X.indices)


def test_columns_are_renumbered_where_frequent_ones_are_scattered(small_counts_as_large):
    rng = np.random.default_rng(16)
    X = text(rng, 2_000, 400)
    order = frequency_order(X)
    assert (np.diff(np.bincount(X.indices, minlength=400)[order]) <= 0).all()
    assert frequency_order(renumbered(X, order)) is None, "they already lie side by side"
    assert frequency_order(sparse.random(2_000, 400, density=0.05, random_state=0, format="csr")) is None
    assert frequency_order(X[:30]) is None, "few entries per column"
    assert frequency_order(X[:, :90]) is None, "few columns"
    assert frequency_order(X.toarray()) is None


def test_renumbered_columns_are_invisible_in_a_model(small_counts_as_large, monkeypatch):
    rng = np.random.default_rng(17)
    X, y = text(rng, 2_000, 400), rng.normal(size=2_000)
    model = RankRLS(alpha=1.0, solver="cg").fit(X, y)
    orders = []
    monkeypatch.setattr(design, "frequency_order", lambda X: orders.append(frequency_order(X)))
    plain = RankRLS(alpha=1.0, solver="cg").fit(X, y)
    assert orders[0] is not None, "the first model's columns were renumbered"
    assert model.coef_.tobytes() == plain.coef_.tobytes()


def test_rows_without_common_columns_are_not_read_to_find_far_ones(monkeypatch):
    rng = np.random.default_rng(18)
    X = sparse.random(5_000, 400, density=0.1, random_state=18, format="csr")
    one_query = np.zeros(5_000, dtype=np.int64)
    sizes, common_part = [], reference._common_part
    monkeypatch.setattr(
        reference, "_common_part", lambda X, of: sizes.append(X.shape[0]) or common_part(X, of)
    )
    near, _ = reference.near_zero(X, one_query)
    assert near is X
    assert sizes == [reference.COMPARED_ROWS]
    far = sparse.hstack([sparse.csr_array(1e6 + rng.random((5_000, 1))), X], format="csr")
    near, _ = reference.near_zero(far, one_query)
    assert abs(near[:, [0]]).max() <= 1.0
    np.testing.assert_allclose(near[:, 1:].toarray(), X.toarray())


class CountingRows(NativeRows):
    """Counts passes over X."""

    def __init__(self, X):
        super().__init__(X)
        self.passes = 0

    def __getattribute__(self, name):
        if name in ("scores", "adjoint", "query_normal_product", "row_normal_product"):
            self.passes += 1
        return super().__getattribute__(name)


@pytest.mark.parametrize(
    ("qid", "levels", "passes"),
    [(None, None, 1), (None, 2, 1), (None, 10_000, 1), (None, 1_200, 2), ("small", 3, 1), ("small", None, 1)],
)
@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_queries_and_one_global_ranking_take_one_pass(qid, levels, passes, n, storage, monkeypatch):
    monkeypatch.setattr(normal, "QUERY_BYTES", 10_000)
    rng = np.random.default_rng(7)
    m = 3_000
    X = CountingRows(storage(rng.normal(size=(m, n))))
    queries = group_rows(None if qid is None else np.arange(m) // 20, m)
    y = np.arange(m) * 1.0 if levels == 10_000 else rng.integers(0, levels or 2, m) * 1.0
    F = QueryDifferences(queries, y, ties=Ties.KEEP if levels is None else Ties.DROP)
    product = normal.normal_operator(F, X)
    X.passes = 0
    result = product(rng.normal(size=n))
    assert X.passes == passes
    assert np.isfinite(result).all()


def test_column_variances_are_weighted_and_the_same_for_dense_and_sparse():
    rng = np.random.default_rng(8)
    X, weight = rng.normal(size=(50, 6)) * np.arange(1, 7), rng.integers(1, 4, 50).astype(float)
    plain = np.repeat(X, weight.astype(int), axis=0).var(axis=0)
    for matrix in (X, sparse.csr_matrix(X)):
        np.testing.assert_allclose(column_spread(matrix, weight, narrow=0).variances, 1.5 * plain, rtol=1e-12)
        of_ten = column_spread(matrix, np.ones(50), n_sampled=10, narrow=0).variances
        np.testing.assert_allclose(of_ten, 1.5 * X[::5].var(axis=0), rtol=1e-12)


@pytest.mark.filterwarnings("error")
def test_column_variances_of_rare_columns_are_larger_and_follow_the_units():
    rng = np.random.default_rng(9)
    X = sparse.random(400, 30, density=0.1, random_state=9, format="csr")
    X = sparse.hstack([X, sparse.csr_matrix((400, 1))], format="csr")
    count, units = X.getnnz(axis=0), rng.uniform(1e-3, 1e3, 31)
    found = column_spread(X, np.ones(400), narrow=0).variances
    plain = X.toarray().var(axis=0)
    np.testing.assert_allclose(found[:-1], (plain * (1 + 0.5 * count.mean() / count.clip(1)))[:-1])
    assert found[-1] > 0.0
    rescaled = column_spread(X @ sparse.diags(units), np.ones(400), narrow=0).variances
    np.testing.assert_allclose(rescaled[:-1], (found * units**2)[:-1])


def test_narrow_matrices_have_covariances_to_precondition_with():
    rng = np.random.default_rng(10)
    X, weight = rng.normal(size=(50, 6)) @ rng.normal(size=(6, 6)), rng.integers(1, 4, 50).astype(float)
    v = rng.normal(size=6)
    covariances = np.cov(np.repeat(X, weight.astype(int), axis=0).T, bias=True)
    for matrix in (X, sparse.csr_matrix(X)):
        solved = column_spread(matrix, weight).solve(v, 0.1, 2.0)
        np.testing.assert_allclose((0.1 * np.eye(6) + 2.0 * covariances) @ solved, v, rtol=1e-9, atol=1e-9)
    assert column_spread(X[:6], weight[:6]).axes is not None
    wide = column_spread(X[:4], weight[:4]).solve(v, 0.1, 2.0)
    assert (v / wide > 0.1).all()


def test_long_dense_matrices_may_be_wider_before_they_have_only_variances(monkeypatch):
    monkeypatch.setattr(spread, "_NARROW", 5)
    monkeypatch.setattr(spread, "_WIDEST", 10)
    X = np.random.default_rng(13).normal(size=(1280, 11))
    for storage, n_rows, n_columns, has_covariances in [
        (np.asarray, 1280, 10, True),
        (np.asarray, 1279, 10, False),
        (np.asarray, 1279, 5, True),
        (np.asarray, 1280, 11, False),
        (sparse.csr_matrix, 1280, 10, False),
        (sparse.csr_matrix, 1280, 5, True),
    ]:
        found = MatrixDesign(storage(X[:n_rows, :n_columns])).spread(np.ones(n_rows))
        assert (found.axes is not None) == has_covariances


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_covariances_are_those_within_groups(storage):
    rng = np.random.default_rng(10)
    group, weight = rng.permutation(np.repeat(np.arange(20), 10)), rng.integers(1, 4, 200).astype(float)
    X = rng.normal(size=(200, 6)) @ rng.normal(size=(6, 6))
    inside = [
        X[group == g] - np.average(X[group == g], axis=0, weights=weight[group == g]) for g in range(20)
    ]
    own = np.concatenate([weight[group == g] for g in range(20)])
    expected = (own[:, None] * np.concatenate(inside)).T @ np.concatenate(inside) / own.sum()
    # Groups may be anywhere.
    moved = X + 100.0 * rng.normal(size=(20, 6))[group]
    found = column_spread(storage(moved), weight, group=group)
    np.testing.assert_allclose((found.axes * found.variances) @ found.axes.T, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("sizes", [[2] * 5000, [10_000], [3000, 7000], [1000, *[3] * 3000], [50] * 200])
def test_a_sample_of_groups_is_about_as_large_as_asked_and_keeps_them_together(sizes):
    group = np.repeat(np.arange(len(sizes)), sizes)[np.random.default_rng(0).permutation(sum(sizes))]
    index, kept = _sample_of_groups(group, 10)
    assert 800 <= len(index) <= 1200
    assert kept.sum() == len(index) == len(np.unique(index))
    together = np.repeat(np.arange(len(kept)), kept)
    first = group[index][np.cumsum(kept) - kept]
    np.testing.assert_array_equal(group[index], first[together])
    assert (kept >= np.minimum(np.array(sizes)[first], 32)).all()
    np.testing.assert_array_equal(np.sort(_sample_of_groups(group, 1)[0]), np.arange(sum(sizes)))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("narrow", [0, 6])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_a_sample_of_rows_without_weight_has_no_spread(narrow, storage):
    X, weight = np.random.default_rng(11).normal(size=(50, 6)), np.arange(50) % 5 > 0
    found = column_spread(storage(X), weight.astype(float), n_sampled=10, narrow=narrow)
    assert (found.axes is None) == (narrow == 0)
    np.testing.assert_array_equal(found.variances, np.zeros(6))


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_the_length_of_the_longest_row_follows_the_units(unit, storage):
    X = np.random.default_rng(12).normal(size=(50, 6))
    X[-1] *= 10.0
    longest = np.linalg.norm(X, axis=1).max()
    assert MatrixDesign(storage(X * unit)).row_length() == pytest.approx(unit * longest, rel=1e-12, abs=0.0)


def test_products_of_many_rows_have_the_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(3)
    for shape in ((0, 3), (5, 3), (5_000, 120)):
        rows, matrix = rng.normal(size=shape), rng.normal(size=(shape[1], 50))
        found = []
        for n_threads in (1, 2, 5):
            with config_context(n_threads=n_threads):
                found.append(product_on_threads(rows, matrix))
        np.testing.assert_allclose(found[0], rows @ matrix, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(found[0], found[1])
        np.testing.assert_array_equal(found[0], found[2])
