"""Per-query scaling against a loop over queries, and QueryMinMaxScaler with scikit-learn."""

import tracemalloc

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

from rankwise import DataError, QueryMinMaxScaler, RankRLS, make_search_data, rank_scorer, scale_per_query
from rankwise.metrics import ndcg
from rankwise.preferences.queries import group_rows
from rankwise.rows.scaling import scale_grouped

OLD = parse_version(sklearn.__version__) < parse_version("1.9")


def scaled_by_hand(X, qid):
    scaled = np.zeros_like(X)
    for q in set(qid):
        rows = [i for i, other in enumerate(qid) if other == q]
        for j in range(X.shape[1]):
            low, high = X[rows, j].min(), X[rows, j].max()
            if high > low:
                scaled[rows, j] = (X[rows, j] - low) / (high - low)
    return scaled


BY_DEFINITION = {"check_methods_subset_invariance": "the rows of a query are scaled together"}


@parametrize_with_checks([QueryMinMaxScaler()], expected_failed_checks=lambda estimator: BY_DEFINITION)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 5), st.booleans())
@settings(max_examples=60, deadline=None)
def test_scaling_agrees_with_a_loop_over_queries(seed, n_rows, n_features, grouped):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(n_rows, n_features)) * rng.choice([1.0, 0.1], n_features)
    qid = rng.integers(0, 1 + n_rows // 3, size=n_rows)
    qid = np.sort(qid) if grouped else qid
    np.testing.assert_array_equal(scale_per_query(X, qid), scaled_by_hand(X, qid))


@given(st.integers(0, 10**6), st.integers(1, 60), st.booleans(), st.sampled_from([0.1, 0.5, 1.0]))
@settings(max_examples=60, deadline=None)
def test_sparse_and_dense_agree(seed, n_rows, grouped, density):
    rng = np.random.default_rng(seed)
    X = rng.integers(1, 6, size=(n_rows, 4)) * (rng.random((n_rows, 4)) < density).astype(float)
    qid = rng.integers(0, 1 + n_rows // 3, size=n_rows)
    qid = np.sort(qid) if grouped else qid
    given_matrix = sparse.csr_matrix(X)
    before = given_matrix.copy()
    scaled = scale_per_query(given_matrix, qid)
    np.testing.assert_array_equal(scaled.toarray(), scale_per_query(X, qid))
    assert scaled.format == "csr"
    assert scaled.nnz == np.count_nonzero(scaled.toarray())
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(given_matrix, part), getattr(before, part))


@pytest.mark.parametrize("n_rows", [1, 5, 1500])
def test_chunks_do_not_show(n_rows, monkeypatch):
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, 30))
    qid = np.sort(rng.integers(0, 1 + n_rows // 10, size=n_rows))
    whole = scale_per_query(X, qid)
    monkeypatch.setattr("rankwise.rows.scaling._CHUNK_VALUES", 100)
    np.testing.assert_array_equal(scale_per_query(X, qid), whole)
    np.testing.assert_allclose(whole, scaled_by_hand(X, qid), rtol=1e-15)
    few = np.where(rng.random((n_rows, 1)) < 0.1, np.maximum(X, 0), 0)
    np.testing.assert_array_equal(
        scale_per_query(sparse.csr_array(few), qid).toarray(), scale_per_query(few, qid)
    )


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_ranges_beyond_the_largest_float_still_scale(storage):
    X = storage(np.array([[-1.5e308], [1.5e308], [1e300]]))
    scaled = scale_per_query(X)
    np.testing.assert_allclose(
        scaled if isinstance(scaled, np.ndarray) else scaled.toarray()[:, :], [[0], [1], [0.5]]
    )


def test_a_range_below_the_smallest_normal_float_still_scales():
    tiny = 5e-324
    assert scale_per_query([[0.0], [tiny], [2 * tiny]]).ravel().tolist() == [0.0, 0.5, 1.0]


def test_negative_values_beside_implicit_zeros_are_refused():
    X = sparse.csr_matrix(np.array([[1.0, 2.0], [1.0, -2.0], [3.0, 0.0]]))
    with pytest.raises(DataError, match=r"Column 1 of query 'a' has negative values alongside zeros"):
        scale_per_query(X, ["b", "a", "a"])
    # If every row of the query stores the feature, there is nothing to fill in.
    assert scale_per_query(X, ["a", "a", "b"]).toarray().tolist() == [[0.0, 1.0], [0.0, 0.0], [0.0, 0.0]]


def test_duplicate_entries_count_as_their_sum():
    X = sparse.csr_matrix((np.array([1.0, 2.0, 1.0, 6.0]), np.array([0, 0, 0, 0]), np.array([0, 2, 3, 4])))
    expected = [[0.4], [0.0], [1.0]]
    assert QueryMinMaxScaler().fit_transform(X).toarray().tolist() == expected
    assert X.nnz == 4


@pytest.mark.parametrize("shuffled", [False, True])
def test_scaling_needs_little_more_memory_than_its_result(shuffled):
    rng = np.random.default_rng(0)
    X = rng.random((100_000, 20))
    queries = group_rows(rng.integers(2000, size=len(X)) if shuffled else np.arange(len(X)) // 50, len(X))
    tracemalloc.start()
    scaled = scale_grouped(X, queries)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.25 * scaled.nbytes


def test_float32_stays_float32():
    X = np.arange(6, dtype=np.float32).reshape(3, 2)
    assert scale_per_query(X).dtype == np.float32
    assert scale_per_query(sparse.csr_matrix(X)).dtype == np.float32


def test_the_caller_s_rows_are_not_changed():
    X = np.arange(12.0).reshape(6, 2)
    kept = X.copy()
    scale_per_query(X, [1, 2, 1, 2, 1, 2])
    scale_per_query(X, [1, 1, 1, 2, 2, 2])
    np.testing.assert_array_equal(X, kept)


def test_rows_that_were_fitted_with_queries_need_queries():
    X, qid = np.arange(8.0).reshape(4, 2), [1, 1, 2, 2]
    scaler = QueryMinMaxScaler().fit(X, qid=qid)
    assert scaler.transform(X, qid=qid)[:, 0].tolist() == [0, 1, 0, 1]
    with pytest.raises(DataError, match="fitted with qid and needs qid to transform"):
        scaler.transform(X)
    with pytest.raises(DataError, match="expected 4, got 3"):
        scaler.transform(X, qid=qid[:3])
    assert QueryMinMaxScaler().fit(X).transform(X)[:, 0].tolist() == [0, 1 / 3, 2 / 3, 1]


def test_a_fit_that_failed_leaves_a_scaler_that_is_not_fitted():
    scaler = QueryMinMaxScaler()
    with pytest.raises(DataError, match="one entry per row"):
        scaler.fit(np.ones((4, 2)), qid=[1, 2])
    with pytest.raises(NotFittedError):
        scaler.transform(np.ones((4, 2)))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_come_out_as_frames_if_asked(library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({"title": [1.0, 3.0, 5.0], "price": [4.0, 4.0, 9.0]})
    if library == "polars" and not hasattr(frame, "__dataframe__") and OLD:
        pytest.skip("this scikit-learn does not find the names of frames of this polars")
    scaler = QueryMinMaxScaler().set_output(transform=library)
    scaled = scaler.fit_transform(frame, qid=["a", "a", "b"])
    assert isinstance(scaled, frames.DataFrame)
    assert list(scaled.columns) == ["title", "price"] == scaler.get_feature_names_out().tolist()
    assert scaled["title"].to_list() == [0.0, 1.0, 0.0]
    assert scaler.feature_names_in_.tolist() == ["title", "price"]


def test_queries_travel_through_pipelines_and_grid_search():
    data = make_search_data(40, random_state=1)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(QueryMinMaxScaler(), RankRLS())
        pipeline.fit(data.X, data.y, qid=data.qid)
        by_hand = RankRLS().fit(scale_per_query(data.X, data.qid), data.y, data.qid)
        np.testing.assert_array_equal(pipeline[-1].coef_, by_hand.coef_)
        scores = pipeline.predict(data.X, qid=data.qid)
        np.testing.assert_array_equal(scores, by_hand.predict(scale_per_query(data.X, data.qid)))

        search = GridSearchCV(
            pipeline,
            {"rankrls__alpha": [1.0, 10.0]},
            scoring=rank_scorer("ndcg@10"),
            cv=GroupKFold(3).set_split_request(groups="qid"),
            error_score="raise",
        )
        search.fit(data.X, data.y, qid=data.qid)
        expected = []
        for train, test in GroupKFold(3).split(data.X, data.y, data.qid):
            pipeline.fit(data.X[train], data.y[train], qid=data.qid[train])
            scores = pipeline.predict(data.X[test], qid=data.qid[test])
            expected.append(ndcg(data.y[test], scores, data.qid[test], k=10))
    searched = search.cv_results_["mean_test_score"]
    np.testing.assert_allclose(searched[search.cv_results_["param_rankrls__alpha"] == 1.0], np.mean(expected))
