"""RankingData: what it checks, and what select and split keep."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from rankwise import DataError, ParameterError, RankingData, open_store, save_store

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0.0, 1.0, 2.0, 0.0, 1.0, 0.5])
QID = ["b", "a", "b", "c", "a", "b"]


@pytest.fixture
def data():
    return RankingData.from_arrays(X, Y, QID, docs=list("uvwxyz"), feature_names=["f", "g"])


def test_arrays_come_out_in_the_order_they_went_in(data):
    assert data.n_rows == 6
    assert data.n_features == 2
    assert data.n_queries == 3
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, Y)
    assert data.qid.tolist() == QID
    assert data.queries.labels.tolist() == ["b", "a", "c"]
    assert data.feature_names == ("f", "g")


def test_without_qid_there_is_one_global_ranking():
    data = RankingData.from_arrays(X, Y)
    assert data.qid is None
    assert data.n_queries == 1
    assert "one global ranking" in repr(data)


@pytest.mark.parametrize(
    "dtype, expected",
    [(np.float32, np.float32), (np.float64, np.float64), (np.int16, np.float64), (bool, np.float64)],
)
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix])
def test_float32_stays_and_other_numbers_become_float64(dtype, expected, storage):
    data = RankingData.from_arrays(storage(X.astype(dtype)), Y)
    assert data.X.dtype == expected
    assert isinstance(data.X, np.ndarray) or data.X.format == "csr"


def test_duplicate_sparse_entries_are_summed_in_a_copy():
    given = sparse.csr_matrix((np.ones(3), np.array([1, 1, 0]), np.array([0, 3, 3])), shape=(2, 2))
    data = RankingData.from_arrays(given, [0, 1])
    assert data.X.toarray().tolist() == [[1.0, 2.0], [0.0, 0.0]]
    assert given.nnz == 3


def test_frames_bring_their_column_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["title", "price"])
    assert RankingData.from_arrays(frame, Y).feature_names == ("title", "price")


def with_value(value):
    changed = X.copy()
    changed[4, 1] = value
    return changed


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((X, Y[:5]), "y must have one entry per row of X: expected 6, got 5"),
        ((X, Y, QID[:5]), "qid must have one entry per row of X: expected 6, got 5"),
        ((X, Y, QID, ["d"]), "docs must have one entry per row of X: expected 6, got 1"),
        ((X.astype(object), Y), "X must hold real numbers; got an array of Python objects"),
        ((X.astype(str), Y), "X must hold real numbers; got an array of strings"),
        ((X + 1j, Y), "X must hold real numbers; got an array of complex numbers"),
        (([[1, 2], [3]], [0, 1]), "X must be an array"),
        ((X, Y.astype(object)), "y must hold real numbers; got an array of Python objects"),
        ((X, Y.reshape(-1, 1)), r"y must be one-dimensional, one entry per row; got shape \(6, 1\)"),
        ((X, 1.0), "y must be an array"),
        ((X[:, 0], Y), "X must be two-dimensional"),
        ((with_value(np.nan), Y), "row 4, column 1 is NaN"),
        ((with_value(-np.inf), Y), "row 4, column 1 is -inf"),
        ((sparse.csr_matrix(with_value(np.nan)), Y), "row 4, column 1 is NaN"),
        ((with_value(np.nan), Y, None, None, ["f", "price"]), r"row 4, column 1 \('price'\) is NaN"),
        ((X, [0, 1, np.nan, 0, 1, 2]), "y must hold finite numbers; row 2 has nan"),
        ((X[:0], Y[:0]), r"at least one row and one feature; got shape \(0, 2\)"),
        ((X[:, :0], Y), r"at least one row and one feature; got shape \(6, 0\)"),
        ((X, Y, [1, 2, None, 1, 1, 1]), "qid has a missing value in row 2"),
        ((X, Y, None, None, ["f"]), "one name per column of X: 2; got 1"),
        ((X, Y, None, None, ["f", "f"]), "'f' appears more than once"),
        ((X, Y, None, None, ["f", 3]), "must contain strings; got 3"),
        ((X, Y, None, None, 5), r"feature_names must be a list of names, one per column of X; got 5\.$"),
        (
            (X, Y, None, None, "fg"),
            r"feature_names must be a list of names, one per column of X; got 'fg'\.$",
        ),
        ((X, Y, None, None, {"f", "g"}), "feature_names must be a list of names, one per column of X; got {"),
        ((pa.table({"f": Y, "price": with_value(np.nan)[:, 1]}), Y), r"row 4, column 1 \('price'\) is NaN"),
    ],
)
def test_bad_arrays_get_one_sentence(arguments, message):
    with pytest.raises(DataError, match=message):
        RankingData.from_arrays(*arguments)


def test_huge_finite_values_are_not_mistaken_for_infinity():
    RankingData.from_arrays(np.full((3, 2), 1e308), [0, 1, 2])


@pytest.mark.parametrize(
    "rows",
    [
        [4, 0, 3],
        np.array([4, 0, -2]),
        slice(None, None, 2),
        np.array([True, False, True, True, False, False]),
    ],
)
def test_select_keeps_rows_as_numpy_indexing_does(data, rows):
    part = data.select(rows)
    np.testing.assert_array_equal(part.X, X[rows])
    np.testing.assert_array_equal(part.y, Y[rows])
    assert part.qid.tolist() == np.array(QID)[rows].tolist()
    assert part.docs.tolist() == np.array(list("uvwxyz"))[rows].tolist()
    assert part.queries.labels[part.queries.query_of_row()].tolist() == part.qid.tolist()


def test_select_keeps_whole_queries(data):
    part = data.select(queries=["c", "b"])
    assert part.qid.tolist() == ["b", "b", "c", "b"]
    np.testing.assert_array_equal(part.X, X[[0, 2, 3, 5]])


@pytest.mark.parametrize(
    "arguments, options, error, message",
    [
        ((), {}, ParameterError, "exactly one"),
        (([0],), {"queries": ["a"]}, ParameterError, "exactly one"),
        (([6],), {}, ParameterError, "contains row 6, but the data has 6 rows"),
        (([True],), {}, ParameterError, "one entry per row: 6; got 1"),
        (([0.5],), {}, ParameterError, "a slice, a mask or a list of row numbers"),
        (([],), {}, DataError, "no rows"),
        ((), {"queries": ["z"]}, DataError, "no query 'z'"),
        ((), {"queries": "a"}, ParameterError, "a collection of labels"),
    ],
)
def test_select_refuses_what_is_not_there(data, arguments, options, error, message):
    with pytest.raises(error, match=message):
        data.select(*arguments, **options)


def test_selecting_queries_needs_queries():
    with pytest.raises(DataError, match="created without qid"):
        RankingData.from_arrays(X, Y).select(queries=["a"])


@pytest.mark.parametrize("fraction", [0.01, 0.3, 0.5, 0.99])
def test_split_keeps_queries_whole_and_loses_no_row(fraction):
    rng = np.random.default_rng(0)
    qid = rng.integers(10, size=200)
    data = RankingData.from_arrays(rng.normal(size=(200, 3)), np.arange(200.0), qid)
    first, second = data.split(fraction, random_state=3)
    assert not set(first.qid) & set(second.qid)
    assert sorted([*first.y, *second.y]) == list(range(200))
    assert first.n_queries == min(max(round(fraction * 10), 1), 9)
    again, _ = data.split(fraction, random_state=3)
    np.testing.assert_array_equal(first.y, again.y)


def test_split_depends_on_the_seed(data):
    assert len({tuple(data.split(0.5, random_state=seed)[0].docs) for seed in range(20)}) > 1


def test_data_without_queries_is_split_by_rows():
    first, second = RankingData.from_arrays(X, Y).split(0.5)
    assert first.n_rows == second.n_rows == 3
    assert first.n_queries == second.n_queries == 1


@pytest.mark.parametrize("fraction", [0, 1, -0.5, np.nan, "half", True])
def test_split_needs_a_fraction(data, fraction):
    with pytest.raises(
        ParameterError, match="'fraction' parameter must be a finite number above 0 and below 1"
    ):
        data.split(fraction)


def test_one_query_cannot_be_split():
    with pytest.raises(DataError, match="only one query"):
        RankingData.from_arrays(X, Y, [7] * 6).split()


def test_nothing_that_was_given_is_changed():
    x, y, qid = X.copy(), Y.copy(), np.array([3, 1, 3, 2, 1, 3])
    for array in (x, y, qid):
        array.setflags(write=False)
    RankingData.from_arrays(x, y, qid).split(0.5)
    np.testing.assert_array_equal(x, X)


def test_repr_says_what_is_inside(data):
    assert repr(data) == "RankingData(6 rows, 3 queries, 2 features (float64), labels 0 to 2)"
    sparse_data = RankingData.from_arrays(sparse.csr_matrix(X[:1]), [3], ["q"])
    assert (
        repr(sparse_data)
        == "RankingData(1 row, 1 query, 2 features (sparse float64, 50.00% filled), labels 3 to 3)"
    )


def test_repr_of_a_store_reads_no_labels(data, tmp_path):
    save_store(data, tmp_path / "store")
    opened = open_store(tmp_path / "store")
    assert repr(opened) == "RankingData(6 rows, 3 queries, 2 features (float64))"
