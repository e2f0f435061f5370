"""A query of boosted clauses scores documents as the model does."""

import json

import numpy as np
import pytest

import rankwise
from changed_models import set_weights
from rankwise import DataError, ParameterError, RankRLS, export_model
from rankwise.cli import main
from rankwise.errors import FileFormatError

NAMES = ["bm25", "popularity", "in_stock"]
CLAUSES = {
    "bm25": {
        "function_score": {
            "query": {"match_all": {}},
            "functions": [{"field_value_factor": {"field": "bm25"}}],
            "boost": "$boost",
        }
    },
    "popularity": {"rank_feature": {"field": "popularity", "linear": {}, "boost": "$boost"}},
    "in_stock": {"constant_score": {"filter": {"term": {"in_stock": True}}, "boost": "$boost"}},
}


def scored(query, document):
    """The score of a document, as Elasticsearch documents it for the queries used here."""
    ((kind, body),) = query.items()
    if kind == "bool":
        assert list(body) == ["should"]
        return sum(scored(clause, document) for clause in body["should"])
    boost = body["boost"]
    assert isinstance(boost, float)
    assert boost > 0.0
    if kind == "rank_feature":
        return boost * document[body["field"]]
    if kind == "constant_score":
        ((field, value),) = body["filter"]["term"].items()
        return boost * (document[field] == value)
    (function,) = body["functions"]
    return boost * document[function["field_value_factor"]["field"]]


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.gamma(2.0, size=60), rng.random(60), rng.integers(0, 2, 60)])
    return X, np.round(X @ [1.0, 2.0, 0.5] + rng.normal(size=60)), np.repeat(np.arange(6), 10)


@pytest.fixture
def model(rows):
    return RankRLS(monotonic_cst=[1, 1, 1]).fit(*rows)


def test_the_query_orders_documents_as_the_model_does(rows, model, tmp_path):
    X, _, qid = rows
    export_model(model, tmp_path / "query.json", "elasticsearch-query", feature_names=NAMES, clauses=CLAUSES)
    query = json.loads((tmp_path / "query.json").read_text(encoding="utf-8"))["query"]
    documents = [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]
    scores = np.array([scored(query, document) for document in documents])
    np.testing.assert_allclose(scores, model.predict(X), rtol=1e-12)
    assert np.lexsort((-scores, qid)).tolist() == model.rank(X, qid).tolist()


def test_features_without_weight_need_no_clause(model, tmp_path):
    set_weights(model, np.array([0.0, 2.0, 0.0]))
    clauses = {"popularity": CLAUSES["popularity"]}
    export_model(model, tmp_path / "query", "elasticsearch-query", feature_names=NAMES, clauses=clauses)
    (clause,) = json.loads((tmp_path / "query").read_text(encoding="utf-8"))["query"]["bool"]["should"]
    assert clause == {"rank_feature": {"field": "popularity", "linear": {}, "boost": 2.0}}


@pytest.mark.parametrize(
    ("clauses", "message"),
    [
        (None, "needs clauses"),
        ({**CLAUSES, "price": {}}, "clause for 'price', which is not a feature"),
        ({"bm25": CLAUSES["bm25"]}, "no clause for 'popularity', whose weight is"),
        (
            {**CLAUSES, "bm25": {"match": {"title": "x"}}},
            "'bm25' must be an object with one string '\\$boost'",
        ),
        ({**CLAUSES, "bm25": ["$boost"]}, "'bm25' must be an object with one string '\\$boost'"),
        ({**CLAUSES, "bm25": {"a": "$boost", "b": ["$boost"]}}, "'bm25' must be an object with one string"),
    ],
)
def test_clauses_that_do_not_fit_the_model_are_refused(clauses, message, model, tmp_path):
    with pytest.raises(ParameterError, match=message):
        export_model(model, tmp_path / "q", "elasticsearch-query", feature_names=NAMES, clauses=clauses)
    assert not list(tmp_path.iterdir())


def test_weights_that_cannot_be_boosts_are_refused(model, tmp_path):
    set_weights(model, np.array([1.0, -0.25, 0.0]))
    with pytest.raises(DataError, match=r"weight of 'popularity' is -0\.25; train with monotonic_cst"):
        export_model(model, tmp_path / "q", "elasticsearch-query", feature_names=NAMES, clauses=CLAUSES)
    set_weights(model, np.zeros(3))
    with pytest.raises(DataError, match="All weights of the model are 0"):
        export_model(model, tmp_path / "q", "elasticsearch-query", feature_names=NAMES, clauses=CLAUSES)


@pytest.mark.parametrize("content", ["[1]", "{", "\udcff"])
def test_files_without_an_object_are_refused_with_their_name(content, model, tmp_path):
    path = tmp_path / "clauses.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(FileFormatError, match=r"clauses.json: expected a JSON object with a clause for each"):
        export_model(model, tmp_path / "q", "elasticsearch-query", feature_names=NAMES, clauses=path)


def test_the_commands_train_signs_and_export_the_query(rows, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y, qid = rows
    lines = [",".join(["label", "qid", *NAMES])]
    lines += [
        ",".join(map(repr, [label, query, *row]))
        for label, query, row in zip(y.tolist(), qid.tolist(), X.tolist(), strict=True)
    ]
    (tmp_path / "data.csv").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "clauses.json").write_text(json.dumps(CLAUSES), encoding="utf-8")
    (tmp_path / "signs.json").write_text(json.dumps({"bm25": -1}), encoding="utf-8")
    signs = "bm25=1,popularity=+1,in_stock=1"
    assert main(["train", "data.csv", "model", "--monotonic-cst", signs]) == 0
    assert (
        main(["export", "model", "query.json", "--to", "elasticsearch-query", "--clauses", "clauses.json"])
        == 0
    )
    query = json.loads((tmp_path / "query.json").read_text(encoding="utf-8"))["query"]
    first = scored(query, dict(zip(NAMES, X[0].tolist(), strict=True)))
    assert first == pytest.approx(rankwise.load_model("model").predict(X[:1])[0])
    capsys.readouterr()
    assert main(["train", "data.csv", "other", "--monotonic-cst", "signs.json"]) == 0
    assert "Weight 0, because the labels contradict the sign: bm25" in capsys.readouterr().out
    assert main(["train", "data.csv", "other", "--monotonic-cst", "bm25=up"]) == 2
    assert "--monotonic-cst expects price=-1,bm25=+1 or the like" in capsys.readouterr().err
    assert main(["train", "data.csv", "other", "--monotonic-cst", "bm52=1"]) == 2
    assert "names 'bm52', which is not a feature; did you mean 'bm25'?" in capsys.readouterr().err
    assert main(["train", "data.csv", "other", "--monotonic-cst", "bm25=1", "--learner", "ranksvm"]) == 2
    assert "The learner ranksvm has no option 'monotonic_cst'" in capsys.readouterr().err
