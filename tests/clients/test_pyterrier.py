"""Rankers in pipelines of PyTerrier, with Terrier itself, beside LGBMRanker and XGBRanker."""

import warnings

import numpy as np
import pytest

pt = pytest.importorskip("pyterrier", reason="python-terrier is not installed")
lightgbm = pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")

from films import FIELDS, films, topics_and_qrels  # noqa: E402

from rankwise import QueryWarning, RankingData, RankRLS, RankRLSCV, RankSVMCV  # noqa: E402
from rankwise.metrics import compare_runs, evaluate_run  # noqa: E402


@pytest.fixture(scope="module")
def search(tmp_path_factory, shared_data):
    """A pipeline of candidates with features, and topics and qrels in three parts."""
    folder = shared_data / "movies"
    documents = list(films(folder))
    known = {film["docno"]: [film["votes"], film["popularity"]] for film in documents}
    meta = {"docno": 20, "title": 256, "overview": 2048, "actors": 512}
    indexer = pt.terrier.IterDictIndexer(
        str(tmp_path_factory.mktemp("index")), text_attrs=list(FIELDS), meta=meta
    )
    index = pt.terrier.IndexFactory.of(indexer.index(iter(documents)))
    bm25 = pt.terrier.Retriever(index, wmodel="BM25", num_results=20)
    models = [pt.terrier.Retriever(index, wmodel=name) for name in ("PL2", "TF_IDF", "DPH")]
    of_query = pt.apply.doc_features(lambda row: np.array([row["score"]]))
    of_film = pt.apply.doc_features(lambda row: np.array(known[row["docno"]]))
    pipeline = bm25 >> (of_query ** models[0] ** models[1] ** models[2] ** of_film)
    topics, qrels = topics_and_qrels(folder, 500)
    parts = topics[:250], topics[250:300], topics[300:]
    return bm25, pipeline, parts, qrels


@pytest.fixture(scope="module")
def runs(search):
    """What each learner makes of the candidates of queries that none of them has seen."""
    bm25, features, (train, valid, test), qrels = search
    learners = {
        "RankRLSCV": RankRLSCV(measure="ndcg@10"),
        "RankSVMCV": RankSVMCV(measure="ndcg@10"),
        "LGBMRanker": lightgbm.LGBMRanker(n_estimators=50, verbose=-1, random_state=0, n_jobs=1),
        "XGBRanker": xgboost.XGBRanker(n_estimators=50, random_state=0, n_jobs=1),
    }
    candidates = {name: features(part) for name, part in (("train", train), ("valid", valid), ("test", test))}
    found = {"BM25": bm25(test)}
    for name, learner in learners.items():
        ranked = pt.ltr.apply_learned_model(learner, form="ltr")
        ranked.fit(candidates["train"], qrels, candidates["valid"], qrels)
        found[name] = ranked(candidates["test"])
    return found, candidates, learners


def test_rankers_learn_in_the_same_script_as_boosted_trees(search, runs):
    _, _, (_, _, test), qrels = search
    found, _, _ = runs
    judged = qrels[qrels["qid"].isin(test["qid"])]
    result = compare_runs(found, judged, ["nDCG@10", "AP(rel=1)"], baseline="BM25")
    print(result)
    for name in ("RankRLSCV", "RankSVMCV", "LGBMRanker"):
        assert result.means[name]["ndcg@10"] > result.means["BM25"]["ndcg@10"]


def test_evaluate_run_measures_as_the_experiment_of_pyterrier_does(search, runs):
    _, _, (_, _, test), qrels = search
    found, _, _ = runs
    judged = qrels[qrels["qid"].isin(test["qid"])]
    table = pt.Experiment(
        [found["RankRLSCV"]],
        test,
        judged,
        ["ndcg_cut_10", "map", "recip_rank", "Rprec", "bpref"],
        names=["rls"],
    )
    own = evaluate_run(found["RankRLSCV"], judged, ["ndcg@10", "map", "rr", "rprec", "bpref"], complete=True)
    expected = [table[name].item() for name in ("ndcg_cut_10", "map", "recip_rank", "Rprec", "bpref")]
    np.testing.assert_allclose(list(own.means.values()), expected, rtol=1e-6)


def test_the_pipeline_learns_what_fit_learns_of_the_same_rows(search, runs):
    _, _, _, qrels = search
    _, candidates, learners = runs
    rows = candidates["train"].merge(qrels, on=["qid", "docno"], how="left").fillna({"label": 0})
    data = RankingData.from_frame(rows, label="label", qid="qid", doc="docno", features="features")
    valid = candidates["valid"].merge(qrels, on=["qid", "docno"], how="left").fillna({"label": 0})
    held_out = RankingData.from_frame(valid, label="label", qid="qid", doc="docno", features="features")
    model = RankRLSCV(measure="ndcg@10").fit(data, eval_set=held_out)
    np.testing.assert_allclose(model.coef_, learners["RankRLSCV"].coef_, rtol=1e-6, atol=1e-9)
    assert len(learners["RankRLSCV"].feature_importances_) == data.n_features


def test_the_form_for_regression_passes_no_queries_and_a_warning_says_so(search, runs):
    _, _, _, qrels = search
    _, candidates, _ = runs
    with pytest.warns(QueryWarning, match="fit was given no qid"):
        pt.ltr.apply_learned_model(RankRLS()).fit(candidates["train"], qrels)
    rows = candidates["train"].merge(qrels, on=["qid", "docno"], how="left")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        given = pt.ltr.apply_learned_model(RankRLS(), fit_kwargs={"qid": rows["qid"].to_numpy()})
        given.fit(candidates["train"], qrels)
    data = RankingData.from_frame(rows.fillna({"label": 0}), label="label", qid="qid", features="features")
    np.testing.assert_allclose(given.learner.coef_, RankRLS().fit(data).coef_, rtol=1e-6, atol=1e-9)
