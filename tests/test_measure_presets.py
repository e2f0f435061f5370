"""Each preset matches the tool it is named after on ties, empty queries and short lists."""

import warnings

import numpy as np
import pytest

from rankwise.metrics import get_measure


@pytest.fixture(scope="module")
def judged():
    """Consecutive queries of 1 to 30 rows, graded labels with empty queries, scores with many ties."""
    rng = np.random.default_rng(11)
    sizes = np.concatenate([[1, 1, 2, 3, 4], rng.integers(2, 30, 40)])
    qid = np.repeat(np.arange(len(sizes)), sizes)
    y = rng.choice([0, 0, 0, 1, 2, 3], len(qid)).astype(float)
    y[np.isin(qid, [1, 3, 10, 20])] = 0.0
    scores = rng.integers(0, 8, len(qid)).astype(float) / 4.0  # exact in 32 bits
    docs = np.array([f"d{i:04d}" for i in rng.permutation(len(qid))])
    return {"y": y, "scores": scores, "qid": qid, "sizes": sizes, "docs": docs}


def by_query(judged, column, q):
    return judged[column][judged["qid"] == q]


def test_the_data_has_ties_empty_queries_and_short_lists(judged):
    n_queries = len(judged["sizes"])
    assert any(not by_query(judged, "y", q).any() for q in range(n_queries))
    assert any(len(set(by_query(judged, "scores", q))) < judged["sizes"][q] for q in range(n_queries))
    assert judged["sizes"].min() == 1


@pytest.mark.parametrize(
    "name, theirs",
    [
        ("ndcg", "nDCG"),
        ("ndcg@5", "nDCG@5"),
        ("map", "AP"),
        ("map@5", "AP@5"),
        ("p@5", "P@5"),
        ("rr", "RR"),
        ("recall@5", "R@5"),
    ],
)
def test_trec_equals_ir_measures(judged, name, theirs):
    ir_measures = pytest.importorskip("ir_measures")
    rows = list(zip(judged["qid"].astype(str), judged["docs"], judged["y"], judged["scores"], strict=True))
    qrels = [ir_measures.Qrel(q, doc, int(label)) for q, doc, label, _ in rows]
    run = [ir_measures.ScoredDoc(q, doc, float(score)) for q, doc, _, score in rows]
    parsed = ir_measures.parse_measure(theirs)
    expected = {m.query_id: m.value for m in ir_measures.iter_calc([parsed], qrels, run)}
    ours = get_measure(name, preset="trec").prepare(judged["y"], judged["qid"], docs=judged["docs"])
    values = ours.per_query(judged["scores"])
    np.testing.assert_allclose(values, [expected[str(q)] for q in range(len(values))], rtol=1e-9)
    aggregate = ir_measures.calc_aggregate([parsed], qrels, run)[parsed]
    assert ours(judged["scores"]) == pytest.approx(aggregate, rel=1e-9)


@pytest.mark.parametrize("k", [None, 1, 5])
def test_sklearn_equals_ndcg_score(judged, k):
    from sklearn.metrics import ndcg_score

    values = get_measure("ndcg" if k is None else f"ndcg@{k}", preset="sklearn").per_query(
        judged["y"], judged["scores"], judged["qid"]
    )
    for q in np.flatnonzero(judged["sizes"] > 1):  # ndcg_score rejects single rows
        expected = ndcg_score([by_query(judged, "y", q)], [by_query(judged, "scores", q)], k=k)
        assert values[q] == pytest.approx(expected, rel=1e-12)


def test_sklearn_equals_average_precision_score(judged):
    from sklearn.metrics import average_precision_score

    values = get_measure("map", preset="sklearn").per_query(judged["y"], judged["scores"], judged["qid"])
    for q in range(len(values)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about queries without relevant rows
            expected = average_precision_score(by_query(judged, "y", q) >= 1, by_query(judged, "scores", q))
        assert values[q] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("k", [1, 3, 10])
@pytest.mark.parametrize("kind", ["ndcg", "map"])
def test_lightgbm_equals_its_evaluation(judged, kind, k):
    lightgbm = pytest.importorskip("lightgbm")
    options = {"objective": "lambdarank", "metric": kind, "eval_at": [k], "verbosity": -1, "num_threads": 1}
    X = np.arange(len(judged["y"]), dtype=float)[:, None]
    data = lightgbm.Dataset(
        X, judged["y"], group=judged["sizes"], init_score=judged["scores"], params={"verbosity": -1}
    )
    # A model without trees scores rows by init_score.
    booster = lightgbm.Booster(options, data)
    ((_, name, expected, _),) = booster.eval_train()
    assert name == f"{kind}@{k}"
    ours = get_measure(name, preset="lightgbm")(judged["y"], judged["scores"], judged["qid"])
    assert ours == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("kind, theirs", [("ndcg", "ndcg"), ("map", "map"), ("p", "pre")])
@pytest.mark.parametrize("k", [1, 3, 10])
def test_xgboost_equals_its_evaluation(judged, kind, theirs, k):
    xgboost = pytest.importorskip("xgboost")
    labels = judged["y"] if kind == "ndcg" else (judged["y"] >= 1).astype(float)
    data = xgboost.DMatrix(
        np.zeros((len(labels), 1)), labels, qid=judged["qid"], base_margin=judged["scores"]
    )
    options = {"objective": "rank:ndcg", "eval_metric": f"{theirs}@{k}", "nthread": 1}
    booster = xgboost.train(options, data, num_boost_round=0)
    expected = float(booster.eval(data).rpartition(":")[2])
    ours = get_measure(f"{kind}@{k}", preset="xgboost")(labels, judged["scores"], judged["qid"])
    assert ours == pytest.approx(expected, abs=1e-6)  # 32 bits
