"""Greedy steps are those of brute force, in one pass over the rows per feature."""

from pathlib import Path

import numpy as np
import pytest

import rankwise
from few_features import plain
from rankwise.metrics import get_measure
from rankwise.operators.design import MatrixDesign
from rankwise.preferences.queries import group_rows
from rankwise.ridge.greedy import _LeftOutScores, greedy_path
from rankwise.ridge.squared import loss_on_scores
from rankwise.types import Ties, Weighting
from rankwise.validation import Problem
from stressed import KINDS, dense, pair_weights, pairs_of, stressed

OHSUMED = Path(__file__).parent.parent.parent / "shared/data/ohsumed_letor2/Fold1/trainingset.txt.xz"


def greedy(X, y, qid, n_steps, *, alpha=1.0, ties="keep", measure="pairwise_error", costs=None, weight=None):
    problem = Problem(X, y, group_rows(qid, len(y)), weight, None)
    loss = loss_on_scores(problem, Ties(ties), Weighting.EXAMPLE)
    prepared = get_measure(measure).prepare(y, qid)
    sign = 1.0 if prepared.measure.higher_is_better else -1.0
    design = MatrixDesign(X, reference=loss.differences.reference())
    costs = np.ones(X.shape[1]) if costs is None else costs
    return greedy_path(design, loss, alpha, n_steps, lambda table: sign * prepared.many(table), costs)


def left_out_value(X, y, qid, features, *, alpha=1.0, ties="keep", measure="pairwise_error"):
    """The measure of scores by models fitted without each query; higher is better."""
    columns, scores = np.ascontiguousarray(dense(X)[:, features]).astype(float), np.zeros(len(y))
    for query in np.unique(qid):
        held = qid == query
        if features:
            scores[held] = columns[held] @ weights_without(columns, y, qid, held, alpha, ties)
    prepared = get_measure(measure).prepare(y, qid)
    return prepared(scores) * (1.0 if prepared.measure.higher_is_better else -1.0)


def weights_without(columns, y, qid, held, alpha, ties):
    """Ridge regression on the differences of the other queries, scaled by their weights."""
    rest, label, query = columns[~held], y[~held], qid[~held]
    i, j = pairs_of(label, query, ties)
    root = np.sqrt([float(weight) for weight in pair_weights(label, query, ties, "example")])
    D = root[:, None] * (rest[i] - rest[j])
    t = root * (label[i] - label[j])
    rows = np.vstack([D, np.sqrt(alpha) * np.eye(D.shape[1])])
    return np.linalg.lstsq(rows, np.append(t, np.zeros(D.shape[1])))[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("ties", "measure"), [("keep", "pairwise_error"), ("drop", "ndcg@5")])
def test_greedy_steps_are_those_of_brute_force(kind, ties, measure):
    X, y, qid = stressed(kind)
    options = {"alpha": 0.1, "ties": ties, "measure": measure}
    found = greedy(X, y, qid, 3, **options)
    for k, (feature, value) in enumerate(zip(found.order, found.values, strict=True)):
        chosen = found.order[:k].tolist()
        assert value == pytest.approx(left_out_value(X, y, qid, [*chosen, feature], **options), abs=1e-9)
        others = sorted(set(range(X.shape[1])) - set(chosen))
        useful = [j for j in others if (dense(X)[:, j] != dense(X)[0, j]).any()]
        best = max(left_out_value(X, y, qid, [*chosen, j], **options) for j in useful)
        assert value == pytest.approx(best, abs=1e-9)


@pytest.mark.skipif(not OHSUMED.exists(), reason="real data are not here")
def test_the_first_three_features_of_ohsumed_are_those_of_brute_force():
    data = rankwise.load_letor(OHSUMED).scale_per_query()
    queries, n = data.queries, data.n_features
    moments = [
        rankwise.Moments.of(data.X[rows], data.y[rows], data.qid[rows])
        for rows in (np.arange(*ends) for ends in zip(queries.offsets[:-1], queries.offsets[1:], strict=True))
    ]
    A, b = sum(one.A for one in moments), sum(one.b for one in moments)
    prepared, chosen = get_measure("map").prepare(data.y, data.qid), []

    def value(features):
        scores = np.empty(data.n_rows)
        for q, own in enumerate(moments):
            rows = slice(queries.offsets[q], queries.offsets[q + 1])
            system = (A - own.A)[np.ix_(features, features)] + 4.0 * np.eye(len(features))
            scores[rows] = data.X[rows][:, features] @ np.linalg.solve(system, (b - own.b)[features])
        return prepared(scores)

    for _ in range(3):
        values = {j: value([*chosen, j]) for j in range(n) if j not in chosen and A[j, j] > 0.0}
        chosen.append(max(values, key=values.get))
    found = greedy(data.X, data.y, data.qid, 3, alpha=4.0, measure="map")
    assert found.order.tolist() == chosen


def test_greedy_work_is_one_pass_over_the_rows_per_feature(monkeypatch):
    X, y, qid = plain(n=9)
    passes, measured, others = [], [], _LeftOutScores._others
    monkeypatch.setattr(
        _LeftOutScores, "_others", lambda self, rows: passes.append(rows.size) or others(self, rows)
    )
    measure = get_measure("pairwise_error").prepare(y, qid)
    loss = loss_on_scores(Problem(X, y, group_rows(qid, len(y)), None, None), Ties.KEEP, Weighting.EXAMPLE)
    greedy_path(
        MatrixDesign(X),
        loss,
        1.0,
        4,
        lambda table: measured.append(len(table)) or -measure.many(table),
        np.ones(9),
    )
    assert passes == [X.size] * (2 + 4)
    assert measured == [1, 9, 8, 7, 6]


def test_greedy_measures_many_features_in_parts(monkeypatch):
    X, y, qid = plain(n=9)
    whole = greedy(X, y, qid, 4)
    monkeypatch.setattr("rankwise.ridge.greedy.ENTRIES_AT_ONCE", 2 * len(y))
    parts = greedy(X, y, qid, 4)
    assert parts.order.tolist() == whole.order.tolist()
    assert parts.values.tolist() == whole.values.tolist()


def test_greedy_gains_are_per_cost():
    X, y, qid = plain(noise=0.3)
    assert greedy(X, y, qid, 2).order.tolist() == [1, 3]
    costs = np.array([1.0, 50.0, 1.0, 1.0, 1.0, 1.0])
    found = greedy(X, y, qid, 3, costs=costs)
    chosen = []
    for feature in found.order:
        now = left_out_value(X, y, qid, chosen)
        gains = {j: left_out_value(X, y, qid, [*chosen, j]) - now for j in range(6) if j not in chosen}
        by_cost = {j: gain / costs[j] if gain > 0.0 else gain for j, gain in gains.items()}
        assert by_cost[feature] == pytest.approx(max(by_cost.values()), abs=1e-9)
        chosen.append(int(feature))
    assert chosen[0] == 3


@pytest.mark.parametrize("value", [7.0, 0.1, 1e9 + 0.1])
@pytest.mark.parametrize("weighted", [False, True])
def test_constant_and_repeated_features_are_never_chosen(value, weighted):
    X, y, qid = (rows[np.arange(96) % 8 != 7] for rows in plain())  # the mean of seven values is rounded
    X = np.column_stack([X, np.full(len(y), value), value * (1 + qid), X[:, 1], 2.0 * X[:, 3] - X[:, 1]])
    weight = np.random.default_rng(0).random(len(y)) if weighted else None
    found = greedy(X, y, qid, 10, alpha=1e-12, weight=weight)
    assert len(found.order) == 6
    assert not {6, 7} & set(found.order.tolist())


@pytest.mark.parametrize("seed", range(3))
def test_weight_two_is_the_row_twice_to_a_value_that_counts_weights(seed):
    X, y, qid = plain(seed=seed)
    weight = np.random.default_rng(seed).integers(1, 3, len(y))
    twice = np.repeat(np.arange(len(y)), weight)

    def steps(X, y, qid, weight):
        problem = Problem(X, y, group_rows(qid, len(y)), weight.astype(float), None)
        loss = loss_on_scores(problem, Ties.KEEP, Weighting.EXAMPLE)
        return greedy_path(
            MatrixDesign(X), loss, 1.0, 6, lambda table: -(np.square(table - y) @ weight), np.ones(6)
        )

    one, other = steps(X, y, qid, weight), steps(X[twice], y[twice], qid[twice], np.ones(len(twice)))
    assert one.order.tolist() == other.order.tolist()
    np.testing.assert_allclose(one.values, other.values)
