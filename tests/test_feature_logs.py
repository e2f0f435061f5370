"""Feature logs of search engines, joined to judgments."""

import json
import warnings

import numpy as np
import pytest

import rankwise
from command_line import done, folder, refused
from rankwise import load_feature_log
from rankwise.errors import FileFormatError, ParameterError

__all__ = ["done", "folder", "refused"]  # fixtures

QRELS = {"rambo": {"7555": 4, "1370": 3}, "40": {"7555": 0, "9": 1}}


def hit(doc, **features):
    """A hit of Elasticsearch or OpenSearch; a feature that did not match has no value."""
    entries = [
        {"name": name} | ({} if value is None else {"value": value}) for name, value in features.items()
    ]
    return {
        "_index": "tmdb",
        "_id": doc,
        "_score": 20.291,
        "_source": {"title": "Rambo", "sku": f"s{doc}"},
        "fields": {"_ltrlog": [{"log_entry1": entries}]},
        "matched_queries": ["logged_featureset"],
    }


def elasticsearch(*hits, **more):
    return {
        "took": 2,
        "timed_out": False,
        "hits": {"total": {"value": len(hits)}, "hits": list(hits)},
        **more,
    }


def solr(*docs, **params):
    return {
        "responseHeader": {"status": 0, "params": {"fl": "id,score,[features]", **params}},
        "response": {"numFound": len(docs), "start": 0, "docs": list(docs)},
    }


FIRST = [hit("7555", title=9.510193, body=10.7808075), hit("1370", title=None, body=4)]
SECOND = [hit("7555", title=0.5, body=0.25), hit("9", title=1.5, body=None)]
EXPECTED = [[9.510193, 10.7808075], [0.0, 4.0], [0.5, 0.25], [1.5, 0.0]]
TEXTS = [
    ("7555", "title=9.510193,body=10.7808075"),
    ("1370", "body=4"),
    ("7555", "title=0.5,body=0.25"),
    ("9", "title=1.5"),
]
DOCS = [{"id": doc, "score": 1.0, "[features]": text} for doc, text in TEXTS]


def lines(*values):
    return "\n".join(json.dumps(value) for value in values)


LOGS = {
    "a response per line": lines(elasticsearch(*FIRST, qid="rambo"), elasticsearch(*SECOND, qid=40)),
    "a list of responses": json.dumps(
        [elasticsearch(*FIRST, qid="rambo"), elasticsearch(*SECOND, qid="40")], indent=2
    ),
    "a multi-search": json.dumps(
        {"took": 1, "responses": [elasticsearch(*FIRST, qid="rambo"), elasticsearch(*SECOND, qid="40")]}
    ),
    "a hit per line": lines(*(h | {"qid": "rambo"} for h in FIRST), *(h | {"qid": "40"} for h in SECOND)),
    "two log specs": lines(
        {
            "qid": "rambo",
            "hits": [
                hit("7555", title=9.510193)
                | {
                    "fields": {
                        "_ltrlog": [
                            {"a": [{"name": "title", "value": 9.510193}]},
                            {"b": [{"name": "body", "value": 10.7808075}]},
                        ]
                    }
                },
                FIRST[1],
            ],
        },
        elasticsearch(*SECOND, qid="40"),
    ),
    "Solr, queries as parameters": "\n\n".join(
        [lines(solr(*DOCS[:2], qid="rambo")), lines(solr(*DOCS[2:], qid="40"))]
    ),
    "Solr, queries beside": lines(solr(*DOCS[:2]) | {"qid": "rambo"}, solr(*DOCS[2:]) | {"qid": 40}),
    "Solr, a document per line": lines(
        *(d | {"qid": "rambo"} for d in DOCS[:2]), *(d | {"qid": "40"} for d in DOCS[2:])
    ),
}


@pytest.mark.parametrize("name", LOGS)
def test_every_form_of_a_log_gives_the_same_rows(name, text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = load_feature_log(text(LOGS[name], "log.json"), QRELS)
    assert data.feature_names == ("title", "body")
    np.testing.assert_array_equal(data.X, EXPECTED)
    assert data.qid.tolist() == ["rambo", "rambo", "40", "40"]
    assert data.docs.tolist() == ["7555", "1370", "7555", "9"]
    assert data.y.tolist() == [4, 3, 0, 1]


def test_documents_without_a_judgment_are_left_out_with_a_warning_or_count_as_zero(text):
    path = text(LOGS["a response per line"], "log.jsonl")
    judged = {"rambo": {"7555": 2.5}, "40": {"9": 1.0}}
    with pytest.warns(UserWarning, match="log.jsonl: 2 of 4 documents are not judged; left out"):
        data = load_feature_log(path, judged)
    assert (data.docs.tolist(), data.y.tolist()) == (["7555", "9"], [2.5, 1.0])
    data = load_feature_log(path, judged, unjudged="zero")
    assert data.y.tolist() == [2.5, 0.0, 0.0, 1.0]
    with pytest.raises(ParameterError, match="'unjudged' parameter must be one of 'leave-out', 'zero'"):
        load_feature_log(path, judged, unjudged="maybe")


def test_judged_documents_that_were_not_logged_are_warned_about(text):
    path = text(lines(elasticsearch(*FIRST, qid="rambo")), "log.jsonl")
    with pytest.warns(UserWarning, match="1 of 3 judged documents of these queries were not logged"):
        assert load_feature_log(path, {"rambo": QRELS["rambo"] | {"9": 1}, "40": {"7": 1}}).n_rows == 2


def test_several_logs_are_one(text):
    paths = [
        text(lines(elasticsearch(*FIRST, qid="rambo")), "monday.jsonl"),
        text(lines(elasticsearch(*SECOND, qid="40")), "tuesday.jsonl"),
    ]
    np.testing.assert_array_equal(load_feature_log(paths, QRELS).X, EXPECTED)
    with pytest.raises(
        FileFormatError, match=r"monday.jsonl, line 1: the document '7555' of query 'rambo' was lo"
    ):
        load_feature_log([*paths, paths[0]], QRELS)
    with pytest.raises(ParameterError, match="at least one file"):
        load_feature_log([], QRELS)


def test_the_keys_of_queries_and_documents_can_be_named(text):
    path = text(lines(elasticsearch(*FIRST, keywords="rambo")), "log.jsonl")
    data = load_feature_log(path, {"rambo": {"s7555": 1, "s1370": 0}}, qid="keywords", doc="sku")
    assert data.docs.tolist() == ["s7555", "s1370"]
    path = text(lines(solr({"sku": ["a"], "[features]": "x=1"}, q="rambo")), "solr.json")
    assert load_feature_log(path, {"rambo": {"a": 1}}, qid="q", doc="sku").docs.tolist() == ["a"]


@pytest.mark.parametrize(
    "content, sentence",
    [
        ("", "the file is empty; expected responses of a search engine as JSON"),
        ('{"qid": 1, "hits": \n{"hits": [}}', "log.json, line 2: not valid JSON: Expecting value"),
        (lines(DOCS[0] | {"qid": "rambo"}) + '\n{"qid": \n', "log.json, line 2: not valid JSON"),
        ("[" * 100 + "]" * 100, "not valid JSON: it is nested too deeply"),
        (b"\n\xff\xfe{}", "line 2: the log is not UTF-8 text"),
        ("[1]", "expected a response or a document as an object; found '1'"),
        (lines(elasticsearch(*FIRST)), "there is no query label; expected the key 'qid' in the response"),
        (lines(elasticsearch(qid="rambo")), "no document has logged features"),
        (
            lines({"qid": "rambo", "_id": "7", "_score": 1}),
            r"no logged features \('_ltrlog' or '\[features\]'\), only _id",
        ),
        (
            lines(DOCS[0] | {"qid": "rambo"}, DOCS[0] | {"qid": "rambo"}),
            "line 2: the document '7555' of query 'rambo'",
        ),
        (
            lines({"qid": "rambo", "[features]": "a=1"}),
            "a document has no name; expected the key '_id' or 'id'",
        ),
        (
            lines({"qid": "rambo", "id": "7", "[features]": "a=high"}),
            "'a' must be a finite number; got 'high'",
        ),
        (
            lines({"qid": "rambo", "id": "7", "[features]": "a:1;b:2"}),
            "must be text such as 'bm25=9.5,age=2.0'",
        ),
        (lines({"qid": "rambo", "id": "7", "[features]": "a=1,a=2"}), "has the feature 'a' more than once"),
        (
            lines({"qid": "rambo", "id": "7", "[features]": {"a": 1}}),
            "must be text such as 'bm25=9.5,age=2.0'",
        ),
        (lines(hit("7555", a="x") | {"qid": "rambo"}), "the feature 'a' must be a finite number; got 'x'"),
        (
            lines(hit("7555", a=float("nan")) | {"qid": "rambo"}),
            "the feature 'a' must be a finite number; got 'nan'",
        ),
        (
            lines({"qid": "rambo", "_id": "7", "fields": {"_ltrlog": ["x"]}}),
            "must hold lists of names and values",
        ),
        (
            lines({"error": {"reason": "unknown featureset"}, "status": 400}),
            "answered with an error: .*unknown feat",
        ),
        (lines(DOCS[0] | {"qid": ["rambo"]}), "must be text or a whole number"),
        (
            lines(DOCS[0] | {"qid": "alien"}),
            "none of 1 documents is judged, such as '7555' of query 'alien'; the",
        ),
        (lines({"qid": "rambo", "id": "7555", "[features]": ""}), "no document has any feature"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*were not logged")
def test_a_log_that_cannot_be_used_gets_one_sentence(content, sentence, text):
    with pytest.raises(FileFormatError, match=sentence):
        load_feature_log(text(content, "log.json"), QRELS)


def test_a_log_becomes_a_model_for_the_engine(done, refused, tmp_path):
    """What a search engineer does: log features, join judgments, train, export with the engine's names."""
    rng = np.random.default_rng(0)
    responses, qrels = [], {}
    for q in range(12):
        bm25, age = rng.normal(5, 2, 8), rng.integers(0, 100, 8)
        docs = [f"d{q}-{n}" for n in range(8)]
        liked = bm25 + rng.normal(0, 3, 8)  # a feature far ahead of the other would be taken for a leak
        qrels[f"q{q}"] = {doc: int(value > 5) for doc, value in zip(docs, liked, strict=True)}
        hits = [hit(doc, bm25=b, age=a) for doc, b, a in zip(docs, bm25.tolist(), age.tolist(), strict=True)]
        responses.append(elasticsearch(*hits, qid=f"q{q}"))
    (tmp_path / "log.jsonl").write_text(lines(*responses), encoding="utf-8")
    rankwise.trec.save_qrels(qrels, tmp_path / "qrels.txt")
    rows = [f"{q},{doc},{label}" for q, judged in qrels.items() for doc, label in judged.items()]
    (tmp_path / "ratings.csv").write_text("query,docid,rating\n" + "\n".join(rows) + "\n", encoding="utf-8")
    columns = ["--qid", "query", "--doc", "docid", "--label", "rating"]
    log = tmp_path / "log.jsonl"
    done("convert", log, tmp_path / "by-qrels.store", "--judgments", tmp_path / "qrels.txt")
    done("convert", log, tmp_path / "by-table.store", "--judgments", tmp_path / "ratings.csv", *columns)
    stores = [rankwise.open_store(tmp_path / f"{name}.store") for name in ("by-qrels", "by-table")]
    np.testing.assert_array_equal(*(store.X for store in stores))
    np.testing.assert_array_equal(*(store.y for store in stores))
    done("train", tmp_path / "by-qrels.store", tmp_path / "model")
    done("export", tmp_path / "model", tmp_path / "model.json", "--to", "elasticsearch", "--name", "m1")
    exported = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))["model"]["model"][
        "definition"
    ]
    assert list(json.loads(exported)) == ["bm25", "age"]

    out = tmp_path / "x.store"
    assert "must first be joined to judgments" in refused("train", log, tmp_path / "m", code=1)
    assert "a feature log needs --judgments" in refused("convert", log, out, code=2)
    said = refused("convert", log, out, "--judgments", tmp_path / "qrels.txt", "--features", "a", code=2)
    assert "not those of a feature log" in said
    log.write_text('{"hits": \n', encoding="utf-8")
    assert "not valid JSON" in refused("convert", log, out, "--judgments", tmp_path / "qrels.txt", code=1)
    assert not out.exists()
