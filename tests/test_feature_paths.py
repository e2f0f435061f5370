"""Models with few features: which are chosen, and how good they are said to be."""

import json

import numpy as np
import pytest
from sklearn.linear_model import lars_path
from sklearn.model_selection import GroupKFold

import rankwise
from command_line import done, folder, refused
from few_features import plain
from rankwise import DataError, ParameterError, RankRLSCV, RankRLSPath
from rankwise.errors import FileFormatError
from rankwise.metrics import get_measure
from rankwise.preferences.samples import sample_judged_pairs
from rankwise.selection.calibrating import calibrate
from rankwise.selection.feature_paths import Curve
from rankwise.tensor_file import read_tensors, write_tensors
from stressed import KINDS, pairs_of, stressed

__all__ = ["done", "folder", "refused"]  # fixtures


@pytest.mark.parametrize("method", ["greedy", "lasso"])
def test_every_size_is_rankrls_with_the_best_alpha_for_its_features(method):
    X, y, qid = plain()
    model = RankRLSPath(method, max_features=4, alphas=[0.1, 1.0, 10.0, 100.0], measure="ndcg@5").fit(
        X, y, qid
    )
    for k, coef in enumerate(model.coefs_):
        features = np.flatnonzero(coef)
        assert len(features) == k + 1
        chosen = RankRLSCV([0.1, 1.0, 10.0, 100.0], measure="ndcg@5").fit(
            np.ascontiguousarray(X[:, features]), y, qid
        )
        assert model.alphas_[k] == chosen.alpha_
        assert model.criterion_[k] == pytest.approx(chosen.best_score_)
        np.testing.assert_allclose(coef[features], chosen.coef_, rtol=1e-9)
    np.testing.assert_array_equal(model.coef_, model.coefs_[model.n_features_ - 1])


@pytest.mark.parametrize("method", ["greedy", "lasso"])
def test_scores_are_those_of_paths_followed_without_each_fold(method):
    X, y, qid = plain()
    settings = {"max_features": 3, "alphas": [0.1, 1.0, 10.0]}
    model = RankRLSPath(method, cv=GroupKFold(4), **settings).fit(X, y, qid)
    values = []
    for train, test in GroupKFold(4).split(X, y, qid):
        inner = RankRLSPath(method, cv=2, **settings).fit(X[train], y[train], qid[train])
        prepared = get_measure("pairwise_error").prepare(y[test], qid[test])
        values.append([prepared.per_query(X[test] @ coef) for coef in inner.coefs_])
    table = np.concatenate(values, axis=1)
    np.testing.assert_allclose(model.scores_, table.mean(axis=1))
    np.testing.assert_allclose(model.standard_errors_, table.std(axis=1, ddof=1) / np.sqrt(12))


def test_the_chosen_size_is_the_smallest_within_one_standard_error_of_the_best():
    rng = np.random.default_rng(0)
    hard, noise = rng.normal(size=(1, 100)), 0.1 * rng.normal(size=(4, 100))
    noise -= noise.mean(axis=1, keepdims=True)
    values = hard + np.array([[0.0], [0.995], [0.999], [1.0]]) + noise
    assert Curve(values, True).smallest() == 2
    assert Curve(-values, False).smallest() == 2
    assert Curve(values[::-1], True).smallest() == 1
    difference = values[1] - values[3]
    assert Curve(values, True).errors_of_difference[1] == pytest.approx(difference.std(ddof=1) / 10.0)


@pytest.mark.parametrize("n_queries", [3, 7, 10, 33, 100])
@pytest.mark.parametrize("gap", [0.1, 0.3, 0.7])
def test_a_size_that_is_worse_in_a_single_query_is_within_one_standard_error(n_queries, gap):
    """Mean and standard error of the difference are both ``gap / n``, whatever they are rounded to."""
    values = np.random.default_rng(n_queries).random((2, n_queries))
    values[0] = values[1] - gap * (np.arange(n_queries) == 1)
    assert Curve(values, True).smallest() == Curve(-values, False).smallest() == 1
    values[0, 2] -= 0.5 * gap
    assert Curve(values, True).smallest() == 2


def test_by_default_there_are_ten_sizes_at_most():
    rng = np.random.default_rng(0)
    X, y, qid = rng.normal(size=(60, 12)), rng.integers(0, 3, 60), np.arange(60) // 10
    assert len(RankRLSPath(alphas=[1.0]).fit(X, y, qid).coefs_) == 10


def test_few_useful_features_are_found_among_many():
    X, y, qid = plain(n_queries=40, n=20, noise=0.5)
    for method in ("greedy", "lasso"):
        model = RankRLSPath(method, max_features=6).fit(X, y, qid)
        assert set(np.flatnonzero(model.coefs_[1])) == {1, 3}
        assert 2 <= model.n_features_ <= 4


@pytest.mark.parametrize("costs", [None, [1.0, 20.0, 1.0, 1.0, 1.0, 1.0]])
def test_the_lasso_is_that_of_all_differences_brought_to_one_scale(costs):
    X, y, qid = plain()
    X[:, 2] *= 1e6
    model = RankRLSPath("lasso", max_features=6, feature_costs=costs).fit(X, y, qid)
    i, j = pairs_of(y, qid)
    D, t = (X[i] - X[j]) / np.sqrt(8.0), (y[i] - y[j]) / np.sqrt(8.0)
    penalty = np.linalg.norm(D, axis=0) * (1.0 if costs is None else np.array(costs))
    _, _, path = lars_path(D / penalty, t, method="lasso")
    for k, coef in enumerate(model.coefs_):
        supports = [set(np.flatnonzero(knot)) for knot in path.T]
        first = next(support for support in supports if len(support) == k + 1)
        assert set(np.flatnonzero(coef)) == first


def test_the_table_says_what_each_feature_adds_and_costs():
    X, y, qid = plain(noise=0.3)
    names = ["a", "price", "c", "rating", "e", "f"]
    data = rankwise.RankingData.from_arrays(X, y, qid, feature_names=names)
    model = RankRLSPath(max_features=2, feature_costs={"rating": 2.5}).fit(data)
    first, second = model.path_table()
    assert (first["feature"], first["cost"], first["total_cost"]) == ("price", 1.0, 1.0)
    assert (second["feature"], second["cost"], second["total_cost"]) == ("rating", 2.5, 3.5)
    assert second["adds"] == pytest.approx(first["score"] - second["score"])
    assert second["adds"] > 0.0


def test_another_size_can_be_selected_and_saved(tmp_path):
    X, y, qid = plain()
    model = RankRLSPath(max_features=3).fit(X, y, qid)
    for size in (3, 2, 1):
        assert model.select(size).alpha_ == model.alphas_[size - 1]
    assert model.n_features_ == 1
    model.save(tmp_path / "model")
    loaded = rankwise.load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.path_table()[1:] == model.path_table()[1:]
    assert loaded.calibration_.to_dict() == model.calibration_.to_dict()
    assert np.count_nonzero(loaded.select(3).coef_) == 3
    assert loaded.calibration_.to_dict() == model.select(3).calibration_.to_dict()
    with pytest.raises(ParameterError, match="at most 3 features; got n_features=4"):
        loaded.select(4)
    rankwise.export_model(loaded, tmp_path / "profile", "vespa", feature_names=list("abcdef"))
    assert (tmp_path / "profile").read_text(encoding="utf-8").count("*") == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda values: values.update(n_features_=4),
            "'n_features_' must be from 1 to 3, the number of sizes",
        ),
        (
            lambda values: values.update(n_features_=0),
            "'n_features_' must be from 1 to 3, the number of sizes",
        ),
        (lambda values: values.pop("calibration.2.source"), r"'calibration\.2\.source' is missing"),
        (lambda values: values.update({"calibration.2.slope": float("inf")}), "must be a finite number"),
        (lambda values: values.pop("calibration.2.slope"), "calibration.2"),
    ],
)
def test_a_damaged_path_is_refused(change, message, tmp_path):
    RankRLSPath(max_features=3).fit(*plain()).save(tmp_path / "model")
    header, tensors = read_tensors(tmp_path / "model")
    change(header["values"])
    write_tensors(tmp_path / "model", header, tensors)
    with pytest.raises(FileFormatError, match=message):
        rankwise.load_model(tmp_path / "model")


def test_a_path_can_be_plotted(tmp_path):
    model = RankRLSPath(max_features=3).fit(*plain())
    figure = model.plot("Few features")
    figure.savefig(tmp_path / "sizes.svg")
    assert [line.get_label() for line in figure.axes[0].lines][-1] == f"chosen: {model.n_features_}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["greedy", "lasso"])
def test_stressed_data_has_a_path(kind, method):
    X, y, qid = stressed(kind)
    model = RankRLSPath(method, max_features=3, cv=3).fit(X, y, qid)
    assert np.isfinite(model.coefs_).all()
    assert (np.count_nonzero(model.coefs_, axis=1) <= [1, 2, 3]).all()
    assert np.isfinite(model.scores_).all()
    assert all(np.isfinite([one.slope, one.slope_error]).all() for one in model.calibrations_.values())


@pytest.mark.parametrize("method", ["greedy", "lasso"])
def test_a_path_that_runs_out_of_features_keeps_its_last_model(method):
    X, y, qid = plain()
    X[:, [0, 2, 4, 5]] = 0.0
    model = RankRLSPath(method, max_features=4, cv=3).fit(X, y, qid)
    assert np.count_nonzero(model.coefs_, axis=1).tolist() == [1, 2, 2, 2]
    np.testing.assert_array_equal(model.coefs_[2:], model.coefs_[[1, 1]])
    np.testing.assert_array_equal(model.scores_[2:], model.scores_[[1, 1]])


@pytest.mark.parametrize("offset", [1e6, 1e9])
@pytest.mark.parametrize("method", ["greedy", "lasso"])
def test_features_far_from_zero_change_nothing(method, offset):
    X, y, qid = plain()
    X = np.round(X * 64.0) / 64.0  # which the offset leaves exact
    settings = {"max_features": 3, "alphas": [0.1, 1.0, 10.0], "measure": "ndcg@5"}
    near, far = (RankRLSPath(method, **settings).fit(rows, y, qid) for rows in (X, X + offset))
    np.testing.assert_allclose(far.coefs_, near.coefs_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(far.scores_, near.scores_, rtol=1e-12)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("method", ["greedy", "lasso"])
def test_the_order_of_rows_offsets_of_labels_and_singletons_change_nothing(method, seed):
    X, y, qid = plain(seed=seed)
    rng = np.random.default_rng(seed)
    order, offset = rng.permutation(len(y)), rng.integers(-3, 4, 12)[qid]
    settings = {"max_features": 4, "alphas": [0.1, 1.0, 10.0]}

    def path(X, y, qid):
        return RankRLSPath(method, **settings).fit(X, y, qid)

    expected = path(X, y, qid)
    for other in (path(X[order], y[order], qid[order]), path(X, y + offset, qid)):
        np.testing.assert_allclose(other.coefs_, expected.coefs_, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(other.scores_, expected.scores_, rtol=1e-12)
        assert other.calibration_.slope == pytest.approx(expected.calibration_.slope, rel=1e-6)
    alone = path(np.vstack([X, X[:2] + 1.0]), np.append(y, [9.0, 7.0]), np.append(qid, [77, 78]))
    np.testing.assert_allclose(alone.coefs_, expected.coefs_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(alone.criterion_, expected.criterion_, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_weight_two_is_the_row_twice_to_the_lasso(seed):
    X, y, qid = plain(seed=seed)
    weight = np.random.default_rng(seed).integers(1, 3, len(y))
    twice = np.repeat(np.arange(len(y)), weight)
    settings = {"method": "lasso", "max_features": 6, "alphas": [1.0]}  # the measure ignores weights
    weighted = RankRLSPath(**settings).fit(X, y, qid, sample_weight=weight)
    repeated = RankRLSPath(**settings).fit(X[twice], y[twice], qid[twice])
    np.testing.assert_allclose(weighted.coefs_, repeated.coefs_, rtol=1e-8, atol=1e-10)


def within(scores, qid):
    """The standard deviation of scores within queries."""
    means = np.array([scores[qid == query].mean() for query in qid])
    return (scores - means).std()


def test_every_size_is_calibrated_on_outer_folds_at_its_own_scale():
    X, y, qid = plain(n_queries=20)
    settings = {"max_features": 3, "alphas": [0.01, 1.0, 100.0]}
    model, left_out = RankRLSPath(cv=GroupKFold(4), **settings).fit(X, y, qid), np.empty((3, len(y)))
    for train, test in GroupKFold(4).split(X, y, qid):
        inner = RankRLSPath(cv=2, **settings).fit(X[train], y[train], qid[train])
        for size in range(3):
            own, all_rows = (
                within(X[train] @ inner.coefs_[size], qid[train]),
                within(X @ model.coefs_[size], qid),
            )
            left_out[size, test] = X[test] @ inner.coefs_[size] * (all_rows / own)
    for size in (1, 2, 3):
        expected = calibrate(left_out[size - 1], sample_judged_pairs(y, qid), "")
        found = model.select(size).calibration_
        assert found.slope == pytest.approx(expected.slope, rel=1e-6)
        assert found.source == "4 folds of queries"
        difference = np.diff(model.predict(X[[1, 0]]))
        assert model.predict_preference_proba(X, [[0, 1]]) == pytest.approx(found.probability(difference))


def test_the_probabilities_of_one_feature_do_not_depend_on_how_much_its_weight_is_shrunk():
    X, y, qid = plain()
    p = [
        RankRLSPath(max_features=1, alphas=[alpha]).fit(X, y, qid).predict_preference_proba(X, [[0, 1]])
        for alpha in (1e-3, 1e3)
    ]
    assert p[0] == pytest.approx(p[1])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_features": 7}, "'max_features' parameter must be at most the number of features, 6; got 7"),
        ({"max_features": 0}, "'max_features' parameter must be a whole number of at least 1"),
        ({"feature_costs": {"x1": -1.0}}, "feature_costs must be finite and above 0; got -1.0 for 'x1'"),
        ({"feature_costs": {"x1": 0}}, "feature_costs must be finite and above 0; got 0 for 'x1'"),
        ({"feature_costs": [1, 1, 1, 1, 1, np.nan]}, "must be finite and above 0; got nan for 'x5'"),
        ({"feature_costs": {"price": 2.0}}, "feature_costs names 'price', which is not a feature"),
        ({"feature_costs": [1.0]}, "one value per feature, 6 in all; got 1"),
        ({"method": "forward"}, "'method' parameter must be one of 'greedy', 'lasso'"),
        ({"alphas": [0.0, 1.0]}, "'alphas' parameter must hold finite numbers above 0"),
        ({"cv": 40}, "'cv' parameter must be between 2 and the number of queries, 12"),
        ({"cv": "leave-query-out"}, "'cv' parameter must be a number of folds or a splitter"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        RankRLSPath(**settings).fit(*plain())


def test_one_ranking_and_labels_without_pairs_are_refused():
    X, y, qid = plain()
    with (
        rankwise.config_context(one_ranking=True),
        pytest.raises(DataError, match="so it needs at least 3 queries; got 1"),
    ):
        RankRLSPath().fit(X, y)
    with pytest.raises(DataError, match="There is nothing to learn"):
        RankRLSPath().fit(X, np.ones(len(y)), qid)
    with pytest.raises(DataError, match="so it needs at least 3 queries; got 2"):
        RankRLSPath().fit(X, y, qid % 2)
    with pytest.raises(DataError, match="y should be a 1d array"):
        RankRLSPath().fit(X, np.column_stack([y, y]), qid)


def test_train_shows_what_each_feature_adds(done, refused, tmp_path):
    command = ["train", "train.txt.gz", tmp_path / "model", "--features-at-most", "3"]
    table = done(*command, "--feature-costs", "1=4,2=0.5")
    assert table.startswith("pairwise_error on 5 folds of queries")
    assert "chosen" in table
    assert "standard error" in table
    assert " by 5 folds of queries\nRankRLSPath on " in table
    found = json.loads(done(*command, "--json", "--measure", "map", "--set", "method=lasso"))
    assert len(found["path"]) == 3
    assert rankwise.load_model(tmp_path / "model").n_features_ == found["chosen"]
    assert "option --features-at-most must be at most the number of features, 22; got 30" in refused(
        *command[:-1], "30", code=2
    )
    assert "must be finite and above 0; got -4.0 for '1'" in refused(
        *command, "--feature-costs", "1=-4", code=2
    )
    few = "rankrls with few features has no option 'kernel'"
    assert few in refused(*command, "--set", "kernel=rbf", code=2)
    assert "RankRLSPath does not support --pairs." in refused(*command, "--pairs", "test.txt", code=2)
    found = json.loads(done(*command, "--json", "--validation", "test.txt"))
    assert found["cv"] == "5 folds of queries"
    assert set(found["validation"]) == {"pairwise_error", "ndcg@10", "map"}


def test_costs_alone_choose_features(done, tmp_path):
    found = json.loads(done("train", "test.txt", tmp_path / "model", "--feature-costs", "1=4", "--json"))
    assert found["class"] == "RankRLSPath"


def test_train_reports_on_few_features_and_info_lists_them_alone(done, tmp_path):
    page, model = tmp_path / "page.html", tmp_path / "model"
    done("train", "train.txt.gz", model, "--features-at-most", "2", "--report", page)
    assert '"added"' in page.read_text(encoding="utf-8")
    shown = json.loads(done("info", model, "--json"))
    assert shown["weights"] == len(shown["largest weights"]) <= 2
    assert shown["calibration"]["source"] == "5 folds of queries"
    assert not any("calibration." in name for name in shown)
