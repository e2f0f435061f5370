"""Solr's learning-to-rank module ranks as `predict` does."""

import json
from urllib.parse import urlencode

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from rankwise import RankRLS, export_model

NAMES = ["title match", 'say "cheap"', "ціна"]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1.0, 30.0, 400.0] + [0.0, 100.0, 5e3]
    return X, np.round(X @ [1.0, -0.05, 0.002] + rng.normal(size=60))


@pytest.fixture(scope="module")
def filled(solr, rows):
    """The documents and their features, one numeric field for each."""
    documents = [
        {"id": str(row)} | {f"number_{column}": value for column, value in enumerate(values)}
        for row, values in enumerate(rows[0].tolist())
    ]
    solr("POST", "documents/update?commit=true", documents)
    features = [
        {
            "name": name,
            "class": "org.apache.solr.ltr.feature.FieldValueFeature",
            "params": {"field": f"number_{column}"},
        }
        for column, name in enumerate(NAMES)
    ]
    solr("PUT", "documents/schema/feature-store", features)
    return solr


def scores_in_solr(solr, name, n_rows):
    asked = {"q": "*:*", "rq": f"{{!ltr model={name} reRankDocs={n_rows}}}", "fl": "id,score", "rows": n_rows}
    found = solr("GET", f"documents/select?{urlencode(asked)}")["response"]["docs"]
    assert len(found) == n_rows
    return [int(document["id"]) for document in found], [document["score"] for document in found]


PIPELINES = {
    "raw": RankRLS(),
    "standard": make_pipeline(StandardScaler(), RankRLS()),
    "minmax": make_pipeline(MinMaxScaler(), RankRLS()),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_a_reranked_query_has_the_order_of_predict(name, filled, rows, tmp_path):
    X, y = rows
    model = PIPELINES[name].fit(X, y)
    export_model(model, tmp_path / "model.json", "solr", name=name, feature_names=NAMES)
    filled("PUT", "documents/schema/model-store", json.loads((tmp_path / "model.json").read_text()))
    order, scores = scores_in_solr(filled, name, len(X))
    expected = model.predict(X)
    assert order == np.argsort(-expected, kind="stable").tolist()
    differences = scores - expected[order]
    assert differences == pytest.approx(np.full(len(X), differences[0]), abs=1e-5)
