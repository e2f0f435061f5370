"""OpenSearch computes the scores of an exported script; it and Elasticsearch share that language."""

import json

import numpy as np
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
