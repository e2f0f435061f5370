"""TREC runs and qrels: files, and measures as trec_eval computes them, aligned by query and document."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwise
from rankwise.errors import DataError, FileFormatError, ParameterError
from rankwise.metrics import compare_runs, evaluate, evaluate_run

MEASURES = {"ndcg@5": "ndcg_cut_5", "ndcg": "ndcg", "map": "map", "p@5": "P_5", "rr": "recip_rank"}
MEASURES |= {"recall@5": "recall_5", "map@10": "map_cut_10"}


def judged_and_retrieved(seed, n_queries=25):
    """Runs and qrels that overlap in part, with ties, empty queries and queries of one side only."""
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for q in range(n_queries):
        docs = [f"d{number}" for number in rng.permutation(40)]
        judged, retrieved = rng.integers(1, 25), rng.integers(1, 25)
        start = rng.integers(0, 15)
        grades = rng.choice([-1, 0, 0, 0, 1, 2, 3], judged) * (q % 6 > 0)
        qrels[f"q{q}"] = dict(zip(docs[:judged], grades.tolist(), strict=True))
        scores = rng.integers(-6, 6, retrieved) / 4.0  # exact in single precision
        run[f"q{q}"] = dict(zip(docs[start : start + retrieved], scores.tolist(), strict=True))
    del run["q3"], qrels["q7"]
    return qrels, run


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("seed", range(3))
def test_a_run_is_measured_as_trec_eval_measures_it(name, seed):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = judged_and_retrieved(seed)
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {MEASURES[name]}).evaluate(run)
    found = evaluate_run(run, qrels, [name])
    values = dict(zip(found.per_query["qid"].tolist(), found.per_query[name].tolist(), strict=True))
    assert values == pytest.approx(
        {qid: next(iter(value.values())) for qid, value in theirs.items()}, rel=1e-6
    )


def test_complete_counts_judged_queries_that_the_run_lacks():
    ir_measures = pytest.importorskip("ir_measures")
    qrels, run = judged_and_retrieved(4)
    measure = ir_measures.parse_measure("AP")
    expected = ir_measures.calc_aggregate([measure], qrels, run)[measure]
    assert evaluate_run(run, qrels, "map", complete=True).means["map"] == pytest.approx(expected, rel=1e-9)
    assert evaluate_run(run, qrels, "map").means["map"] > expected


def test_unjudged_documents_take_places_and_unretrieved_ones_count_in_the_ideal():
    run = {"a": {"x": 3.0, "r": 2.0, "n": 1.0}}
    qrels = {"a": {"r": 1, "n": 0, "missed": 1}}
    means = evaluate_run(run, qrels, ["map", "rr", "recall@3", "p@2", "ndcg", "pairwise_error"]).means
    discounts = 1 / np.log2([2, 3])
    # r before n is right; r before the unjudged x, missed before n and missed before x are wrong.
    assert means == pytest.approx(
        {
            "map": 0.25,
            "rr": 0.5,
            "recall@3": 0.5,
            "p@2": 0.5,
            "ndcg": discounts[1] / discounts.sum(),
            "pairwise_error": 0.75,
        }
    )


def test_equal_scores_are_broken_by_name_whatever_the_order_of_the_lines():
    qrels = {"a": {"d1": 1}}
    for names in (("d1", "d2"), ("d2", "d1")):
        assert evaluate_run(dict.fromkeys("a", dict.fromkeys(names, 1.0)), qrels, "rr").means["rr"] == 0.5
    assert evaluate_run({"a": {"d1": 1.0, "d0": 1.0}}, qrels, "rr").means["rr"] == 1.0


def test_a_run_that_retrieves_every_row_is_measured_as_the_rows_are():
    data = rankwise.make_search_data(20, random_state=1)
    scores = np.round(data.X[:, 0], 1)
    run, qrels = rankwise.trec.run_from_scores(data, scores), rankwise.trec.qrels_from_data(data)
    measures = ["ndcg@5", "map", "rr", "recall@3", "err", "pairwise_error", "mean_ndcg"]
    by_row = evaluate(data.y, scores, data.qid, measures, preset="trec", docs=data.docs)
    assert evaluate_run(run, qrels, measures).means == by_row.means


def test_runs_are_compared_on_the_judged_queries_of_any_of_them():
    qrels, run = judged_and_retrieved(5)
    reversed_run = {qid: {doc: -score for doc, score in docs.items()} for qid, docs in run.items()}
    del reversed_run["q1"]
    found = compare_runs({"run": run, "reversed": reversed_run}, qrels, ["map", "p@5"])
    assert found.means["run"]["map"] == evaluate_run(run, qrels, "map").means["map"]
    n_compared = len(qrels.keys() & run.keys())
    assert [t.n_better + t.n_worse + t.n_equal for t in found.tests] == [n_compared] * 2
    without = reversed_run | {"q1": {}}
    same = compare_runs({"run": run, "reversed": without}, qrels, ["map", "p@5"])
    assert same.means == found.means
    assert same.tests == found.tests


names = st.text(st.characters(categories=("L", "N", "P")), min_size=1, max_size=5)
by_name = lambda values: st.dictionaries(  # noqa: E731
    names, st.dictionaries(names, values, min_size=1, max_size=5), min_size=1, max_size=4
)


@given(by_name(st.floats(allow_nan=False, allow_infinity=False)), by_name(st.integers(-5, 10)))
def test_files_are_read_as_they_were_written(tmp_path_factory, run, qrels):
    folder = tmp_path_factory.mktemp("trec")
    rankwise.trec.save_run(run, folder / "run.txt.gz", tag="test")
    rankwise.trec.save_qrels(qrels, folder / "qrels.txt")
    assert rankwise.trec.load_run(folder / "run.txt.gz") == run
    assert rankwise.trec.load_qrels(folder / "qrels.txt") == qrels


def test_a_written_run_is_ranked_as_trec_eval_ranks_it(tmp_path):
    rankwise.trec.save_run({"1": {"a": 0.5, "c": 0.5, "b": 0.5, "z": 0.25, "y": 1.0}}, tmp_path / "run")
    lines = [line.split() for line in (tmp_path / "run").read_text(encoding="utf-8").splitlines()]
    assert [(fields[2], int(fields[3])) for fields in lines] == [
        *[("y", 1), ("c", 2), ("b", 3), ("a", 4), ("z", 5)]
    ]


def test_windows_lines_tabs_blank_lines_and_a_byte_order_mark_are_read(text):
    path = text(b"\xef\xbb\xbf1 Q0 d1 1 0.5 t\r\n\r\n1\tQ0\td2\t2\t-1e-3\tt", "run")
    assert rankwise.trec.load_run(path) == {"1": {"d1": 0.5, "d2": -0.001}}


@pytest.mark.parametrize(
    "load, content, sentence",
    [
        ("run", "1 Q0 d1 1 0.5\n", r"line 1: expected 6 fields, 'qid Q0 doc rank score tag'; found 5\."),
        (
            "run",
            "1 Q0 d 1 0.5 t\n1 Q0 e 2 high t\n",
            "line 2: the field 'score' must be a finite numb",
        ),
        ("run", "1 Q0 d 1 nan t\n", "line 1: the field 'score' must be a finite number; got 'nan'"),
        ("run", "1 Q0 d 1 1_0 t\n", "line 1: the field 'score' must be a finite number; got '1_0'"),
        (
            "run",
            "1 Q0 d 1 2 t\n\n1 Q0 d 2 1 t\n",
            "line 3: the query '1' contains the document 'd' more than",
        ),
        ("run", "\n", "the file is empty; expected lines of 'qid Q0 doc rank score tag'"),
        ("qrels", "1 0 d\n", r"line 1: expected 4 fields, 'qid 0 doc relevance'; found 3\."),
        ("qrels", "1 Q0 d 1 0.5 t\n", r"line 1: expected 4 fields, 'qid 0 doc relevance'; found 6\."),
        ("qrels", "1 0 d 1.5\n", "line 1: the field 'relevance' must be a whole number; got '1.5'"),
        ("qrels", "1 0 d L1\n", "line 1: the field 'relevance' must be a whole number; got 'L1'"),
        ("qrels", "1 0 d 1\n1 0 d 1\n", "line 2: the query '1' contains the document 'd' more than once"),
    ],
)
def test_a_bad_line_gets_one_sentence_with_its_number(text, load, content, sentence):
    with pytest.raises(FileFormatError, match=sentence):
        getattr(rankwise, f"load_{load}")(text(content, load))


@pytest.mark.parametrize(
    "call, error, sentence",
    [
        (
            lambda: evaluate_run({"301": {"d": 1.0}}, {"1": {"d": 1}, "2": {"d": 1}}),
            DataError,
            "share no query: the run has '301', the qrels '1', '2'",
        ),
        (
            lambda: evaluate_run({qid: {"d": 1.0} for qid in "abc"}, {qid: {"d": 1} for qid in "1234"}),
            DataError,
            r"the run has 'a', 'b', 'c', the qrels '1', '2', '3', \.\.\.\.$",
        ),
        (lambda: evaluate_run({}, {"1": {"d": 1}}), DataError, "share no query: the run has none"),
        (
            lambda: evaluate_run({"1": {"d": np.nan}}, {"1": {"d": 1}}),
            DataError,
            "'d' of query '1' has the sco",
        ),
        (
            lambda: evaluate_run([("1", "d", 1)], {"1": {"d": 1}}),
            ParameterError,
            "The run must be a dict of di",
        ),
        (lambda: compare_runs({"a": {}, "b": 1}, {}), ParameterError, "The run 'b' must be a dict of dicts"),
        (lambda: rankwise.trec.save_run({"a b": {"d": 1.0}}, "run"), DataError, "got the query 'a b'"),
        (lambda: rankwise.trec.save_run({"a": {"": 1.0}}, "run"), DataError, "got the document ''"),
        (lambda: rankwise.trec.save_run({"a": {"d": np.inf}}, "run"), DataError, "has the score inf"),
        (
            lambda: rankwise.trec.save_qrels({"a": {"d": 0.5}}, "qrels"),
            DataError,
            "Qrels hold whole numbers, but",
        ),
    ],
)
def test_a_mistake_gets_one_sentence(call, error, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=sentence):
        call()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({"docs": None}, "the data has no document labels"),
        ({"docs": ["d", "d"]}, "The query '1' of the data contains the document 'd' 2 times"),
        ({"y": [0.5, 1]}, "Qrels hold whole numbers, but row 0 has the label 0.5"),
    ],
)
def test_data_that_cannot_be_qrels_is_refused(options, sentence):
    data = rankwise.RankingData.from_arrays([[1.0], [2.0]], **{"y": [1, 0], "docs": ["d", "e"]} | options)
    with pytest.raises(DataError, match=sentence):
        rankwise.trec.qrels_from_data(data)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(
    "of_run, of_qrels",
    [
        (("qid", "docno", "score"), ("qid", "docno", "label")),
        (("query_id", "doc_id", "score"), ("query_id", "doc_id", "relevance")),
    ],
)
def test_frames_of_pyterrier_and_ir_measures_are_runs_and_qrels(library, of_run, of_qrels):
    DataFrame = pytest.importorskip(library).DataFrame
    run, qrels = {"301": {"d7": 12.5, "d3": 11.0}}, {"301": {"d3": 1, "d9": 2}, "302": {"d1": 1}}

    def frame(by_name, names):
        rows = [(int(q), doc, value) for q, docs in by_name.items() for doc, value in docs.items()]
        return DataFrame(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))

    as_frames = frame(run, of_run), frame(qrels, of_qrels)
    for complete in (False, True):
        expected = evaluate_run(run, qrels, complete=complete)
        assert evaluate_run(*as_frames, complete=complete).means == expected.means
    both = {"one": as_frames[0], "other": as_frames[0]}
    assert compare_runs(both, as_frames[1], ["map"]).means["one"] == evaluate_run(run, qrels, ["map"]).means
    with pytest.raises(DataError, match=r"The run: The frame needs a column 'score'"):
        evaluate_run(as_frames[1], as_frames[1])
    twice = frame({"301": {"d7": 1.0}}, of_run)
    doubled = type(twice)({name: list(twice[name]) * 2 for name in of_run})
    with pytest.raises(DataError, match="'d7' more than once"):
        evaluate_run(doubled, as_frames[1])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_column_of_vectors_is_a_matrix(library):
    DataFrame = pytest.importorskip(library).DataFrame
    vectors = [np.array([1.0, 2.0]), np.array([3.0, 4.0]), np.array([5.0, 6.0])]
    given = {"qid": ["a", "a", "b"], "label": [1, 0, 1]}
    how = {"label": "label", "qid": "qid", "features": "features"}
    data = rankwise.RankingData.from_frame(DataFrame(given | {"features": vectors}), **how)
    np.testing.assert_array_equal(data.X, vectors)
    for odd, part in [(np.array([1.0]), "row 1 has 1 numbers"), ("x", "row 1 has 'x'")]:
        if library == "polars" and odd == "x":
            continue
        wrong = DataFrame(given | {"features": [vectors[0], odd, vectors[2]]})
        with pytest.raises(DataError, match=part):
            rankwise.RankingData.from_frame(wrong, **how)
    with pytest.raises(DataError, match="vectors of one length"):
        rankwise.RankingData.from_frame(DataFrame(given | {"features": [1, 2, 3]}), **how)
