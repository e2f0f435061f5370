"""The path is optimal at every level, whatever the kernel, the graph and the degeneracy."""

import clarabel
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from rankwise.config import config_context
from rankwise.errors import DataError, ParameterError
from rankwise.path.graphs import explicit_graph, full_graph, reduced_graph
from rankwise.path.svm_path import duality_gap, ranking_svm_path
from rankwise.preferences.queries import group_rows, one_query
from rankwise.types import Weighting
from rankwise.validation import check_pairs

GRAPHS = {"full": full_graph, "reduced": reduced_graph}


def down_to(share):
    return lambda level: share * level


def kernel_matrix(X, kernel):
    options = {} if kernel == "linear" else {"gamma": 1 / X.shape[1]}
    return np.ascontiguousarray(pairwise_kernels(X, metric=kernel, **options))


def quadratic_program(K, graph, level):
    """The optimum of paper E's problem (8), from a general interior-point solver."""
    m = graph.n_pairs
    P = sparse.csr_matrix(
        (
            np.repeat([1.0, -1.0], m),
            (np.tile(np.arange(m), 2), np.concatenate([graph.better, graph.worse])),
        ),
        shape=(m, graph.n_rows),
    )
    Q = P @ (P @ K).T / level
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    box = sparse.vstack([sparse.eye(m), -sparse.eye(m)]).tocsc()
    solution = clarabel.DefaultSolver(
        sparse.triu(Q).tocsc(),
        -np.ones(m),
        box,
        np.concatenate([graph.weight, np.zeros(m)]),
        [clarabel.NonnegativeConeT(2 * m)],
        settings,
    ).solve()
    return -solution.obj_val


def dual_value(K, graph, a, level):
    rows = graph.adjoint(a)
    return a.sum() - rows @ K @ rows / (2 * level)


def levels_between(path, count, seed=0):
    rng = np.random.default_rng(seed)
    return np.exp(rng.uniform(np.log(path.levels[-1]), np.log(path.levels[0]), count))


def assert_optimal_everywhere(path, K, *, count=20, tolerance=1e-8):
    assert path.converged
    assert path.violations.max() <= 1e-7
    assert (np.diff(path.levels) <= 0).all()
    for level in levels_between(path, count):
        a = path.multipliers_at(level)
        assert (a >= 0).all()
        assert (a <= path.graph.weight).all()
        assert abs(duality_gap(K, path.graph, a, level)) <= tolerance


def toy(n=24, features=3, levels=3, queries=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, features))
    y = np.digitize(X[:, 0] + rng.normal(size=n), np.linspace(-1, 1, levels - 1)).astype(float)
    return X, y, rng.integers(0, queries, n)


@pytest.mark.parametrize("weighting", list(Weighting))
@pytest.mark.parametrize("graph", ["full", "reduced"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_objective_is_a_general_solvers_optimum(kernel, graph, weighting):
    X, y, qid = toy()
    pairs = GRAPHS[graph](group_rows(qid, len(y)), y, weighting=weighting)
    K = kernel_matrix(X, kernel)
    path = ranking_svm_path(K, pairs, reach=1e-3)
    assert_optimal_everywhere(path, K)
    for level in levels_between(path, 4, seed=1):
        ours = dual_value(K, pairs, path.multipliers_at(level), level)
        assert ours == pytest.approx(quadratic_program(K, pairs, level), rel=1e-8)


# With small integers, duplicate rows, dependent differences and simultaneous events are the norm.
rows = st.lists(
    st.tuples(st.integers(0, 2), st.integers(-1, 1), st.integers(0, 2)), min_size=3, max_size=14
).filter(lambda rows: any(a[:2] != b[:2] and a[2] != b[2] for a in rows for b in rows))


@given(rows, st.sampled_from(["linear", "rbf", "poly"]), st.sampled_from(list(GRAPHS)))
@settings(deadline=None, max_examples=80)
def test_heavy_degeneracy_is_solved_exactly(rows, kernel, graph):
    data = np.array(rows, dtype=float)
    X, y = data[:, :2], data[:, 2]
    K = kernel_matrix(X, kernel)
    pairs = GRAPHS[graph](one_query(len(y)), y)
    try:
        path = ranking_svm_path(K, pairs, reach=1e-3)
    except DataError as error:
        assert "cancel out" in str(error)  # noqa: PT017
        assert np.abs(K @ pairs.adjoint(pairs.weight)).max() < 1e-10
        return
    assert_optimal_everywhere(path, K, count=6)
    steps = np.diff(path.levels)
    assert (steps <= 0).all()
    # Rounding occasionally separates simultaneous events; a direction leaving the box would do so repeatedly.
    assert np.count_nonzero(steps == 0) <= 1


def test_a_rate_that_is_zero_but_for_rounding_makes_no_step_of_its_own():
    rows = [(0, 0, 1), (0, 1, 1), (2, 0, 2), (2, 1, 0), (0, -1, 0), (0, -1, 0), (0, -1, 1), (0, -1, 2)]
    rows += [(1, 1, 1), (1, 1, 2), (2, 0, 0), (2, 1, 0), (2, 1, 0), (1, 1, 2)]
    data = np.array(rows, dtype=float)
    pairs = reduced_graph(one_query(len(data)), data[:, 2])
    path = ranking_svm_path(kernel_matrix(data[:, :2], "poly"), pairs, reach=1e-3)
    assert (np.diff(path.levels) < 0).all()


@pytest.mark.parametrize("graph", ["full", "reduced"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("name", ["mixture.txt", "auto_mpg.csv", "breast_cancer.csv"])
def test_real_data_with_duplicated_rows(shared_data, name, kernel, graph):
    table = np.genfromtxt(shared_data / "path" / name, delimiter=",", skip_header=1)
    table = table[:, ~np.isnan(table).any(axis=0)]
    table = table[:: len(table) // 36]
    table = np.vstack([table, table[::6]])
    label = 0 if name == "auto_mpg.csv" else -1
    X, y = np.delete(table, label, axis=1), table[:, label]
    K = kernel_matrix((X - X.mean(axis=0)) / X.std(axis=0), kernel)
    path = ranking_svm_path(K, GRAPHS[graph](one_query(len(y)), y), reach=1e-2)
    assert_optimal_everywhere(path, K, count=50)


@pytest.mark.parametrize("graph", ["full", "reduced"])
@pytest.mark.parametrize("gamma", [1e-1, 1e-2, 1e-3])
def test_kernels_that_are_singular_but_for_rounding_stay_within_tolerance(gamma, graph):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    y = np.round(X[:, 0] + 0.3 * rng.normal(size=60))
    K = np.ascontiguousarray(pairwise_kernels(X, metric="rbf", gamma=gamma))
    assert np.linalg.matrix_rank(K) < 30
    path = ranking_svm_path(K, GRAPHS[graph](one_query(60), y), reach=1e-5)
    assert_optimal_everywhere(path, K)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_pairs_that_are_not_watched_are_not_missed(kernel):
    X, y, _ = toy(n=110, levels=6)
    K, graph = kernel_matrix(X, kernel), full_graph(one_query(110), y)
    assert graph.n_pairs > 4000
    path = ranking_svm_path(K, graph, reach=0.05)
    assert_optimal_everywhere(path, K)


def test_the_path_is_the_same_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1100, 4))
    K, graph = kernel_matrix(X, "rbf"), reduced_graph(one_query(1100), np.round(X[:, 0]))
    with config_context(n_threads=1):
        one = ranking_svm_path(K, graph, reach=0.2)
    with config_context(n_threads=2):
        two = ranking_svm_path(K, graph, reach=0.2)
    np.testing.assert_array_equal(one.levels, two.levels)
    np.testing.assert_array_equal(one.changes, two.changes)


def test_multipliers_are_continuous_across_breakpoints():
    X, y, qid = toy(seed=3)
    path = ranking_svm_path(kernel_matrix(X, "rbf"), full_graph(group_rows(qid, len(y)), y), reach=1e-2)
    for t in range(1, path.n_breakpoints - 1):
        level = path.levels[t]
        gaps = [path.levels[t - 1] - level, level - path.levels[t + 1]]
        if min(gaps) < 1e-9 * level:
            continue
        above, below = (path.multipliers_at(level + sign * 1e-6 * min(gaps)) for sign in (1, -1))
        np.testing.assert_allclose(above, below, atol=1e-5 * path.graph.weight.max())


def test_the_first_breakpoint_is_where_the_first_pair_reaches_the_margin():
    X, y, qid = toy(seed=4)
    K, graph = kernel_matrix(X, "rbf"), full_graph(group_rows(qid, len(y)), y)
    path = ranking_svm_path(K, graph, reach=0.5)
    scores = K @ graph.adjoint(graph.weight)
    assert path.levels[0] == pytest.approx(max(graph.differences(scores)))
    assert (path.multipliers_at(2 * path.levels[0]) == graph.weight).all()


def test_a_separable_problem_ends_with_its_hard_margin_solution():
    X = np.arange(5.0)[:, None]
    K, graph = X @ X.T, full_graph(one_query(5), X[:, 0])
    path = ranking_svm_path(K, graph, reach=1e-9)
    assert path.least == 0.0
    for level in (path.levels[-1], 1e-3 * path.levels[-1]):
        assert X[:, 0] @ path.coefficients_at(level) == pytest.approx(1.0)


def test_cycles_in_the_users_pairs_are_noise():
    X, _, _ = toy(n=8)
    graph = explicit_graph(check_pairs([[0, 1], [1, 2], [2, 0], [3, 4], [4, 3], [5, 6], [5, 6]], 8), 8)
    K = kernel_matrix(X, "rbf")
    assert_optimal_everywhere(ranking_svm_path(K, graph, reach=1e-3), K)


def test_contradictory_duplicates_stay_at_their_box():
    X = np.array([[0.0], [0.0], [1.0]])
    K, graph = X @ X.T, full_graph(one_query(3), np.array([0.0, 1.0, 2.0]), weighting=Weighting.PAIR)
    path = ranking_svm_path(K, graph, reach=1e-3)
    assert_optimal_everywhere(path, K)
    a = path.multipliers_at(path.levels[-1])
    assert a[(graph.better == 1) & (graph.worse == 0)] == 1.0


def test_nothing_to_learn_is_said():
    graph = explicit_graph(check_pairs([[0, 1], [1, 0]], 2), 2)
    with pytest.raises(DataError, match="cancel out"):
        ranking_svm_path(np.eye(2), graph, reach=0.1)


def test_a_path_cut_short_is_valid_as_far_as_it_goes():
    X, y, qid = toy()
    K, graph = kernel_matrix(X, "rbf"), full_graph(group_rows(qid, len(y)), y)
    path = ranking_svm_path(K, graph, reach=1e-3, max_events=10)
    assert not path.converged
    assert path.n_breakpoints == 11
    assert "max_events=10" in path.message
    assert duality_gap(K, graph, path.multipliers_at(path.levels[-1]), path.levels[-1]) < 1e-12
    with pytest.raises(ParameterError, match="covers levels from"):
        path.multipliers_at(path.levels[-1] / 2)


@pytest.mark.parametrize("make_graph", [reduced_graph, full_graph])
@pytest.mark.parametrize("gamma", [1e-4, 1e-6])
def test_a_nearly_constant_kernel_keeps_its_digits(gamma, make_graph):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 1))
    y = np.round(2 * x[:, 0] + rng.normal(size=60))
    K, graph = np.exp(-gamma * (x - x.T) ** 2), make_graph(one_query(60), y)
    path = ranking_svm_path(K, graph, reach=1e-3)
    assert path.converged
    assert path.violations.max() < 1e-10
    levels = np.exp(rng.uniform(np.log(path.levels[-1]), np.log(path.levels[0]), 40))
    assert max(abs(duality_gap(K, graph, path.multipliers_at(level), level)) for level in levels) < 1e-10


def test_a_path_stops_where_the_rounding_of_kernel_values_would_show():
    x = np.random.default_rng(0).normal(size=(60, 1))
    K, graph = np.exp(-1e-6 * (x - x.T) ** 2), full_graph(one_query(60), np.round(x[:, 0] ** 2))
    path = ranking_svm_path(K, graph, reach=1e-8)
    assert not path.converged
    assert "rounding errors of kernel values" in path.message
    assert path.levels[-1] > 1e-16 * graph.weight.sum() / 1e-5


def test_what_all_rows_have_in_common_changes_nothing():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    y = np.round(X[:, 0] + rng.normal(size=40))
    graph = full_graph(one_query(40), y)
    near, far = (ranking_svm_path(rows @ rows.T, graph, reach=0.01) for rows in (X, X + 1000.0))
    np.testing.assert_allclose(near.levels[0], far.levels[0], rtol=1e-8)
    assert far.converged
    level = 0.1 * near.levels[0]
    np.testing.assert_allclose(
        X.T @ near.coefficients_at(level), X.T @ far.coefficients_at(level), rtol=1e-5, atol=1e-8
    )
