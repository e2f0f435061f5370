"""OpenSearch computes the scores of an exported script; it and Elasticsearch share that language."""

import json

import numpy as np
import pytest

from column_functions import FUNCTION, HOSTILE, expected_scores, plain, values_of_rows
from rankwise.export.elasticsearch import elasticsearch_script, script_scores

TYPES = {"brand": "keyword", "in stock": "boolean", "created": "date", "updated": "date"}


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
    for document in (FUNCTION, *(type(FUNCTION)((term,)) for term in FUNCTION.terms)):
        expected = expected_scores(values, document)
        body = json.loads(elasticsearch_script("", document)) | {"size": len(expected)}
        hits = opensearch("POST", "documents/_search", body)["hits"]["hits"]
        order = [int(hit["_id"]) for hit in hits]
        assert len(order) == len(expected)
        assert [hit["_score"] for hit in hits] == pytest.approx(
            script_scores(document, values)[order], rel=1e-6
        )
        assert np.diff(expected[order]).max() < 1e-6
