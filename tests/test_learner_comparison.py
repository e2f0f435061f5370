"""Learners of several libraries on the same folds of queries."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rankwise import (
    DataError,
    ParameterError,
    RankingData,
    RankRLS,
    RankRLSCV,
    compare_learners,
    make_search_data,
)
from rankwise.metrics import compare
from rankwise.trec import load_run

DATA = make_search_data(30, random_state=0)


def scores_by_hand(fit, data, cv):
    scores = np.empty(data.n_rows)
    for train, test in GroupKFold(cv).split(data.X, groups=data.qid):
        scores[test] = fit(train).predict(data.X[test])
    return scores


def test_scores_are_those_of_models_that_have_not_seen_the_query():
    X, y, qid = DATA.X, DATA.y, DATA.qid
    by_hand = {
        "rls": scores_by_hand(lambda rows: RankRLS().fit(X[rows], y[rows], qid[rows]), DATA, 4),
        "ridge": scores_by_hand(lambda rows: Ridge().fit(X[rows], y[rows]), DATA, 4),
        "feature": X[:, 1],
    }
    expected = compare(y, by_hand, qid, ["ndcg@10", "map"]).means
    learners = {"rls": RankRLS(), "ridge": Ridge(), "feature": DATA.feature_names[1]}
    found = compare_learners(DATA, learners, ["ndcg@10", "map"], cv=4)
    for name, means in expected.items():
        assert found.means[name] == pytest.approx(means, rel=1e-9)
    assert len(found.tests) == 6
    assert not hasattr(learners["rls"], "coef_")  # they are cloned


@pytest.mark.filterwarnings("ignore")
def test_boosted_trees_get_the_queries_in_their_own_form():
    """With rows in random order, groups would be wrong unless the rows are put together."""
    lightgbm, xgboost = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
    data = DATA.select(np.random.default_rng(0).permutation(DATA.n_rows))
    learners = {
        "lgbm": lightgbm.LGBMRanker(n_estimators=10, verbose=-1, n_jobs=1),
        "xgb": xgboost.XGBRanker(n_estimators=10, n_jobs=1),
        "random": "random",
    }
    means = compare_learners(data, learners, ["ndcg@10"], baseline="random").means
    for name in ("lgbm", "xgb"):
        assert means[name]["ndcg@10"] > means["random"]["ndcg@10"] + 0.1
    weighted = replace(data, sample_weight=np.ones(data.n_rows))  # XGBoost would take those of queries
    with pytest.raises(DataError, match="weights of rows, which XGBRanker does not take"):
        compare_learners(weighted, learners, ["ndcg@10"])


def test_values_of_queries_tests_a_table_and_runs_are_written(tmp_path):
    docs = [f"d{row}" for row in range(DATA.n_rows)]
    data = RankingData.from_arrays(DATA.X, DATA.y, DATA.qid, docs=docs)
    out = tmp_path / "out"
    found = compare_learners(data, {"rls": RankRLSCV([1.0]), "a ridge": Ridge()}, ["ndcg@10"], out=out)
    with (out / "queries.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    mean = np.mean([float(row["ndcg@10"]) for row in rows if row["learner"] == "rls" and row["ndcg@10"]])
    assert mean == pytest.approx(found.means["rls"]["ndcg@10"])
    assert sum(map(len, load_run(out / "a-ridge.run").values())) == data.n_rows
    assert "toprule" in (out / "table.tex").read_text(encoding="utf-8")
    assert len((out / "tests.csv").read_text(encoding="utf-8").splitlines()) == 2


def test_weights_of_the_data_are_learned_or_refused():
    weight = np.random.default_rng(0).integers(1, 9, DATA.n_rows).astype(float)
    data, X, y, qid = replace(DATA, sample_weight=weight), DATA.X, DATA.y, DATA.qid
    by_hand = {
        "rls": scores_by_hand(lambda r: RankRLS().fit(X[r], y[r], qid[r], sample_weight=weight[r]), DATA, 4),
        "ridge": scores_by_hand(lambda r: Ridge().fit(X[r], y[r], sample_weight=weight[r]), DATA, 4),
    }
    expected = compare(y, by_hand, qid, ["ndcg@10"]).means
    found = compare_learners(data, {"rls": RankRLS(), "ridge": Ridge()}, ["ndcg@10"], cv=4).means
    for name, means in expected.items():
        assert found[name] == pytest.approx(means, rel=1e-9)
    with pytest.raises(DataError, match="weights of rows, which Pipeline does not take"):
        compare_learners(data, {"rls": RankRLS(), "p": make_pipeline(StandardScaler(), Ridge())}, ["map"])


def test_what_cannot_be_compared_is_refused():
    both = {"a": RankRLS(), "b": Ridge()}
    with pytest.raises(DataError, match="leaves out queries, but the data has none"):
        compare_learners(RankingData.from_arrays(DATA.X, DATA.y), both)
    with pytest.raises(
        DataError, match="The learner 'b' is the feature 'bm25', which the data does not have"
    ):
        compare_learners(DATA, {"a": RankRLS(), "b": "bm25"})
    with pytest.raises(ParameterError, match="must have 'fit' and 'predict'"):
        compare_learners(DATA, {"a": RankRLS(), "b": StandardScaler()})
    with pytest.raises(
        ParameterError, match="'learners' parameter must contain at least two learners; got 1"
    ):
        compare_learners(DATA, {"a": "random"}, ["map"])


@pytest.mark.filterwarnings("ignore")
def test_a_pipeline_without_routing_sees_one_ranking():
    pipeline = make_pipeline(StandardScaler(), RankRLS())
    means = compare_learners(DATA, {"pipeline": pipeline, "rls": RankRLS()}, ["ndcg@10"]).means
    assert 0.5 < means["pipeline"]["ndcg@10"] <= 1.0
