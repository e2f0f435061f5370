"""success@k, R-precision, bpref, RBP and judged@k; names of ir_measures; measures that users define."""

import numpy as np
import pytest

import ranked_lists
from rankwise import RankRLSCV, make_search_data
from rankwise.cli.reading import split_list
from rankwise.errors import DataError, ParameterError
from rankwise.metrics import compare, compare_runs, evaluate, evaluate_run, get_measure


def r_precision(labels):
    n = sum(r >= 1 for r in labels)
    return sum(r >= 1 for r in labels[:n]) / n


def success(labels, k):
    return float(any(r >= 1 for r in labels[:k]))


def rank_biased(labels, k, p):
    return (1 - p) * sum(p**i for i, r in enumerate(labels[:k]) if r >= 1)


def binary_preference(labels):
    relevant, against = sum(r >= 1 for r in labels), sum(r == 0 for r in labels)
    value = 0.0
    for place, r in enumerate(labels):
        above = sum(other == 0 for other in labels[:place])
        if r >= 1:
            value += 1.0 - (min(above, relevant) / min(against, relevant) if above else 0.0)
    return value / relevant


DEFINED = {
    "rprec": r_precision,
    "bpref": binary_preference,
    "success@1": lambda labels: success(labels, 1),
    "success@3": lambda labels: success(labels, 3),
    "rbp": lambda labels: rank_biased(labels, None, 0.8),
    "rbp(p=0.5)@2": lambda labels: rank_biased(labels, 2, 0.5),
}


@pytest.mark.parametrize("name", DEFINED)
@pytest.mark.parametrize("seed", range(12))
def test_a_measure_is_the_mean_of_its_definition_over_the_orders_of_ties(name, seed):
    rng = np.random.default_rng(seed)
    y, scores = rng.integers(0, 3, 7), rng.integers(0, 3, 7)
    y[0] = 1
    expected = ranked_lists.mean_over_tie_orders(y, scores, DEFINED[name])
    assert get_measure(name)(y, scores) == pytest.approx(expected, rel=1e-12)


@pytest.fixture(scope="module")
def search():
    """A run and qrels with documents that only one of them has."""
    rng = np.random.default_rng(5)
    run, qrels = {}, {}
    for query in range(30):
        docs = [f"d{i:03d}" for i in range(25)]
        scores = rng.permutation(200)[:25] / 4.0
        run[str(query + 301)] = {
            doc: float(s) for doc, s in zip(docs, scores, strict=True) if rng.random() < 0.7
        }
        judged = {doc: int(rng.choice([0, 0, 1, 2])) for doc in docs if rng.random() < 0.6}
        qrels[str(query + 301)] = judged or {"d000": 1}
    qrels["303"] = dict.fromkeys(qrels["303"], 0)  # nothing is relevant
    qrels["304"] = dict.fromkeys(qrels["304"], 1)  # everything is
    return run, qrels


IR_NAMES = [
    *("Rprec", "Bpref", "Success@1", "Success@5", "Judged@5", "Judged@100", "Judged", "RBP(rel=1)"),
    *(
        "RBP(p=0.5,rel=2)",
        "AP(rel=2)",
        "AP(rel=2)@10",
        "P(rel=2)@5",
        "R(rel=2)@5",
        "RR(rel=2)",
        "Bpref(rel=2)",
    ),
    *(
        "Rprec(rel=2)",
        "Success(rel=2)@2",
        "nDCG@10",
        "nDCG(dcg='log2')@5",
        "nDCG(dcg='exp-log2')@5",
        "AP",
        "RR",
    ),
]


@pytest.mark.parametrize("name", IR_NAMES)
def test_names_of_ir_measures_mean_what_they_mean_there(search, name):
    ir_measures = pytest.importorskip("ir_measures")
    if name.startswith("RBP"):
        pytest.importorskip("cwl")
    run, qrels = search
    parsed = ir_measures.parse_measure(name)
    as_rows = [ir_measures.Qrel(q, doc, r) for q, docs in qrels.items() for doc, r in docs.items()]
    as_run = [ir_measures.ScoredDoc(q, doc, s) for q, docs in run.items() for doc, s in docs.items()]
    expected = {found.query_id: found.value for found in ir_measures.iter_calc([parsed], as_rows, as_run)}
    for measure in (name, parsed):
        result = evaluate_run(run, qrels, [measure])
        (values,) = [v for column, v in result.per_query.items() if column not in ("qid", "n_rows")]
        known = [expected.get(query, 0.0) for query in result.per_query["qid"]]
        np.testing.assert_allclose(values, known, rtol=1e-9, atol=1e-5 if "exp-log2" in name else 1e-12)


def test_words_are_part_of_the_name_and_are_read_again():
    for name, shown in [("AP(rel=2)@100", "map(rel=2)@100"), ("RBP( p = 0.90 , rel=2 )", "rbp(p=0.9,rel=2)")]:
        measure = get_measure(name)
        assert measure.name == shown
        assert get_measure(shown) == measure
    measures = ["AP", "AP(rel=2)", "nDCG(dcg=log2)@10", "ndcg@10"]
    assert list(evaluate([2, 1, 0], [1, 2, 3], None, measures).means) == [
        "map",
        "map(rel=2)",
        "ndcg(dcg=log2)@10",
        "ndcg@10",
    ]
    assert split_list("nDCG(dcg='log2',x=1)@5, AP") == ["nDCG(dcg='log2',x=1)@5", "AP"]


@pytest.mark.parametrize(
    "name, part",
    [
        ("AP(p=2)", "takes 'rel'"),
        ("AP(rel=x)", "must be a number; got 'x'"),
        ("AP(rel)", "takes 'rel'"),
        ("nDCG(dcg='wrong')@3", "'log2' or 'exp-log2'"),
        ("nDCG(judged_only=True)@3", "judged_only"),
        ("RBP(p=1)", "persistence"),
        ("pairwise_error(rel=1)", "takes no words"),
        ("Success", "requires a cutoff"),
        ("Rprec@5", "takes no cutoff"),
    ],
)
def test_words_that_mean_nothing_are_refused(name, part):
    with pytest.raises(ParameterError, match=part.replace("(", r"\(")):
        get_measure(name)


def test_relevant_is_for_names_without_rel():
    y, scores = [2, 1, 0, 1], [1, 4, 3, 2]
    result = evaluate(y, scores, None, ["map", "AP(rel=1)", get_measure("rr"), "p@1"], relevant=2)
    assert result.means["map"] == 0.25
    assert result.means["map(rel=1)"] == evaluate(y, scores, None, ["map"]).means["map"]
    assert (result.means["rr"], result.means["p@1"]) == (1.0, 0.0)


def test_labels_that_are_masked_were_not_judged():
    y = np.ma.masked_array([1.0, 5.0, 0.0, 1.0], [False, True, False, False])
    result = evaluate(y, [4, 3, 2, 1], None, ["judged@2", "judged@4", "bpref", "map", "p@2"])
    assert result.means["judged@2"] == 0.5
    assert result.means["judged@4"] == 0.75
    assert result.means["bpref"] == 0.5  # a judged irrelevant row is above one of the two relevant ones
    assert result.means["p@2"] == 0.5  # what was not judged counts as 0
    swapped = evaluate(y, [4, 1, 2, 3], None, ["bpref"]).means["bpref"]
    assert swapped == 1.0


def spread(labels, scores):
    return float(np.ptp(labels[np.argsort(-scores, kind="stable")][:2])) if len(labels) > 1 else np.nan


def test_a_function_of_one_query_is_a_measure():
    y, scores, qid = [2, 1, 0, 1, 0], [0.9, 0.8, 0.1, 0.2, 0.7], ["b", "b", "b", "a", "c"]
    result = evaluate(y, scores, qid, ["map", spread])
    assert result.per_query["spread"].tolist()[:1] == [1.0]
    assert result.left_out["spread"] == 2
    assert result.summaries[1].reason == "spread is undefined"
    assert evaluate(y, scores, qid, spread).means["spread"] == 1.0
    table = np.random.default_rng(0).normal(size=(6, 5))
    prepared = get_measure(spread).prepare(y, qid)
    np.testing.assert_array_equal(prepared.many(table), [prepared(row) for row in table])
    assert compare(y, {"one": scores, "other": y}, qid, [spread]).tests[0].measure == "spread"


def test_a_function_may_say_that_lower_is_better():
    def cost(labels, scores):
        return float(np.abs(labels - scores).sum())

    assert get_measure(cost).higher_is_better
    cost.higher_is_better = False
    assert not get_measure(cost).higher_is_better


def test_alpha_can_be_chosen_by_a_function():
    data = make_search_data(20, random_state=0)

    def first(labels, scores):
        return float(labels[scores.argmax()])

    own = RankRLSCV([0.1, 10.0], measure=first).fit(data)
    at_one = RankRLSCV([0.1, 10.0], measure=get_measure("ndcg@1", gain="linear")).fit(data)
    assert own.scores_.shape == at_one.scores_.shape
    assert np.isfinite(own.scores_).all()


@pytest.mark.parametrize(
    "returned, part",
    [("high", "must return a number"), (np.ones(2), "must return a number"), (None, "returned None")],
)
def test_a_function_must_return_a_number(returned, part):
    def wrong(labels, scores):
        return returned

    with pytest.raises(DataError, match=part):
        evaluate([1, 0], [1, 0], None, [wrong])
    with pytest.raises(DataError, match="NaN for the scores of query 0"):
        evaluate([1, 0], [0, 1], None, [lambda y, s: 1.0 if (y == s).all() else np.nan])


def test_runs_with_unjudged_documents_are_compared_by_bpref(search):
    run, qrels = search
    turned = {query: {doc: -score for doc, score in docs.items()} for query, docs in run.items()}
    means = compare_runs({"run": run, "turned": turned}, qrels, ["bpref", "judged@5"]).means
    assert means["run"] == evaluate_run(run, qrels, ["bpref", "judged@5"]).means
