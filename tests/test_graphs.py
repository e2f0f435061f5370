"""Preference graphs hold the pairs they promise."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from rankwise.errors import DataError
from rankwise.path import graphs
from rankwise.path.graphs import explicit_graph, full_graph, least_alike, reduced_graph
from rankwise.preferences.queries import group_rows, one_query
from rankwise.types import Weighting
from rankwise.validation import check_pairs

PATH_DATA = {
    "mixture.txt": {"delimiter": ",", "skip_header": 1, "label": 2},
    "auto_mpg.csv": {"delimiter": ",", "skip_header": 1, "label": 0},
    "pima-indians-diabetes.csv": {"delimiter": ",", "label": -1},
    "breast_cancer.csv": {"delimiter": ",", "skip_header": 1, "label": -1},
}


@pytest.mark.parametrize(
    "name, full, reduced",
    [
        ("mixture.txt", 10_000, 199),
        ("auto_mpg.csv", 75_245, 656),
        ("pima-indians-diabetes.csv", 134_000, 767),
        ("breast_cancer.csv", 75_684, 568),
    ],
)
def test_pair_counts_are_those_of_the_papers_table_1(shared_data, name, full, reduced):
    options = dict(PATH_DATA[name])
    label = options.pop("label")
    y = np.genfromtxt(shared_data / "path" / name, **options)[:, label]
    queries = one_query(len(y))
    assert full_graph(queries, y).n_pairs == full
    assert reduced_graph(queries, y).n_pairs == reduced


labels = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=2, max_size=25).filter(
    lambda rows: any(a[0] != b[0] and a[1] == b[1] for a in rows for b in rows)
)


@given(labels)
@settings(deadline=None, max_examples=60)
def test_the_full_graph_is_every_pair_with_different_scores(rows):
    y, qid = np.array(rows, dtype=float).T
    graph = full_graph(group_rows(qid, len(y)), y, weighting=Weighting.PAIR)
    expected = {(i, j) for i in range(len(y)) for j in range(len(y)) if y[i] > y[j] and qid[i] == qid[j]}
    assert sorted(zip(graph.better, graph.worse, strict=True)) == sorted(expected)
    assert (graph.weight == 1).all()


@given(labels)
@settings(deadline=None, max_examples=60)
def test_the_reduced_graph_joins_neighbouring_levels_and_says_the_same_order(rows):
    y, qid = np.array(rows, dtype=float).T
    graph = reduced_graph(group_rows(qid, len(y)), y)
    count = 0
    for q in np.unique(qid):
        levels, sizes = np.unique(y[qid == q], return_counts=True)
        count += sum(sizes[k] + sizes[k + 1] - 1 for k in range(len(levels) - 1))
    assert graph.n_pairs == count == len(set(zip(graph.better, graph.worse, strict=True)))
    assert (y[graph.better] > y[graph.worse]).all()
    assert (qid[graph.better] == qid[graph.worse]).all()


@given(labels, st.sampled_from([full_graph, reduced_graph]))
@settings(deadline=None, max_examples=40)
def test_query_weighting_gives_every_query_the_same_say(rows, make):
    y, qid = np.array(rows, dtype=float).T
    graph = make(group_rows(qid, len(y)), y, weighting=Weighting.QUERY)
    say = np.bincount(qid[graph.better].astype(int), graph.weight)
    np.testing.assert_allclose(say[say > 0], 1.0)


def test_row_weights_multiply_and_zero_weight_rows_take_no_part():
    y = np.array([0.0, 1.0, 2.0, 2.0])
    weight = np.array([2.0, 3.0, 0.0, 5.0])
    graph = full_graph(one_query(4), y, weighting=Weighting.PAIR, row_weight=weight)
    assert dict(zip(zip(graph.better, graph.worse, strict=True), graph.weight, strict=True)) == {
        (1, 0): 6.0,
        (3, 0): 10.0,
        (3, 1): 15.0,
    }


@pytest.mark.parametrize("make", [full_graph, reduced_graph])
def test_a_query_whose_rows_all_weigh_nothing_takes_no_part(make):
    y, qid = np.array([0.0, 1.0, 0.0, 1.0]), np.array([0, 0, 1, 1])
    graph = make(group_rows(qid, 4), y, row_weight=np.array([0.0, 0.0, 1.0, 2.0]))
    assert (graph.better.tolist(), graph.worse.tolist()) == ([3], [2])


def test_the_representative_can_be_chosen():
    y = np.array([0.0, 0.0, 1.0, 1.0])
    graph = reduced_graph(one_query(4), y, representative=lambda rows: rows[-1])
    assert set(zip(graph.better, graph.worse, strict=True)) == {(2, 1), (3, 1), (3, 0)}
    with pytest.raises(DataError, match="representative returned 7"):
        reduced_graph(one_query(4), y, representative=lambda rows: 7)
    with pytest.raises(DataError, match="representative returned None"):
        reduced_graph(one_query(4), y, representative=lambda rows: None)


def test_the_row_least_like_the_others_can_stand_for_its_level():
    K = np.array([[1.0, 0.2, 0.5, 0.5], [0.2, 1.0, 0.1, 0.3], [0.5, 0.1, 1.0, 0.0], [0.5, 0.3, 0.0, 1.0]])
    choose = least_alike(K, one_query(4))
    assert choose(np.array([0, 2])) == 2
    assert choose(np.array([1, 3])) == 1
    assert choose(np.array([3, 1])) == 1
    other_query = least_alike(K, group_rows([0, 0, 1, 1], 4))
    assert other_query(np.array([0])) == 0
    weighted = least_alike(K, one_query(4), np.array([1.0, 1.0, 1.0, 0.0]))
    assert weighted(np.array([1, 3])) == 3


@pytest.mark.parametrize("unit", [0.0, 1e-12, 1.0, 1e12])
def test_the_unit_of_the_kernel_does_not_choose_the_representative(unit):
    K = np.array([[1.0, 0.2, 0.5], [0.2, 1.0, 0.1], [0.5, 0.1, 1.0]])
    X = np.array([[1.0], [2.0], [0.0]])
    choose = least_alike(unit * K, one_query(3), features=X)
    assert choose(np.array([0, 1, 2])) == (1 if unit else 2)


def test_rows_that_are_alike_but_for_rounding_are_told_apart_by_their_features_alone():
    X = np.array([[1.0, 2.0], [2.0, 1.0], [0.0, 3.0], [3.0, 0.0]])
    noise = 1e-14 * np.random.default_rng(0).normal(size=(4, 4))
    for order in itertools.permutations(range(4)):
        rows = X[list(order)]
        choose = least_alike(rows @ rows.T + noise + noise.T, one_query(4), features=rows)
        assert rows[choose(np.arange(4))].tolist() == [1.0, 2.0]
        sparse = least_alike(rows @ rows.T, one_query(4), features=csr_matrix(rows))
        assert rows[sparse(np.arange(4))].tolist() == [1.0, 2.0]


def test_without_features_kernel_values_tell_rows_apart():
    # Rows 0 and 1 have the same sum of squares, from other values.
    K = np.diag([5.0, 4.0, 9.0, 9.0])
    K[1, 2] = K[2, 1] = 3.0
    for order in itertools.permutations(range(4)):
        choose = least_alike(K[np.ix_(order, order)], one_query(4))
        assert order[choose(np.arange(4))] == 0


@given(labels, st.integers(0, 2**32 - 1), st.sampled_from(list(Weighting)))
@settings(deadline=None, max_examples=60)
def test_weight_two_is_the_row_twice_in_the_reduced_graph(rows, seed, weighting):
    y, qid = np.array(rows, dtype=float).T
    weight = np.random.default_rng(seed).integers(0, 4, len(y))
    copies = np.repeat(np.arange(len(y)), weight)
    if not any(len(set(y[copies][qid[copies] == q])) > 1 for q in set(qid[copies])):
        return
    queries, repeated = (group_rows(labels, len(labels)) for labels in (qid, qid[copies]))
    one = reduced_graph(queries, y, weighting=weighting, row_weight=weight.astype(float))
    two = reduced_graph(repeated, y[copies], weighting=weighting)
    together = {}
    for i, j, w in zip(copies[two.better], copies[two.worse], two.weight, strict=True):
        together[i, j] = together.get((i, j), 0.0) + w
    pairs = dict(zip(zip(one.better, one.worse, strict=True), one.weight, strict=True))
    assert pairs.keys() == together.keys()
    assert [pairs[key] for key in together] == pytest.approx(list(together.values()))


def test_a_graph_too_large_is_refused_before_it_is_built(monkeypatch):
    monkeypatch.setattr(graphs, "MAX_GRAPH_BYTES", 1000)
    monkeypatch.setattr(graphs, "_assemble", lambda *args: pytest.fail("built"))
    with pytest.raises(DataError, match=r"100 pairs.*graph='reduced'"):
        full_graph(one_query(20), np.repeat([0.0, 1.0], 10))
    monkeypatch.setattr(graphs, "MAX_GRAPH_BYTES", 100 * graphs.BYTES_PER_PAIR)
    graphs.check_graph_fits(one_query(20), np.repeat([0.0, 1.0], 10))


def test_a_full_graph_may_take_two_gigabytes():
    graphs.check_graph_fits(one_query(2 * 7_327), np.repeat([0.0, 1.0], 7_327))
    with pytest.raises(DataError, match="more than the 53,687,091 that fit"):
        graphs.check_graph_fits(one_query(2 * 7_328), np.repeat([0.0, 1.0], 7_328))


def test_explicit_pairs_of_weight_zero_are_left_out():
    graph = explicit_graph(check_pairs([[0, 1], [2, 1]], 3, weight=[0.0, 2.0]), 3)
    assert (graph.better, graph.worse, graph.weight) == ([2], [1], [2.0])
    with pytest.raises(DataError, match="nothing to learn"):
        explicit_graph(check_pairs([[0, 1]], 3, weight=0.0), 3)


def test_ties_only_is_nothing_to_learn():
    for make in (full_graph, reduced_graph):
        with pytest.raises(DataError, match="nothing to learn"):
            make(one_query(3), np.ones(3))
