"""OpenSearch computes the scores of an exported script; it and Elasticsearch share that language."""

import json

import numpy as np
import pandas as pd
import pytest

from column_functions import (
    HOSTILE,
    INTERACTIONS,
    OF_REQUEST,
    REQUEST_COLUMNS,
    WITH_INTERACTIONS,
    WITH_REQUEST,
    expected_scores,
    only,
    plain,
    values_of_request,
    values_of_rows,
)
from command_line import rankwise_process
from rankwise import RankRLSCV
from rankwise.export.elasticsearch import elasticsearch_script, script_scores
from rankwise.scoring.additive import AdditiveFunction

TYPES = {"brand": "keyword", "color": "keyword", "in stock": "boolean", "created": "date", "updated": "date"}


@pytest.fixture(scope="module")
def with_columns(opensearch):
    values = values_of_rows()
    properties = {name: {"type": TYPES.get(name, "double")} for name in values}
    opensearch("PUT", "documents", {"mappings": {"properties": properties}})
    lines = []
    for row, document in enumerate(plain(values)):
        fields = {name: as_field(value, TYPES.get(name)) for name, value in document.items()}
        lines += [json.dumps({"index": {"_id": row}}), json.dumps(fields)]
    answer = opensearch("POST", "documents/_bulk?refresh=true", "\n".join([*lines, ""]))
    assert not answer["errors"], answer
    return opensearch, values


def as_field(value, kind):
    if value is None or kind == "keyword":
        return value
    if kind == "date":
        return value.isoformat(timespec="milliseconds")
    return bool(value) if kind == "boolean" else value


def test_a_script_has_the_scores_and_the_order_of_the_model(with_columns):
    opensearch, values = with_columns
    assert HOSTILE in values["brand"]
    alone = [AdditiveFunction((term,)) for term in WITH_INTERACTIONS.terms]
    for function in (WITH_INTERACTIONS, *alone, *map(only, INTERACTIONS)):
        expected = expected_scores(values, function)
        body = json.loads(elasticsearch_script("", function)) | {"size": len(expected)}
        hits = opensearch("POST", "documents/_search", body)["hits"]["hits"]
        order = [int(hit["_id"]) for hit in hits]
        assert len(order) == len(expected)
        assert [hit["_score"] for hit in hits] == pytest.approx(
            script_scores(function, values)[order], rel=1e-6
        )
        assert np.diff(expected[order]).max() < 1e-6


@pytest.mark.parametrize("row", OF_REQUEST)
def test_columns_come_with_the_request(row, with_columns):
    opensearch, _ = with_columns
    values = values_of_request(row)
    body = json.loads(elasticsearch_script("", WITH_REQUEST)) | {"size": len(values["sold"])}
    params = body["query"]["script_score"]["script"]["params"]
    shared = plain({name: values[name][:1] for name in REQUEST_COLUMNS})[0]
    for name, value in shared.items():
        is_date = TYPES.get(name) == "date" and value is not None
        given = int(values[name][0].astype("datetime64[ms]").astype(int)) if is_date else value
        params[REQUEST_COLUMNS[name].removeprefix("params.")] = as_field(
            given, None if is_date else TYPES.get(name)
        )
    hits = opensearch("POST", "documents/_search", body)["hits"]["hits"]
    renamed = {REQUEST_COLUMNS.get(name, name): column for name, column in values.items()}
    order = [int(hit["_id"]) for hit in hits]
    expected = script_scores(WITH_REQUEST, renamed)[order]
    assert [hit["_score"] for hit in hits] == pytest.approx(expected, rel=1e-6)


WORDS = ["red", "shoe", "leather", "boot", "rubber", "sole", "lace", "winter"]
QUERIES = [f"{first} {second}" for first in WORDS for second in WORDS if first < second]


@pytest.fixture(scope="module")
def shop(opensearch):
    """300 documents, and what every query finds: the score of the engine, and the fields that are there."""
    rng = np.random.default_rng(0)
    fields = {"title": "text", "price": "double", "rating": "double", "brand": "keyword"}
    body = {"mappings": {"properties": {name: {"type": kind} for name, kind in fields.items()}}}
    opensearch("PUT", "shop", body)
    documents, lines = {}, []
    for row in range(300):
        document = {
            "title": " ".join(rng.choice(WORDS, rng.integers(1, 12))),
            "price": round(float(np.exp(rng.normal(3.0, 1.0))), 2),
            "rating": round(float(rng.uniform(1.0, 5.0)), 1),
            "brand": str(rng.choice(["a", "b", "c"])),
        }
        documents[str(row)] = {
            name: value for name, value in document.items() if name == "title" or rng.random() < 0.8
        }
        lines += [json.dumps({"index": {"_id": row}}), json.dumps(documents[str(row)])]
    assert not opensearch("POST", "shop/_bulk?refresh=true", "\n".join([*lines, ""]))["errors"]

    def found(query):
        hits = hits_of(opensearch, {"query": {"match": {"title": query}}})
        rows = pd.DataFrame([documents[hit["_id"]] for hit in hits], columns=["price", "rating", "brand"])
        return rows.assign(text_match=[hit["_score"] for hit in hits]), [hit["_id"] for hit in hits]

    return opensearch, found


def hits_of(opensearch, body):
    return opensearch("POST", "shop/_search", body | {"size": 300})["hits"]["hits"]


@pytest.fixture(scope="module")
def trained(shop, tmp_path_factory):
    """A ranker of that score, of fields some of which are missing, and of the device, and its script."""
    _, found = shop
    folder, rng = tmp_path_factory.mktemp("trained"), np.random.default_rng(1)
    frames = [found(query)[0].assign(qid=q, is_mobile=q % 2 == 0) for q, query in enumerate(QUERIES[:-4])]
    frame = pd.concat(frames, ignore_index=True)
    worth = frame["text_match"] + np.where(frame["is_mobile"], -1.0, 0.2) * np.log(frame["price"].fillna(9.0))
    grades = np.digitize(
        worth + (frame["rating"].fillna(2.0) - 3.0) + rng.normal(size=len(frame)), [-2, 0, 2]
    )
    columns = ["text_match", "price", "rating", "brand", "is_mobile"]
    model = RankRLSCV(columns="auto", interactions=[("is_mobile", "price")])
    model.fit(frame[columns], grades, frame["qid"]).save(folder / "model.safetensors")
    names = "text_match=_score,is_mobile=params.is_mobile"
    how = ("--to", "elasticsearch-script", "--map", names)
    ran = rankwise_process("export", "model.safetensors", "script.json", *how, cwd=folder)
    assert ran.returncode == 0, ran.stderr
    return model, json.loads((folder / "script.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("is_mobile", [True, False, None])
@pytest.mark.parametrize("query", QUERIES[-4:])
def test_a_script_reads_the_score_of_the_query_fields_and_parameters(query, is_mobile, shop, trained):
    opensearch, found = shop
    model, body = trained
    rows, names = found(query)
    assert rows[["price", "rating", "brand"]].isna().any().all()
    scores = model.predict(rows.assign(is_mobile=pd.Series([is_mobile] * len(rows), dtype=object)))
    positive = np.where(scores < 0.0, 1.0 / (1.0 - np.minimum(scores, 0.0)), 1.0 + scores)
    expected = dict(zip(names, positive, strict=True))
    scored = json.loads(json.dumps(body))["query"]
    scored["script_score"]["query"] = {"match": {"title": query}}
    scored["script_score"]["script"]["params"]["is_mobile"] = is_mobile
    again = {"window_size": 300, "query": {"rescore_query": scored, "query_weight": 0.0}}
    for asked in ({"query": scored}, {"query": {"match": {"title": query}}, "rescore": again}):
        hits = hits_of(opensearch, asked)
        assert {hit["_id"] for hit in hits} == set(names)
        assert [hit["_score"] for hit in hits] == pytest.approx(
            [expected[hit["_id"]] for hit in hits], rel=1e-6
        )
