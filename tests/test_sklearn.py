"""Rankers are scikit-learn estimators: its own checks, pipelines, searches and metadata routing."""

import locale
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import _num_samples

from rankwise import (
    ColumnEncoder,
    DataError,
    KernelRankRLS,
    KernelRankRLSCV,
    QueryMinMaxScaler,
    RankRLS,
    RankRLSCV,
    RankRLSPath,
    RankSVM,
    RankSVMCV,
    rank_scorer,
)
from rankwise.metrics import ndcg, pairwise_error

FEW = (0.1, 10.0)
WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


class PathOnDealtRows(RankRLSPath):
    """Scikit-learn's checks know no queries, without which no features can be chosen."""

    def fit(self, X, y=None, qid=None, sample_weight=None):
        n = _num_samples(X)
        super().fit(X, y, np.random.default_rng(0).permutation(n) % 4 if qid is None else qid, sample_weight)
        origin = replace(self.model_.origin, fitted_with_qid=qid is not None)
        self.model_ = replace(self.model_, origin=origin)
        return self


def expected_failures(estimator):
    if isinstance(estimator, PathOnDealtRows):
        few = ("check_estimators_nan_inf", "check_fit2d_1feature")
        return {
            **dict.fromkeys(WEIGHTS, "the query of a row depends on how many rows there are"),
            **dict.fromkeys(few, "so few rows have no different labels once a query is left out"),
        }
    if estimator.get_params().get("columns") is not None:
        return dict.fromkeys(WEIGHTS, "what columns become does not depend on weights")
    if estimator.get_params().get("basis") is not None:
        return dict.fromkeys(WEIGHTS, "which row is the basis depends on how many rows there are")
    if estimator.get_params().get("kernel") == "precomputed":
        names = ("check_positive_only_tag_during_fit", "check_estimators_dtypes")
        return dict.fromkeys(names, "it passes a matrix that is not positive semi-definite")
    return {}


@parametrize_with_checks(
    [
        RankRLS(),
        RankRLS(solver="dual"),
        RankRLS(ties="drop"),
        RankRLS(columns="auto"),
        ColumnEncoder(),
        ColumnEncoder("spline"),
        KernelRankRLS(),
        KernelRankRLS(kernel="linear", basis=1, random_state=0),
        KernelRankRLS(kernel="precomputed"),
        RankRLSCV(FEW),
        RankRLSCV(FEW, columns="spline"),
        KernelRankRLSCV(FEW),
        RankSVM(),
        RankSVM(columns="spline"),
        RankSVM(loss="squared_hinge"),
        RankSVMCV(FEW),
        RankSVMCV(FEW, loss="squared_hinge"),
        PathOnDealtRows(alphas=FEW, cv=2, max_features=1),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(120, 4)), np.repeat(np.arange(12), 10)
    y = np.digitize(X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=120), [-1, 0, 1]).astype(float)
    order = rng.permutation(120)
    return X[order], y[order], qid[order]


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_grid_search_over_a_pipeline_routes_qid_to_fit_score_and_split(data):
    X, y, qid = data
    pipeline = make_pipeline(StandardScaler(), RankRLS())
    grid = {"rankrls__alpha": [0.1, 1000.0], "rankrls__ties": ["keep", "drop"]}
    cv = GroupKFold(3).set_split_request(groups="qid")
    search = GridSearchCV(pipeline, grid, cv=cv, scoring=rank_scorer("ndcg@5")).fit(X, y, qid=qid)
    expected = []
    for train, test in GroupKFold(3).split(X, y, qid):
        model = make_pipeline(StandardScaler(), RankRLS(alpha=0.1)).fit(X[train], y[train], qid=qid[train])
        expected.append(ndcg(y[test], model.predict(X[test]), qid[test], k=5))
    np.testing.assert_allclose(search.cv_results_["mean_test_score"][0], np.mean(expected))


@pytest.mark.usefixtures("routing")
def test_cross_val_score_uses_the_rankers_own_score_within_queries(data):
    X, y, qid = data
    cv = GroupKFold(3).set_split_request(groups="qid")
    scores = cross_val_score(KernelRankRLS(), X, y, cv=cv, params={"qid": qid})
    for value, (train, test) in zip(scores, GroupKFold(3).split(X, y, qid), strict=True):
        model = KernelRankRLS().fit(X[train], y[train], qid[train])
        assert value == pytest.approx(1 - pairwise_error(y[test], model.predict(X[test]), qid[test]))


@pytest.mark.usefixtures("routing")
def test_errors_are_negated_for_scikit_learn_and_the_cv_estimators_can_be_nested(data):
    X, y, qid = data
    cv = GroupKFold(3).set_split_request(groups="qid")
    scoring = {"error": rank_scorer("pairwise_error"), "tau": rank_scorer("kendall_tau_b")}
    results = cross_validate(RankRLSCV(FEW), X, y, cv=cv, scoring=scoring, params={"qid": qid})
    assert (results["test_error"] < 0).all()
    assert (results["test_tau"] > 0).all()


@pytest.mark.usefixtures("routing")
def test_a_pipeline_with_per_query_scaling_predicts_with_qid(data):
    X, y, qid = data
    pipeline = make_pipeline(QueryMinMaxScaler(), RankRLS()).fit(X, y, qid=qid)
    scaled = QueryMinMaxScaler().fit_transform(X, qid=qid)
    np.testing.assert_allclose(pipeline.predict(X, qid=qid), RankRLS().fit(scaled, y, qid).predict(scaled))


@pytest.mark.usefixtures("routing")
def test_a_pipeline_is_scored_with_qid_and_weights(data):
    X, y, qid = data
    pipeline = make_pipeline(StandardScaler(), RankRLS()).fit(X, y, qid=qid)
    scores = pipeline.predict(X)
    assert pipeline.score(X, y, qid=qid) == pytest.approx(1 - pairwise_error(y, scores, qid))
    weight = np.arange(1.0, len(y) + 1)
    expected = 1 - pairwise_error(y, scores, qid, sample_weight=weight)
    assert pipeline.score(X, y, qid=qid, sample_weight=weight) == pytest.approx(expected)


def test_rows_that_have_no_value_are_not_scored(data):
    X, y, qid = data
    model = RankRLS().fit(X, y, qid)
    for score in (model.score, partial(rank_scorer("ndcg@10"), model)):
        with pytest.raises(DataError, match="is undefined on these rows: no "):
            score(X, np.zeros(len(y)), qid)


def test_scoring_without_qid_what_was_fitted_with_qid_raises(data):
    X, y, qid = data
    model = RankRLS().fit(X, y, qid)
    with pytest.raises(DataError, match="RankRLS was fitted with qid and cannot be scored without one"):
        model.score(X, y)
    with pytest.raises(DataError, match="enable_metadata_routing"):
        rank_scorer("ndcg")(make_pipeline(StandardScaler(), RankRLS()).fit(X, y, rankrls__qid=qid), X, y)
    # Without queries, there is no qid to pass.
    assert 0.5 < RankRLS().fit(X, y).score(X, y) < 1.0
    assert model.score(X, y, qid) == pytest.approx(1 - pairwise_error(y, model.predict(X), qid))


def test_without_routing_grid_search_needs_no_qid_but_never_drops_one_silently(data):
    X, y, qid = data
    search = GridSearchCV(RankRLS(), {"alpha": [0.1, 10.0]}, cv=3).fit(X, y)
    assert search.best_estimator_.coef_.shape == (4,)
    with pytest.raises(DataError, match="cannot be scored without one"):
        GridSearchCV(RankRLS(), {"alpha": [0.1]}, cv=3, error_score="raise").fit(X, y, qid=qid)


def test_names_outputs_and_representations_are_scikit_learns(data):
    pandas = pytest.importorskip("pandas")
    X, y, qid = data
    frame = pandas.DataFrame(X, columns=list("abcd"))
    pipeline = make_pipeline(StandardScaler(), RankRLS()).set_output(transform="pandas")
    pipeline.fit(frame, y, rankrls__qid=qid)
    assert pipeline[-1].feature_names_in_.tolist() == list("abcd")
    if locale.getencoding().lower() == "utf-8":  # in which scikit-learn reads its scripts
        assert "RankRLS" in pipeline._repr_html_()
    assert repr(clone(RankRLSCV(FEW, ties=("keep", "drop")))).startswith("RankRLSCV(")
    with pytest.raises(ValueError, match="feature names should match"):
        pipeline[-1].predict(frame[list("dcba")])
