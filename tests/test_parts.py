"""Rows in parts give the models, measures and choices that all rows together give."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from in_parts import in_parts, together
from rankwise import (
    DataError,
    KernelRankRLS,
    Moments,
    ParameterError,
    RankingData,
    RankRLS,
    RankRLSCV,
    RankSVMPath,
    config_context,
    load_letor,
    make_search_data,
)
from rankwise.cluster.engine import joined
from rankwise.metrics import evaluate
from rankwise.operators.native_rows import NativeRows
from stressed import KINDS, dense, pairs_of, stressed

LOSSES = [(ties, weighting) for ties in ("keep", "drop") for weighting in ("example", "pair", "query")]


def shuffled(data, seed=0):
    return data.select(np.random.default_rng(seed).permutation(data.n_rows))


@pytest.fixture(scope="module")
def whole():
    return make_search_data(24, random_state=0)


@pytest.fixture(scope="module", params=["whole", "split", "one ranking", "sparse and split"])
def data(request, whole):
    if request.param == "whole":
        return whole
    mixed = shuffled(whole)
    if request.param == "one ranking":
        return RankingData.from_arrays(mixed.X, mixed.y)
    if request.param == "split":
        return mixed
    kept = np.random.default_rng(1).random(mixed.X.shape) < 0.3
    return RankingData.from_arrays(sparse.csr_array(np.where(kept, mixed.X, 0.0)), mixed.y, mixed.qid)


@pytest.fixture(scope="module", params=["unweighted", "weighted"])
def weight(request, data):
    if request.param == "unweighted":
        return None
    return np.random.default_rng(2).integers(0, 4, data.n_rows).astype(float)


class Bracketed(str):
    """Text whose sum shows what was added to what."""

    def __add__(self, other):
        return Bracketed(f"({self} {other})")


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40))
def test_sums_over_parts_do_not_depend_on_who_holds_them(holders):
    n = len(holders)
    leaves = {(0, part): Bracketed(part) for part in range(n)}
    sent = {}
    for who in set(holders):
        sent |= joined({node: leaf for node, leaf in leaves.items() if holders[node[1]] == who}, n)
    assert joined(sent, n) == joined(leaves, n)
    assert len(joined(leaves, n)) == 1


def test_neighbours_are_sent_as_one_sum():
    assert list(joined({(0, part): 1 for part in range(4)}, 8)) == [(2, 0)]
    assert sorted(joined({(0, part): 1 for part in (1, 2, 3, 7)}, 8)) == [(0, 1), (0, 7), (1, 1)]


@pytest.mark.parametrize("ties, weighting", LOSSES)
def test_a_closed_form_of_parts_is_that_of_all_rows(data, weight, ties, weighting):
    if weighting == "query" and weight is not None and ties == "keep":
        weight = weight + 1.0  # sums of weights below 1 are refused
    options = {"ties": ties, "weighting": weighting, "solver": "primal"}
    for alpha in (1.0, 0.0):
        model = RankRLS(alpha, **options).fit(in_parts(data, 5, weight))
        expected = RankRLS(alpha, **options).fit(data.X, data.y, data.qid, weight)
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-10, atol=1e-10)
        assert model.fitted_with_qid_ == expected.fitted_with_qid_


@pytest.mark.parametrize("ties, weighting", LOSSES)
def test_conjugate_gradient_on_parts_is_that_on_all_rows(data, weight, ties, weighting):
    if weighting == "query" and weight is not None and ties == "keep":
        weight = weight + 1.0
    options = {"ties": ties, "weighting": weighting, "solver": "cg", "tol": 1e-13}
    model = RankRLS(**options).fit(in_parts(data, 5, weight))
    expected = RankRLS(**options).fit(data.X, data.y, data.qid, weight)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9, atol=1e-10)
    assert model.solver_ == "cg"


def test_models_of_parts_have_the_moments_of_all_rows(data, weight):
    parts = RankRLS(solver="primal", ties="drop").fit(in_parts(data, 3, weight)).moments_
    moments = Moments.of(data, sample_weight=weight, ties="drop")
    assert (parts.n_rows, parts.n_pairs, parts.n_queries) == (
        moments.n_rows,
        moments.n_pairs,
        moments.n_queries,
    )
    assert set(parts.learned.labels) == set(moments.learned.labels)
    assert set(parts.learned.contents) == set(moments.learned.contents)


@pytest.mark.parametrize("measure", ["ndcg@10", "pairwise_error", "pairwise_error_micro"])
def test_leaving_out_queries_of_parts_is_leaving_out_queries(data, weight, measure):
    if data.qid is None:
        pytest.skip("there is one query")
    options = {"measure": measure, "solver": "primal", "ties": ("keep", "drop")}
    model = RankRLSCV(**options).fit(in_parts(data, 4, weight))
    expected = RankRLSCV(**options).fit(data.X, data.y, data.qid, weight)
    np.testing.assert_allclose(model.scores_, expected.scores_, rtol=0, atol=1e-12)
    assert model.best_ == pytest.approx(expected.best_)
    assert model.cv_ == "leave-query-out"
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("cv", ["leave-query-out", 40])
@pytest.mark.parametrize("split", [False, True])
def test_pairs_left_out_of_parts_calibrate_as_those_of_all_rows_do(cv, split):
    data = make_search_data(40, mean_rows=6, random_state=0)  # so few rows that every pair is in the sample
    data = shuffled(data) if split else data
    model = RankRLSCV([1.0, 10.0], cv=cv, solver="primal").fit(in_parts(data, 5))
    expected = RankRLSCV([1.0, 10.0], cv="leave-query-out", solver="primal").fit(data)
    found, wanted = model.calibration_, expected.calibration_
    assert (found.n_pairs, found.source) == (wanted.n_pairs, model.cv_)
    assert (found.slope, found.slope_error) == pytest.approx((wanted.slope, wanted.slope_error), rel=1e-7)
    pairs = [[0, 1], [2, 3]]
    np.testing.assert_allclose(
        model.predict_preference_proba(data.X, pairs), expected.predict_preference_proba(data.X, pairs)
    )
    with pytest.raises(AttributeError, match="those of rows in parts stay on the workers"):
        _ = model.left_out_scores_


@pytest.mark.parametrize("n_parts", [1, 4])
def test_a_query_that_dominates_is_left_out_by_fitting_the_others(whole, n_parts):
    X = np.where((whole.qid == whole.qid[0])[:, None], 1e6, 1.0) * whole.X
    data = RankingData.from_arrays(X, whole.y, whole.qid)
    model = RankRLSCV(solver="primal").fit(in_parts(data, n_parts))
    expected = RankRLSCV(solver="primal").fit(data)
    np.testing.assert_allclose(model.scores_, expected.scores_, rtol=0, atol=1e-12)


def test_folds_of_parts_hold_out_every_query_once(data):
    if data.qid is None:
        pytest.skip("there is one query")
    model = RankRLSCV([1.0, 10.0], cv=data.n_queries, solver="cg", tol=1e-10).fit(in_parts(data, 3))
    expected = RankRLSCV([1.0, 10.0], cv="leave-query-out", solver="primal").fit(data)
    np.testing.assert_allclose(model.scores_, expected.scores_, rtol=0, atol=1e-6)
    assert model.cv_ == f"{data.n_queries} folds of queries"


@pytest.mark.filterwarnings("ignore:Conjugate gradient ended")
def test_an_eval_set_chooses_among_iterates_of_parts(whole):
    held, rest = whole.split(0.3)
    options = {"solver": "cg", "early_stopping": True, "max_iter": 5}
    model = RankRLS(**options).fit(in_parts(rest, 3), eval_set=held)
    expected = RankRLS(**options).fit(rest, eval_set=held)
    np.testing.assert_allclose(model.validation_curve_, expected.validation_curve_, atol=1e-9)
    assert model.best_iter_ == expected.best_iter_


def test_measures_of_parts_are_those_of_all_rows_to_the_last_bit(data):
    model, parts = RankRLS().fit(data), in_parts(data, 5)
    scores = model.predict(parts)
    np.testing.assert_array_equal(scores.compute(), model.predict(data))
    found, expected = evaluate(parts, scores), evaluate(data.y, model.predict(data), data.qid)
    assert found.to_dict() == expected.to_dict()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("solver", ["primal", "cg"])
def test_stressed_rows_in_parts_give_the_models_of_all_rows(kind, solver):
    X, y, qid = stressed(kind)
    data = RankingData.from_arrays(X, y, qid)
    options = {"solver": solver, "tol": 1e-14, "max_iter": 5000, "ties": "drop"}
    i, j = pairs_of(y, qid)
    differences = dense(X).astype(float)[i] - dense(X).astype(float)[j]
    expected = differences @ RankRLS(**options).fit(data).coef_
    found = differences @ RankRLS(**options).fit(in_parts(data, 4)).coef_
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7 * np.abs(expected).max())


def test_arguments_that_the_data_has_are_refused(whole):
    parts = in_parts(whole, 2)
    with pytest.raises(DataError, match="has its own labels, queries and weights; pass it without y"):
        RankRLS().fit(parts, whole.y)
    with pytest.raises(DataError, match="pass it without query_weight"):
        RankRLS().fit(parts, query_weight=np.ones(whole.n_queries))
    with pytest.raises(ParameterError, match="has its own queries"):
        evaluate(parts, RankRLS().fit(parts).predict(parts), whole.qid)
    with pytest.raises(ParameterError, match="those that predict returns"):
        evaluate(parts, np.zeros(whole.n_rows))


@pytest.mark.parametrize("ranker", [KernelRankRLS(), RankSVMPath()])
def test_rankers_that_need_all_rows_say_so(ranker, whole):
    with pytest.raises(DataError, match=f"{type(ranker).__name__} needs all rows in this process"):
        ranker.fit(in_parts(whole, 2))


def test_methods_that_need_rows_here_say_so(whole):
    model = RankRLS().fit(parts := in_parts(whole, 2))
    for method in (model.rank, model.score):
        with pytest.raises(DataError, match="needs all rows in this process; got PartedData"):
            method(parts)


def test_solvers_and_folds_that_parts_do_not_have_are_refused(whole):
    parts = in_parts(whole, 2)
    with pytest.raises(ParameterError, match="'dual' is not available"):
        RankRLS(solver="dual").fit(parts)
    with pytest.raises(ParameterError, match="needs a closed form"):
        RankRLSCV(solver="cg", cv="leave-query-out").fit(parts)
    with pytest.raises(ParameterError, match="a number of folds from 2 to 24"):
        RankRLSCV(cv=1, solver="cg").fit(parts)
    with pytest.raises(ParameterError, match="early_stopping on a cluster needs an eval_set"):
        RankRLS(early_stopping=True).fit(parts)
    one_ranking = in_parts(RankingData.from_arrays(whole.X, whole.y), 2)
    with pytest.raises(DataError, match="no queries to leave out; pass an eval_set"):
        RankRLSCV().fit(one_ranking)


@pytest.mark.parametrize("n_parts", [1, 3])
def test_labels_without_differences_are_refused(whole, n_parts):
    tied = RankingData.from_arrays(whole.X, np.ones(whole.n_rows), whole.qid)
    with pytest.raises(DataError, match="There is nothing to learn"):
        RankRLS().fit(in_parts(tied, n_parts))


def test_a_difference_between_two_parts_of_a_query_is_enough():
    data = RankingData.from_arrays(np.eye(4), [0.0, 0.0, 1.0, 1.0], ["a"] * 4)
    model = RankRLS(solver="primal").fit(in_parts(data, 2))
    np.testing.assert_allclose(model.coef_, RankRLS(solver="primal").fit(data).coef_, atol=1e-12)


def test_parts_of_text_have_the_features_of_all(tmp_path):
    lines = ["1 qid:1 1:1 3:2\n0 qid:1 2:1\n", "2 qid:1 5:1\n0 qid:2 1:4\n1 qid:2 2:1\n", "0 qid:2 4:1 5:3\n"]
    for number, text in enumerate(lines):
        (tmp_path / f"{number}.txt").write_text(text, encoding="utf-8")
    (tmp_path / "all.txt").write_text("".join(lines), encoding="utf-8")
    parts = together([load_letor(tmp_path / f"{number}.txt") for number in range(3)])
    data = load_letor(tmp_path / "all.txt")
    model, expected = RankRLS(solver="primal").fit(parts), RankRLS(solver="primal").fit(data)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-12)
    assert model.numbered_from_ == 1


def test_an_interrupt_leaves_the_choice_to_the_finished_folds(whole, monkeypatch):
    """As with rows in one piece: a model that was left unfinished in a fold is not measured."""
    finished, interrupts = [], [KeyboardInterrupt]
    product = NativeRows.query_normal_product

    def calling(self, *arguments):
        if finished and interrupts:
            raise interrupts.pop()
        return product(self, *arguments)

    monkeypatch.setattr(NativeRows, "query_normal_product", calling)
    model = RankRLSCV([1.0, 10.0], cv=3, solver="cg")
    with config_context(on_interrupt="keep"), pytest.warns(UserWarning, match="chosen on 1 of 3 folds"):
        model.fit(in_parts(whole, 3), on_progress=finished.append)
    assert [round(step.done, 3) for step in finished] == [0.333]
    assert not interrupts
    assert np.isfinite(model.predict(whole)).all()
