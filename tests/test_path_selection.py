"""Choosing along a path: every breakpoint is measured as `predict` scores it there."""

import numpy as np
import pytest

from graded_queries import toy
from rankwise import RankSVMPath
from rankwise.config import config_context
from rankwise.metrics import get_measure
from rankwise.path.graphs import PreferenceGraph
from rankwise.path.path_solutions import PathSolutions
from rankwise.selection import breakpoints


@pytest.mark.parametrize("measure", ["pairwise_error", "ndcg@5", "kendall_tau_b", "pairwise_error_micro"])
@pytest.mark.parametrize("at_once", [300, 1 << 18])
def test_select_measures_every_breakpoint_as_predict_would(measure, at_once, monkeypatch):
    for limit in ("TABLE_SCORES", "COUNTED_SCORES"):
        monkeypatch.setattr(breakpoints, limit, at_once)
    X, y, qid = toy()
    X_val, y_val, qid_val = toy(n=30, seed=1)
    y_val = np.maximum(y_val, 0)
    model = RankSVMPath(graph="reduced").fit(X, y, qid).select(X_val, y_val, qid_val, measure)
    chosen = get_measure(measure)
    expected = [chosen(y_val, model.predict(X_val, alpha=alpha), qid_val) for alpha in model.alphas_]
    np.testing.assert_allclose(model.scores_, expected, atol=1e-12)
    best = max(expected) if chosen.higher_is_better else min(expected)
    assert chosen(y_val, model.predict(X_val), qid_val) == pytest.approx(best)
    assert model.alpha_ == max(
        a for a, v in zip(model.alphas_, expected, strict=True) if abs(v - best) < 1e-12
    )


@pytest.mark.parametrize("measure", ["pairwise_error", "ndcg", "kendall_tau_b"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "polynomial", "precomputed"])
def test_ties_and_near_ties_of_whole_features_are_measured_as_predict_gives_them(kernel, measure):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, X_val = rng.integers(0, 3, (30, 4)).astype(float), rng.integers(0, 3, (40, 4)).astype(float)
        y, y_val, qid_val = rng.integers(0, 3, 30), rng.integers(0, 3, 40), rng.integers(0, 3, 40)
        rows, rows_val = (X @ X.T, X_val @ X.T) if kernel == "precomputed" else (X, X_val)
        model = RankSVMPath(kernel=kernel, graph=["full", "reduced"][seed % 2]).fit(rows, y, np.zeros(30))
        model.select(rows_val, y_val, qid_val, measure)
        predicted = [model.predict(rows_val, alpha=alpha) for alpha in model.alphas_]
        expected = [get_measure(measure)(y_val, scores, qid_val) for scores in predicted]
        assert model.scores_.tolist() == expected


@pytest.mark.parametrize("almost", [False, True], ids=["equal rows", "rows equal but for rounding"])
def test_breakpoints_are_scored_again_only_where_rounding_may_tell_rows_apart(almost, monkeypatch):
    X, y, qid = toy()
    model = RankSVMPath(kernel="linear", graph="reduced").fit(X, y, qid)
    # Kernel values may all be negative, and one of them small.
    K = -np.random.default_rng(0).uniform(size=(30, len(X)))
    K[0, 0] = -1e-9
    K[11] = K[4] * (1.0 + 1e-15 * almost)
    scores, again = breakpoints.PathScores(model._path, K), []
    predicted = scores._predicted
    monkeypatch.setattr(scores, "_predicted", lambda t: again.extend(t.tolist()) or predicted(t))
    for measure in ("kendall_tau_b", "ndcg"):
        get_measure(measure).prepare(np.arange(30) % 3).along(scores)
        assert again == (list(range(len(scores))) if almost else [])
        again.clear()


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_scores_along_a_path_are_within_the_bound_of_their_rounding(kernel):
    X, y, qid = toy()
    model = RankSVMPath(kernel=kernel).fit(X, y, qid)
    scores = breakpoints.PathScores(model._path, model.model_.function.kernel_values(X))
    bound = scores._rounding
    scores._rounding = np.full(len(scores), -1.0)  # nothing is doubtful, nothing scored again
    followed = np.concatenate([table.copy() for table in scores.tables()])
    off = followed - model._path.levels[:, None] * scores._predicted(np.arange(len(scores)))
    assert (np.ptp(off, axis=1) <= bound).all()
    assert (np.diff(bound) > 0.0).all()  # every step adds rounding of its own
    assert (bound < 1e-8 * np.ptp(followed, axis=1)).all()


def test_the_bound_of_rounding_counts_every_term_of_the_longest_sum():
    graph = PreferenceGraph(np.arange(8), np.arange(8) + 1, np.full(8, 1e-6), 9)
    pairs, changes = np.arange(8, dtype=np.int32), np.ones(8)
    path = PathSolutions(graph, np.array([2.0, 1.0]), False, np.array([0, 8]), pairs, changes)
    rounding = path.rounding_of_scores() / np.finfo(float).eps
    assert rounding[1] > 8 * 8
    assert rounding[0] < 1e-3


@pytest.mark.parametrize("n_queries", [1, 40])
def test_threads_that_share_a_long_path_count_the_same_pairs(n_queries):
    rng = np.random.default_rng(0)
    X, y, qid = toy()
    model = RankSVMPath(kernel="linear").fit(X, y, qid)
    rows = rng.normal(size=(4000, X.shape[1]))
    labels, queries = rng.integers(0, 4, 4000), rng.integers(0, n_queries, 4000)
    prepared = get_measure("pairwise_error_micro").prepare(labels, queries)
    K = rows @ X.T
    with config_context(n_threads=1):
        one = breakpoints.PathScores(model._path, K)
    with config_context(n_threads=2):
        two = breakpoints.PathScores(model._path, K)
    assert len(one) * len(rows) > 2 << 18  # several chunks
    np.testing.assert_array_equal(prepared.along(one), prepared.along(two))
    expected = np.concatenate([prepared.many(table) for table in one.tables()])
    np.testing.assert_array_equal(prepared.along(one), expected)


def test_tied_validation_scores_are_measured_where_they_are_tied():
    X, y, qid = toy()
    X_val = np.repeat(X[:5], 2, axis=0)
    y_val = np.arange(10.0)
    model = RankSVMPath(kernel="linear", graph="reduced").fit(X, y, qid).select(X_val, y_val, np.zeros(10))
    expected = [get_measure("pairwise_error")(y_val, model.predict(X_val, alpha=a)) for a in model.alphas_]
    np.testing.assert_allclose(model.scores_, expected, atol=1e-12)
