"""A forgotten or misplaced qid is questioned, and what to do about it is said."""

import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score

from noisy_ranking import noisy_ranking
from rankwise import (
    DataError,
    KernelRankRLS,
    KernelRankRLSCV,
    ParameterError,
    RankingData,
    RankRLS,
    RankRLSCV,
    RankSVM,
    RankSVMCV,
    RankSVMPath,
    config_context,
    rank_scorer,
    set_config,
)
from rankwise.errors import QueryWarning

# The project's settings ignore the warning that this file is about.
pytestmark = pytest.mark.filterwarnings("always:fit was given no qid")

RANKERS = [
    RankRLS(),
    RankSVM(),
    KernelRankRLS(),
    RankSVMPath(graph="reduced"),
    RankRLSCV([1.0]),
    RankSVMCV([0.1]),
    KernelRankRLSCV([1.0]),
]


@pytest.fixture
def data():
    return noisy_ranking(m=60, n=4, n_queries=6)


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_fit_without_qid_warns_unless_one_ranking_is_meant(ranker, data):
    X, y, qid = data
    with pytest.warns(QueryWarning, match=r"^fit was given no qid, so all 60 rows form one ranking\. Pass"):
        clone(ranker).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", QueryWarning)
        clone(ranker).fit(X, y, qid)
        clone(ranker).fit(RankingData.from_arrays(X, y))
        with config_context(one_ranking=True):
            clone(ranker).fit(X, y)


def test_one_ranking_can_be_said_once_for_the_process(data):
    X, y, _ = data
    set_config(one_ranking=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", QueryWarning)
            cross_val_score(RankRLS(), X, y, cv=3)
    finally:
        set_config(one_ranking=False)
    with pytest.raises(ParameterError, match="'one_ranking' parameter must be True or False; got 'yes'"):
        set_config(one_ranking="yes")


def test_the_warning_points_at_the_call_of_the_user(data):
    with pytest.warns(QueryWarning) as caught:
        RankRLS().fit(*data[:2])
    assert caught[0].filename == __file__


def test_groups_in_place_of_qid_are_noticed_and_the_advice_gives_the_truth(data):
    X, y, qid = data
    with pytest.warns(QueryWarning, match=r"params=\{'qid': qid\}.*enable_metadata_routing=True"):
        cross_val_score(RankRLS(), X, y, groups=qid, cv=GroupKFold(3))
    with sklearn.config_context(enable_metadata_routing=True), warnings.catch_warnings():
        warnings.simplefilter("error", QueryWarning)
        cv = GroupKFold(3).set_split_request(groups="qid")
        scores = cross_val_score(RankRLS(), X, y, cv=cv, params={"qid": qid})
        GridSearchCV(RankRLS(), {"alpha": [1.0, 10.0]}, cv=cv).fit(X, y, qid=qid)
    for part, score in zip(GroupKFold(3).split(X, y, qid), scores, strict=True):
        train, test = part
        model = RankRLS().fit(X[train], y[train], qid[train])
        assert model.score(X[test], y[test], qid[test]) == pytest.approx(score)


def test_grid_search_without_routing_warns_in_every_fit_of_one_ranking(data):
    X, y, _ = data
    with pytest.warns(QueryWarning):
        GridSearchCV(RankRLS(), {"alpha": [1.0, 10.0]}, cv=3).fit(X, y)


@pytest.mark.parametrize("routing", [False, True])
def test_permutation_importance_is_told_of_a_scorer_that_knows_the_queries(data, routing):
    X, y, qid = data
    model = RankRLS().fit(X, y, qid)
    with sklearn.config_context(enable_metadata_routing=routing):
        for scoring in (None, rank_scorer("ndcg@10")):
            with pytest.raises(DataError, match=r"permutation_importance, use scoring=.*with_qid\(qid\)"):
                permutation_importance(model, X, y, scoring=scoring)
        scorer = rank_scorer("pairwise_error").with_qid(qid)
        importance = permutation_importance(model, X, y, scoring=scorer, random_state=0)
    assert importance.importances_mean.argmax() == np.abs(model.coef_ * X.std(axis=0)).argmax()
    assert scorer(model, X, y) == rank_scorer("pairwise_error")(model, X, y, qid)


def test_weights_in_the_place_of_qid_are_questioned(data):
    X, y, qid = data
    rng = np.random.default_rng(0)
    with pytest.warns(QueryWarning, match=r"qid holds fractions such as 0\.\d+, which look like weights"):
        RankRLS().fit(X, y, np.round(rng.uniform(0.1, 0.9, len(y)), 1))
    with pytest.warns(QueryWarning, match=r"qid has 57 different labels for 60 rows"):
        RankRLS().fit(X, y, np.r_[[0, 0, 0], np.arange(57)])
    with warnings.catch_warnings():
        warnings.simplefilter("error", QueryWarning)
        RankRLS().fit(X, y, qid.astype(float))
        RankRLS().fit(X, y, np.arange(len(y)) // 2)


def test_pairs_need_no_qid_but_labels_beside_them_do(data):
    X, y, qid = data
    with warnings.catch_warnings():
        warnings.simplefilter("error", QueryWarning)
        RankRLS().fit_preferences(X, [[0, 1], [2, 3]])
        RankRLS().fit_preferences(X, [[0, 1], [2, 3]], y=y, qid=qid)
    with pytest.warns(QueryWarning):
        RankRLS().fit_preferences(X, [[0, 1], [2, 3]], y=y)
