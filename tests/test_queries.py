"""Properties of the partition of rows into queries."""

import datetime
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise import DataError, qid_from_group_sizes
from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.queries import group_rows
from rankwise.types import Ties, Weighting

LABELS = st.one_of(
    st.integers(-3, 3),
    st.integers(-(2**70), 2**70),
    st.text(max_size=2),
    st.tuples(st.integers(0, 1), st.text(max_size=1)),
    st.binary(max_size=1),
    st.frozensets(st.integers(0, 2), max_size=2),
    st.dates(datetime.date(2024, 1, 1), datetime.date(2024, 1, 3)),
    st.floats(allow_nan=False, width=16),
)


def check_partition(queries, values):
    """Check `queries` against a partition made with a dictionary."""
    members = {}
    for row, value in enumerate(values):
        members.setdefault(value, []).append(row)
    assert queries.n_rows == len(values)
    assert queries.labels.tolist() == list(members)
    order = np.arange(len(values)) if queries.order is None else queries.order
    assert order.dtype == queries.offsets.dtype == np.int64
    found = [order[a:b].tolist() for a, b in zip(queries.offsets, queries.offsets[1:], strict=False)]
    assert found == list(members.values())
    assert [queries.labels.tolist()[q] for q in queries.query_of_row()] == list(values)


@given(st.lists(LABELS, min_size=1, max_size=30))
@settings(max_examples=100, deadline=None)
def test_any_hashable_labels_partition_the_rows(values):
    check_partition(group_rows(values, len(values)), values)
    as_objects = np.empty(len(values), dtype=object)
    as_objects[:] = values
    check_partition(group_rows(as_objects, len(values)), values)
    check_partition(group_rows(iter(values), len(values)), values)


@given(
    st.lists(st.integers(-120, 120), min_size=1, max_size=40),
    st.sampled_from(["int8", "int16", "int64", "float32", "float64", "U4", "S4", "M8[D]", "m8[s]"]),
)
@settings(max_examples=80, deadline=None)
def test_arrays_of_any_type_partition_the_rows(values, dtype):
    array = np.array(values).astype(dtype)
    check_partition(group_rows(array, len(array)), array.tolist())


def test_differences_of_small_integers_do_not_overflow():
    values = [-100, -10, 45, 100, -10]
    check_partition(group_rows(np.array(values, dtype=np.int8), 5), values)


@given(st.lists(st.sampled_from([0, 1, 2**63, 2**64 - 1, 2**64 - 2]), min_size=1, max_size=20))
@settings(max_examples=50, deadline=None)
def test_the_largest_unsigned_labels_partition_the_rows(values):
    array = np.array(values, dtype=np.uint64)
    check_partition(group_rows(array, len(array)), values)


@pytest.mark.parametrize("low", [-(2**63), 2**63 - 40])
def test_labels_at_the_ends_of_int64_partition_the_rows(low):
    values = [low + k for k in (5, 0, 39, 5, 0, 1)]
    check_partition(group_rows(np.array(values), 6), values)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([3, 1, 3], index=[7, 8, 9]),
        pd.Series(["b", "a", "b"]),
        pd.Series(["b", "a", "b"], dtype="string"),
        pd.Series(["b", "a", "b"], dtype="category"),
        pd.Series([3, 1, 3], dtype="Int64"),
        pd.Index([2.5, 1.5, 2.5]),
        pl.Series([3, 1, 3]),
        pl.Series(["b", "a", "b"]),
        pl.Series(["b", "a", "b"], dtype=pl.Categorical),
        pa.array([3, 1, 3]),
        pa.chunked_array([["b", "a"], ["b"]]),
        ("b", "a", "b"),
        range(3),
        np.array([["b", "x"], ["a", "x"], ["b", "x"]])[:, 0],
    ],
    ids=lambda column: f"{type(column).__module__}.{type(column).__name__}-{getattr(column, 'dtype', '')}",
)
def test_columns_of_any_library_are_labels(column):
    values = column.to_list() if hasattr(column, "to_list") else list(column)
    values = [getattr(value, "as_py", lambda value=value: value)() for value in values]
    check_partition(group_rows(column, 3), values)


@pytest.mark.parametrize(
    "missing",
    [
        [1, None, 2],
        [1.0, float("nan"), 2.0],
        [(1,), None, (2,)],
        np.array([1.0, np.nan, 2.0]),
        np.array([1, np.nan, 2], dtype=object),
        np.array(["2024-01-01", "NaT", "2024-01-02"], dtype="M8[D]"),
        pd.Series([1, None, 2], dtype="Int64"),
        pd.Series(["a", None, "b"]),
        pd.Series(["a", None, "b"], dtype="string"),
        pd.Series(["a", None, "b"], dtype="category"),
        pd.Series(pd.to_datetime(["2024-01-01", None, "2024-01-02"])),
        pl.Series([1, None, 2]),
        pl.Series(["a", None, "b"]),
        pa.array(["a", None, "b"]),
        pa.array([1, None, 2]),
    ],
    ids=lambda column: f"{type(column).__module__}.{type(column).__name__}-{getattr(column, 'dtype', '')}",
)
def test_missing_labels_are_named_by_row(missing):
    with pytest.raises(DataError, match="qid has a missing value in row 1"):
        group_rows(missing, 3)


@pytest.mark.parametrize(
    "qid, message",
    [
        (np.zeros((3, 1)), r"one-dimensional, one entry per row; got shape \(3, 1\)"),
        (pd.DataFrame({"q": [1, 2, 3]}), r"got shape \(3, 1\)"),
        (pd.DataFrame({"q": ["a", "b", "c"]}), r"got shape \(3, 1\)"),
        (np.array(7), r"got shape \(\)"),
        ([[1], [2], [3]], "hashable labels; row 0 has type list"),
        ([1, {}, 3], "hashable labels; row 1 has type dict"),
        ([1, np.zeros(2), 3], "hashable labels; row 1 has type ndarray"),
        ([(1, []), 2, 3], "hashable labels; row 0 has type tuple"),
        ("abc", "must be an array or list of labels, one per row; got str"),
        (7, "must be an array or list of labels, one per row; got int"),
        ([1, 2], "one entry per row of X: expected 3, got 2"),
        ([], "expected 3, got 0"),
        (np.array([], dtype=int), "expected 3, got 0"),
    ],
    ids=str,
)
def test_what_is_no_list_of_labels_is_refused(qid, message):
    with pytest.raises(DataError, match=message):
        group_rows(qid, 3)


def test_labels_that_only_look_alike_stay_apart():
    assert group_rows([1, "1", (1,), b"1"], 4).n_queries == 4
    check_partition(group_rows(["a", "a\0", "a"], 3), ["a", "a\0", "a"])
    assert group_rows([1, 1.0, True], 3).n_queries == 1, "equal in Python, equal here"


@given(st.lists(st.integers(0, 5), min_size=1, max_size=25), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_grouping_and_restoring_are_inverse(values, random):
    queries = group_rows(values, len(values))
    rows = np.array([random.random() for _ in values])
    np.testing.assert_array_equal(queries.restored(queries.grouped(rows)), rows)
    grouped = queries.grouped(np.array(values))
    for q, label in enumerate(queries.labels):
        assert (grouped[queries.offsets[q] : queries.offsets[q + 1]] == label).all()
    assert (queries.order is None) == all(
        values[i] == values[i + 1] or values[i] not in values[i + 1 :] for i in range(len(values) - 1)
    )


@given(
    rows=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), min_size=2, max_size=25), data=st.data()
)
@settings(max_examples=25, deadline=None)
@pytest.mark.parametrize("ties", Ties)
@pytest.mark.parametrize("weighting", Weighting)
def test_differences_follow_a_permutation_of_the_rows_and_other_names_of_the_queries(
    rows, data, ties, weighting
):
    permutation = np.array(data.draw(st.permutations(range(len(rows)))))
    qid, y = (np.array(column) for column in zip(*rows, strict=True))
    names = np.array([f"query {q}" for q in qid])
    v = np.random.default_rng(len(rows)).normal(size=len(rows))
    F = QueryDifferences(group_rows(qid, len(qid)), y.astype(float), ties=ties, weighting=weighting)
    G = QueryDifferences(
        group_rows(names[permutation], len(qid)), y[permutation].astype(float), ties=ties, weighting=weighting
    )
    np.testing.assert_allclose(G.laplacian(v[permutation]), F.laplacian(v)[permutation], atol=1e-12)
    np.testing.assert_allclose(np.sum(F.apply(v) ** 2), np.sum(G.apply(v[permutation]) ** 2), atol=1e-12)


def test_a_million_rows_are_grouped_without_a_python_object_each():
    qid = np.random.default_rng(0).integers(20_000, size=1_000_000)
    tracemalloc.start()
    queries = group_rows(qid, len(qid))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert queries.n_queries == 20_000
    assert peak < 6 * qid.nbytes


def test_group_sizes_become_qid():
    assert qid_from_group_sizes([2, 1, 3]).tolist() == [0, 0, 1, 2, 2, 2]
    assert qid_from_group_sizes(pd.Series([1, 1])).tolist() == [0, 1]


@pytest.mark.parametrize(
    "sizes, message",
    [
        ([2, 0], "at least 1; group 1 has 0"),
        ([1, -1], "at least 1; group 1 has -1"),
        ([], "one per query"),
        ([1.5], "whole numbers"),
        ([[1, 2]], "one-dimensional"),
        (["a"], "whole numbers"),
    ],
)
def test_bad_group_sizes_get_one_sentence(sizes, message):
    with pytest.raises(DataError, match=message):
        qid_from_group_sizes(sizes)


def test_the_lightgbm_example_s_group_sizes_fit_its_rows(shared_data):
    import lzma

    folder = shared_data / "lightgbm_lambdarank"
    with lzma.open(folder / "rank.train.query.xz", "rt", encoding="utf-8") as file:
        sizes = np.loadtxt(file, dtype=int)
    assert len(qid_from_group_sizes(sizes)) == 3005
