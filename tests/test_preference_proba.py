"""Probabilities of preferences: which pairs calibrate each ranker, and what becomes of it."""

import json

import numpy as np
import pytest
from scipy import sparse

import rankwise
from command_line import done, folder, rankwise_process, refused
from rankwise import (
    DataError,
    KernelRankRLS,
    KernelRankRLSCV,
    RankRLS,
    RankRLSCV,
    RankSVM,
    RankSVMCV,
    RankSVMPath,
    RankwiseError,
    config_context,
    load_model,
    make_search_data,
)
from rankwise.model.model_file import read_model
from rankwise.preferences.pairs import PreferencePairs
from rankwise.preferences.queries import group_rows
from rankwise.preferences.samples import sample_judged_pairs
from rankwise.scoring.calibration import preference_probabilities
from rankwise.selection.calibrating import calibrate
from rankwise.tensor_file import read_tensors, write_tensors
from stressed import KINDS, dense, stressed

__all__ = ["done", "folder", "refused"]  # fixtures
PAIRS = [[0, 1], [1, 0], [5, 2]]


@pytest.fixture(scope="module")
def data():
    return make_search_data(20, random_state=0).scale_per_query()


@pytest.fixture(scope="module")
def held(data):
    return make_search_data(12, random_state=1).scale_per_query()


@pytest.fixture(scope="module")
def model(data):
    return RankRLSCV([0.1, 1.0]).fit(data)


def without_query(data, query):
    return data.select(data.queries.query_of_row() != query)


def expected(data, scores):
    return calibrate(scores, sample_judged_pairs(data.y, data.queries.query_of_row()), "")


def same(one, other):
    assert one.slope == pytest.approx(other.slope, rel=1e-6)
    assert np.allclose(one.predicted, other.predicted, atol=1e-6)


@pytest.mark.parametrize("kernel", [False, True])
def test_ridge_searches_are_calibrated_on_scores_of_left_out_queries(data, kernel):
    search, ranker = (KernelRankRLSCV, KernelRankRLS) if kernel else (RankRLSCV, RankRLS)
    model = search([0.1, 1.0, 10.0]).fit(data)
    scores = np.empty(data.n_rows)
    for query in range(data.n_queries):
        rest, own = without_query(data, query), data.queries.query_of_row() == query
        gamma = {"gamma": model.gamma_} if kernel else {}
        scores[own] = ranker(model.alpha_, **gamma).fit(rest).predict(data.X[own])
    query = data.queries.query_of_row()
    differ = model.left_out_scores_ - scores  # a constant for each query: only differences have a meaning
    for number in range(data.n_queries):
        assert np.ptp(differ[query == number]) < 1e-8
    same(model.calibration_, expected(data, scores))
    assert model.calibration_.source == model.cv_ == "leave-query-out"


def test_a_svm_search_is_calibrated_on_its_folds(data):
    model = RankSVMCV([1e-3, 1e-2], cv=4).fit(data)
    assert model.calibration_.source == "4 folds of queries"
    same(model.calibration_, expected(data, model.left_out_scores_))
    assert not np.allclose(model.left_out_scores_, model.predict(data))


def test_the_left_out_scores_are_those_on_which_alpha_was_chosen(data, model):
    error = rankwise.metrics.pairwise_error(data.y, model.left_out_scores_, data.qid)
    assert error == pytest.approx(model.best_score_, abs=1e-12)


@pytest.mark.parametrize(
    "ranker",
    [RankRLS(), RankRLS(solver="cg"), KernelRankRLS(), RankSVM(), RankRLSCV([1, 10]), RankSVMCV([0.01, 0.1])],
    ids=lambda ranker: type(ranker).__name__,
)
def test_an_eval_set_calibrates_any_ranker(data, held, ranker):
    ranker.fit(data, eval_set=held)
    same(ranker.calibration_, expected(held, ranker.predict(held)))
    assert ranker.calibration_.source == "eval_set"
    assert not hasattr(ranker, "left_out_scores_")


def test_selecting_on_a_path_calibrates_the_choice(data, held):
    some = data.select(queries=data.queries.labels[:4])
    path = RankSVMPath(kernel="linear").fit(some).select(held)
    same(path.calibration_, expected(held, path.predict(held)))


def test_early_stopping_calibrates_on_the_part_it_held_out(data):
    model = RankRLS(solver="cg", early_stopping=True, random_state=0).fit(data)
    assert model.calibration_.source == "validation_fraction=0.1 of the training data"


def test_explicit_pairs_calibrate_on_folds_and_on_an_eval_set(data):
    sample = sample_judged_pairs(data.y, data.queries.query_of_row(), per_query=20)
    pairs = np.column_stack([sample.better, sample.worse])
    weight = np.arange(len(pairs)) % 3
    model = RankRLSCV([1.0, 10.0], cv=4).fit_preferences(data.X, pairs, weight=weight)
    assert model.calibration_.source == "4 folds of pairs"
    assert model.calibration_.n_pairs == np.count_nonzero(weight)
    assert model.calibration_.slope > 0
    assert not hasattr(model, "left_out_scores_")
    on_set = RankSVM().fit_preferences(data.X, pairs, eval_set=(data.X, pairs))
    scores = on_set.predict(data.X)
    assert on_set.calibration_.n_pairs == len(pairs)
    assert np.mean(on_set.calibration_.observed) == pytest.approx(
        np.mean(scores[sample.better] > scores[sample.worse]), abs=0.01
    )


def test_one_ranking_is_calibrated_on_folds_of_rows(data):
    with config_context(one_ranking=True):
        on_folds = RankRLSCV([1.0], cv=5).fit(data.X, data.y)
        in_pairs = RankRLSCV([1.0]).fit(data.X, data.y)
    assert on_folds.calibration_.source == "5 folds of rows"
    with pytest.raises(RankwiseError, match=r"no calibration.*eval_set"):
        in_pairs.predict_preference_proba(data.X, PAIRS)  # leave-pair-out has errors, but no scores


def test_the_probability_is_a_logistic_function_of_the_difference(data, model):
    scores = model.predict(data)
    p = model.predict_preference_proba(data, PAIRS)
    difference = np.array([scores[i] - scores[j] for i, j in PAIRS])
    assert np.allclose(p, 1 / (1 + np.exp(-model.calibration_.slope * difference)), rtol=1e-12)
    assert p[0] + p[1] == pytest.approx(1.0)
    weighted = PreferencePairs(np.array(PAIRS), np.ones(3))
    assert (model.predict_preference_proba(data.X, weighted) == p).all()
    # Dense and sparse scores are summed in different orders.
    assert model.predict_preference_proba(sparse.csr_matrix(data.X), PAIRS) == pytest.approx(p, rel=1e-12)


def test_probabilities_of_huge_differences_neither_overflow_nor_vanish(model):
    p = model.calibration_.probability(np.array([-1e300, -100.0, 0.0, 1e300]))
    assert p[0] == 0.0
    assert 0.0 < p[1] < 1e-6
    assert p[2] == 0.5
    assert p[3] == 1.0


def test_explain_shows_the_probability(data, model):
    explanation = model.explain(data.X, 0, 1)
    assert explanation.probability == pytest.approx(model.predict_preference_proba(data, [[0, 1]])[0])
    assert f"probability {explanation.probability:.3f}" in str(explanation)
    plain = RankRLS().fit(data).explain(data.X, 0, 1)
    assert plain.probability is None
    assert "probability" not in str(plain)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([[0, 10_000]], "only rows 0 to"),
        ([[-1, 0]], "only rows 0 to"),
        ([[3, 3]], "with itself"),
        ([0, 1], "shape"),
        ([[0.5, 1]], "integer row numbers"),
    ],
)
def test_pairs_that_are_no_rows_are_refused(data, model, pairs, message):
    with pytest.raises(DataError, match=message):
        model.predict_preference_proba(data, pairs)


def test_a_model_without_calibration_says_how_to_get_one(data):
    model = RankSVM().fit(data)
    for ask in (
        lambda: model.predict_preference_proba(data, PAIRS),
        lambda: model.measure_calibration(data),
        lambda: model.plot_calibration(),
    ):
        with pytest.raises(RankwiseError, match=r"This RankSVM has no calibration.*eval_set to fit"):
            ask()


def test_several_targets_have_no_probabilities(data):
    model = RankRLS().fit(data.X, np.column_stack([data.y, -data.y]), data.qid)
    with pytest.raises(RankwiseError, match="no calibration"):
        model.predict_preference_proba(data, PAIRS)


def test_measuring_on_other_rows_keeps_the_slope(data, model, held):
    found = model.measure_calibration(held)
    assert found.slope == model.calibration_.slope
    scores = model.predict(held)
    sample = sample_judged_pairs(held.y, held.queries.query_of_row())
    right = sample.differences(scores) > 0
    assert found.n_pairs_in_bin @ found.observed == pytest.approx(right.sum())
    with pytest.raises(DataError, match="no query has two rows with different labels"):
        model.measure_calibration(held.X, np.zeros(held.n_rows), held.qid)
    with pytest.raises(DataError, match="needs the qid"):
        model.measure_calibration(held.X, held.y)


def test_files_keep_the_calibration(data, model, tmp_path):
    model.save(tmp_path / "model")
    loaded, scoring = load_model(tmp_path / "model"), read_model(tmp_path / "model")
    assert loaded.calibration_.to_dict() == model.calibration_.to_dict()
    p = model.predict_preference_proba(data, PAIRS)
    assert (loaded.predict_preference_proba(data, PAIRS) == p).all()
    assert (preference_probabilities(scoring.calibration, scoring.predict(data.X), PAIRS) == p).all()
    RankRLS().fit(data).save(tmp_path / "plain")
    assert not hasattr(load_model(tmp_path / "plain"), "calibration_")
    with pytest.raises(RankwiseError, match="This RankRLS has no calibration"):
        load_model(tmp_path / "plain").predict_preference_proba(data.X, PAIRS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda values, _: values.update({"calibration.slope": float("inf")}), "finite"),
        (lambda values, _: values.update({"calibration.slope": "steep"}), "must be float"),
        (lambda values, _: values.pop("calibration.source"), "missing"),
        (lambda _, tensors: tensors.update({"calibration.observed": np.ones(3)}), "calibration.observed"),
        (lambda values, _: values.pop("calibration.slope"), "no fitted attribute 'calibration"),
    ],
)
def test_a_damaged_calibration_is_refused(model, tmp_path, change, message):
    model.save(tmp_path / "model")
    header, tensors = read_tensors(tmp_path / "model")
    change(header["values"], tensors)
    write_tensors(tmp_path / "model", header, tensors)
    with pytest.raises(RankwiseError, match=message):
        load_model(tmp_path / "model")


def test_with_alpha_calibrates_again(data, held):
    model = RankRLS(alpha=1.0).fit(data, eval_set=held)
    other = model.with_alpha(1000.0)
    same(other.calibration_, expected(held, other.predict(held)))
    assert other.calibration_.slope > 2 * model.calibration_.slope


def test_later_fits_and_updates_discard_the_calibration(data, held):
    model = RankRLSCV([1.0, 10.0], solver="primal").fit(data)
    model.partial_fit(held.X, held.y, np.array([f"new {q}" for q in held.qid]))
    assert not hasattr(model, "calibration_")
    assert not hasattr(model, "left_out_scores_")
    model.fit(data).fit(data, eval_set=held)
    assert model.calibration_.source == "eval_set"
    assert not hasattr(model, "left_out_scores_")
    ranker = RankRLS().fit(data, eval_set=held)
    ranker.fit(data)
    assert not hasattr(ranker, "calibration_")


def test_an_interrupted_search_is_calibrated_on_the_folds_it_finished(data):
    def interrupt(progress):
        if progress.done >= 0.5:
            raise KeyboardInterrupt

    with config_context(on_interrupt="keep"), pytest.warns(UserWarning, match="2 of 4 folds"):
        model = RankSVMCV([0.01], cv=4, early_stopping=False).fit(data, on_progress=interrupt)
    missing = np.isnan(model.left_out_scores_)
    assert 0 < missing.sum() < data.n_rows
    kept = data.select(~missing)
    same(model.calibration_, expected(kept, model.left_out_scores_[~missing]))


def test_the_plot_shows_the_curve(model):
    figure = model.plot_calibration("How sure")
    (axes,) = figure.axes
    _, points = axes.lines[:2]
    assert np.allclose(points.get_ydata(), model.calibration_.observed)
    assert "How sure" in axes.get_title()


def test_a_calibration_reads_as_a_table(model):
    found = model.calibration_
    assert "leave-query-out" in repr(found)
    assert len(str(found).splitlines()) == 2 + len(found.predicted)
    assert found._repr_html_().count("<tr>") == 1 + len(found.predicted)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("signs", [False, True])
def test_stressed_data_has_the_probabilities_of_refits(kind, signs):
    X, y, qid = stressed(kind)
    settings = {"monotonic_cst": np.resize([1, 0, -1], X.shape[1])} if signs else {}
    model = RankRLSCV([0.1, 1.0, 10.0, 100.0], **settings).fit(X, y, qid)
    scores = np.empty(len(y))
    for query in np.unique(qid):
        held, rest = np.flatnonzero(qid == query), np.flatnonzero(qid != query)
        refitted = RankRLS(model.alpha_, **settings).fit(X[rest], y[rest], qid[rest])
        rows = dense(X)[held].astype(float)
        scores[held] = (rows - rows[0]) @ refitted.coef_
    refits = calibrate(scores, sample_judged_pairs(y, group_rows(qid, len(y)).query_of_row()), "")
    assert model.calibration_.slope == pytest.approx(refits.slope, rel=1e-4)
    assert np.isfinite(model.calibration_.slope_error)
    p = model.predict_preference_proba(X, [[0, 1], [1, 0]])
    assert p.sum() == pytest.approx(1.0)


def test_the_order_of_rows_offsets_of_labels_and_singletons_change_no_slope(data):
    rng = np.random.default_rng(0)
    rows = data.select(
        np.flatnonzero(rng.random(data.n_rows) < 0.4)
    )  # so few that all pairs are in the sample
    X, y, qid = rows.X, rows.y, rows.qid
    order, offset = rng.permutation(len(y)), rng.normal(size=rows.n_queries)[rows.queries.query_of_row()]
    added = np.vstack([X, X[:1]]), np.append(y, 9.0), np.append(qid, -1)
    expected = RankRLSCV([1.0]).fit(X, y, qid).calibration_.slope
    for other in ((X[order], y[order], qid[order]), (X, y + offset, qid), added):
        assert RankRLSCV([1.0]).fit(*other).calibration_.slope == pytest.approx(expected, rel=1e-6)


def test_weights_of_rows_count_in_the_models_and_not_in_the_calibration(data):
    weight = np.random.default_rng(0).integers(1, 4, data.n_rows)
    model = RankRLSCV([1.0]).fit(data, sample_weight=weight)
    same(model.calibration_, expected(data, model.left_out_scores_))
    assert not np.allclose(model.left_out_scores_, RankRLSCV([1.0]).fit(data).left_out_scores_)


def test_the_command_writes_the_probabilities_of_pairs(data, model, done, refused, tmp_path):
    rankwise.save_letor(data, tmp_path / "data.txt")
    model.save(tmp_path / "model")
    rankwise.save_pairs(PAIRS, tmp_path / "rows.pairs")
    command = ["predict", tmp_path / "data.txt", tmp_path / "model", "--pairs", tmp_path / "rows.pairs"]
    printed = [float(line) for line in done(*command).split()]
    assert printed == model.predict_preference_proba(data, PAIRS).tolist()
    assert "--trec cannot be used with --pairs" in refused(*command, "--trec", code=2)
    assert "refusing to overwrite" in refused(*command, "--out", tmp_path / "rows.pairs", code=2)
    RankRLS().fit(data).save(tmp_path / "model")
    assert "This RankRLS has no calibration" in refused(*command, code=1)


def test_info_describes_the_calibration(model, tmp_path):
    model.save(tmp_path / "model")
    shown = json.loads(rankwise_process("info", tmp_path / "model", "--json").stdout)
    assert shown["calibration"]["slope"] == model.calibration_.slope
    assert not any(name.startswith("calibration.") for name in shown)
