"""The search for interactions: judged on queries that it has not seen, and harmless where there are none."""

import json

import numpy as np
import pandas as pd
import pytest

from command_line import rankwise_process
from rankwise import ColumnEncoder, DataError, ParameterError, RankRLS, RankRLSCV, RankSVM, RankSVMCV
from rankwise.preferences.queries import group_rows
from rankwise.ridge.interaction_gains import PENALTY, interaction_gains
from rankwise.selection import interaction_search, left_out_residuals
from rankwise.selection.folding import queries_or_groups
from rankwise.validation import Problem


def interacting(n_queries=150, rows=12, seed=0):
    """Products, a threshold in context and additive effects, among columns that do not matter."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rows)
    m = len(qid)
    frame = pd.DataFrame(rng.normal(size=(m, 4)), columns=["a", "b", "c", "junk"])
    frame["mobile"] = (rng.random(n_queries) < 0.5)[qid]
    frame["weekday"] = rng.choice(["mon", "tue", "wed"], n_queries)[qid]
    y = frame["a"] * frame["b"] + frame["c"] * np.where(frame["mobile"], 1.5, 0.0) + np.abs(frame["a"])
    return frame, y.to_numpy() + 0.5 * rng.normal(size=m), qid


def additive(n_queries=150, rows=12, seed=0):
    """Effects of single columns, one of them |x|, of columns with a correlation of 0.7."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rows)
    X = np.sqrt(0.7) * rng.normal(size=(len(qid), 1)) + np.sqrt(0.3) * rng.normal(size=(len(qid), 5))
    y = np.abs(X[:, 0]) + X[:, 1] + np.sin(2.0 * X[:, 2]) + 0.5 * rng.normal(size=len(qid))
    return X, y, qid


def found(model):
    return {frozenset(one.columns) for one in model.encoding_.search.found}


EXPECTED = {frozenset({"a", "b"}), frozenset({"c", "mobile"})}


def gain_by_refits(product, residuals, qid, weight):
    """The squared error on each query with and without the product, whose weight is fitted to the others."""
    alpha = PENALTY * weight.sum()

    def centered(values, rows):
        return values[rows] - np.average(values[rows], weights=weight[rows])

    gains = []
    for query in np.unique(qid):
        top = bottom = 0.0
        for other in np.unique(qid[qid != query]):
            rows = qid == other
            p, r = centered(product, rows), centered(residuals, rows)
            top += (weight[rows] * p) @ r
            bottom += (weight[rows] * p) @ p
        beta, rows = top / (bottom + alpha), qid == query
        p, r, w = centered(product, rows), centered(residuals, rows), weight[rows]
        gains.append(w @ r**2 - w @ (r - beta * p) ** 2)
    return np.array(gains)


def test_gains_are_those_of_refits_without_each_query():
    rng = np.random.default_rng(0)
    qid, weight = np.repeat(np.arange(7), [3, 5, 2, 4, 6, 3, 5]), rng.uniform(0.5, 2.0, 28)
    functions, residuals = rng.normal(size=(28, 5)), rng.normal(size=28)
    starts = np.array([0, 2, 4])
    columns = [range(2), range(2, 4), range(4, 5)]
    found = interaction_gains(functions, starts, residuals, group_rows(qid, 28), weight)
    for i, first in enumerate(columns):
        for j, second in enumerate(columns):
            by_query = sum(
                gain_by_refits(functions[:, k] * functions[:, n], residuals, qid, weight)
                for k in first
                for n in second
            )
            assert found.gain[i, j] == pytest.approx(by_query.sum(), rel=1e-10, abs=1e-12)
            error = by_query.std(ddof=1) * np.sqrt(len(by_query))
            assert found.z[i, j] == pytest.approx(by_query.sum() / error, rel=1e-8)


def test_weight_two_is_the_row_twice():
    rng = np.random.default_rng(1)
    qid, weight = np.repeat(np.arange(9), 4), rng.integers(0, 3, 36)
    functions, residuals, starts = rng.normal(size=(36, 4)), rng.normal(size=36), np.array([0, 2])
    weighted = interaction_gains(functions, starts, residuals, group_rows(qid, 36), weight.astype(float))
    rows = np.repeat(np.arange(36), weight)
    queries = group_rows(qid[rows], len(rows))
    repeated = interaction_gains(functions[rows], starts, residuals[rows], queries, np.ones(len(rows)))
    np.testing.assert_allclose(repeated.gain, weighted.gain, rtol=1e-10)


@pytest.mark.parametrize("ranker", [RankRLS, RankRLSCV, RankSVMCV])
def test_the_search_finds_what_interacts_and_nothing_else(ranker):
    frame, y, qid = interacting()
    model = ranker(interactions="auto").fit(frame, y, qid)
    assert found(model) == EXPECTED
    search = model.encoding_.search
    assert search.tried == 14  # of 15 pairs, that of the two columns that are constant within queries is none
    assert all(one.z >= 3.0 and one.gain > 0.0 for one in search.found)
    other, labels, queries = interacting(seed=1)
    alone = ranker(columns="spline").fit(frame, y, qid)
    assert model.score(other, labels, queries) > alone.score(other, labels, queries) + 0.05


def test_a_number_bounds_what_is_found():
    frame, y, qid = interacting()
    model = RankRLS(interactions=1).fit(frame, y, qid)
    assert found(model) == {frozenset({"a", "b"})}


@pytest.mark.parametrize("seed", range(3))
def test_additive_effects_of_correlated_columns_are_no_interactions(seed):
    X, y, qid = additive(seed=seed)
    assert found(RankRLS(interactions="auto").fit(X, y, qid)) == set()
    assert found(RankRLS(interactions="auto", columns="number").fit(X, y, qid)) == set()


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_found_in_labels_permuted_within_queries(seed):
    frame, y, qid = interacting()
    rng = np.random.default_rng(seed)
    shuffled = np.concatenate([rng.permutation(y[qid == query]) for query in range(150)])
    assert found(RankRLS(interactions="auto").fit(frame, shuffled, qid)) == set()


def test_nothing_found_means_the_additive_model():
    X, y, qid = additive()
    model, plain = RankRLSCV(interactions="auto").fit(X, y, qid), RankRLSCV(columns="spline").fit(X, y, qid)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    assert model.cv_ == plain.cv_


def test_order_of_rows_and_shifts_of_labels_change_nothing():
    frame, y, qid = interacting()
    model = RankRLS(interactions="auto").fit(frame, y, qid)
    order = np.random.default_rng(0).permutation(len(y))
    shifted = (y + np.sin(qid))[order]
    other = RankRLS(interactions="auto").fit(frame.iloc[order], shifted, qid[order])
    assert found(other) == found(model)
    np.testing.assert_allclose(other.predict(frame), model.predict(frame), atol=1e-8)


def test_queries_that_compare_nothing_change_nothing():
    frame, y, qid = interacting()
    single = frame.iloc[:5]
    more = RankRLS(interactions="auto").fit(
        pd.concat([frame, single]), np.append(y, np.ones(5)), np.append(qid, 1000 + np.arange(5))
    )
    assert found(more) == EXPECTED


@pytest.mark.parametrize("far", [1e6, 1e9])
def test_columns_far_from_zero_interact_alike(far):
    frame, y, qid = interacting()
    rounded = frame.assign(a=np.round(64 * frame["a"]), b=np.round(64 * frame["b"]))
    moved = rounded.assign(a=rounded["a"] + far, b=rounded["b"] - far)
    assert found(RankRLS(interactions="auto").fit(moved, y, qid)) == EXPECTED
    assert found(RankRLS(interactions="auto").fit(rounded.astype({"a": np.float32}), y, qid)) == EXPECTED


def test_repeated_columns_are_found_but_once_each():
    frame, y, qid = interacting()
    model = RankRLS(interactions="auto").fit(frame.assign(same=frame["a"]), y, qid)
    assert len(found(model)) == 2
    assert frozenset({"a", "same"}) not in found(model)


def test_more_queries_are_left_out_in_groups_and_the_same_is_found(monkeypatch):
    frame, y, qid = interacting()
    monkeypatch.setattr(left_out_residuals, "MOST_LEFT_OUT", 100)
    assert found(RankRLS(interactions="auto").fit(frame, y, qid)) == EXPECTED
    order = np.random.default_rng(0).permutation(len(y))
    assert found(RankRLS(interactions="auto").fit(frame.iloc[order], y[order], qid[order])) == EXPECTED


def test_what_is_left_out_in_groups_is_missed_by_models_without_the_group(monkeypatch):
    X, y, qid = additive()
    frame, rows = ColumnEncoder("spline").fit_transform(X), group_rows(qid, len(y))
    problem = Problem(frame, y, rows, None)
    monkeypatch.setattr(left_out_residuals, "MOST_LEFT_OUT", 100)
    learned = left_out_residuals.left_out_residuals(problem)
    for group in queries_or_groups(rows, 100, left_out_residuals.N_GROUPS).held[:3]:
        rest = np.setdiff1d(np.arange(len(y)), group)
        scores = RankRLS(learned.alpha).fit(frame[rest], y[rest], qid[rest]).predict(frame[group])
        for query in np.unique(qid[group]):
            own = qid[group] == query
            missed = (y[group] - scores)[own]
            np.testing.assert_allclose(learned.residuals[group][own], missed - missed.mean(), atol=1e-8)


def test_of_many_rows_models_are_fitted_to_some_and_miss_the_labels_of_all(monkeypatch):
    frame, y, qid = interacting()
    learned, explained = [], []
    learn, explain = left_out_residuals.left_out_residuals, interaction_gains

    def learning(problem):
        learned.append(problem)
        return learn(problem)

    def explaining(functions, starts, residuals, queries, weight):
        explained.append(residuals)
        return explain(functions, starts, residuals, queries, weight)

    monkeypatch.setattr(interaction_search, "ROWS_FITTED", 900)
    monkeypatch.setattr(interaction_search, "left_out_residuals", learning)
    monkeypatch.setattr(interaction_search, "interaction_gains", explaining)
    model = RankRLS(interactions="auto").fit(frame, y, qid)
    assert found(model) == EXPECTED
    assert {len(problem.y) for problem in learned} == {900}
    fitted = np.isin(y, learned[0].y)
    assert fitted.sum() == 900
    X, alpha = ColumnEncoder("spline").fit_transform(frame), model.encoding_.search.alphas[0]
    missed = y - RankRLS(alpha).fit(X[fitted], y[fitted], qid[fitted]).predict(X)
    off = (explained[0] - missed)[~fitted].reshape(-1, 12)  # up to a constant of each query
    np.testing.assert_allclose(off, np.repeat(off[:, :1], 12, axis=1), atol=1e-8)


def test_columns_with_a_sign_stay_alone():
    frame, y, qid = interacting()
    model = RankRLS(interactions="auto", monotonic_cst={"c": 1}).fit(frame, y, qid)
    assert found(model) == {frozenset({"a", "b"})}


def test_left_out_scores_after_a_search_are_called_optimistic():
    frame, y, qid = interacting()
    model = RankRLSCV(interactions="auto").fit(frame, y, qid)
    assert model.cv_ == "leave-query-out, optimistic: after a search for interactions on the same queries"
    assert model.calibration_.source == model.cv_
    other = interacting(seed=1)
    assert RankRLSCV(interactions="auto").fit(frame, y, qid, eval_set=other).cv_ == "eval_set"


@pytest.mark.parametrize("ranker", [RankRLS(solver="cg"), RankSVM()])
def test_early_stopping_after_a_search_needs_rows_that_the_search_has_not_seen(ranker):
    rows, other = interacting(), interacting(seed=1)
    ranker.set_params(interactions="auto", early_stopping=True)
    with pytest.raises(ParameterError, match="with a search for interactions needs an eval_set"):
        ranker.fit(*rows)
    assert found(ranker.fit(*rows, eval_set=other)) == EXPECTED


def test_info_says_how_many_pairs_were_tried(tmp_path):
    RankRLS(interactions="auto").fit(*interacting()).save(tmp_path / "model")
    run = rankwise_process("info", "model", "--json", cwd=tmp_path)
    facts = json.loads(run.stdout)
    assert facts["interactions tried"] == 14
    assert {frozenset(name.split(" × ")) for name in facts["interactions found"]} == EXPECTED
    assert all(one["standard errors"] >= 3.0 for one in facts["interactions found"].values())


def test_a_search_needs_queries_labels_and_one_target():
    frame, y, qid = interacting()
    with pytest.raises(DataError, match="needs qid"):
        RankRLS(interactions="auto").fit(frame, y)
    with pytest.raises(DataError, match="1d array"):
        RankRLS(interactions="auto").fit(frame, np.column_stack([y, y]), qid)
    with pytest.raises(ParameterError, match="needs labels"):
        RankRLS(interactions="auto").fit_preferences(frame, [(0, 1)])


def test_the_description_says_what_was_found():
    frame, y, qid = interacting()
    became = RankRLS(interactions="auto").fit(frame, y, qid).encoding_.describe()
    assert became["a × b"].startswith("table of 4 knots × 4 knots; gain ")
    assert "c × mobile" in became
