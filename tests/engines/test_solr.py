"""Solr ranks as `predict` does: with its learning-to-rank module, and with function queries."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from column_functions import (
    HOSTILE,
    INTERACTIONS,
    OF_CATEGORIES,
    WITH_INTERACTIONS,
    expected_scores,
    only,
    plain,
    values_of_rows,
)
from rankwise import RankRLS, export_model
from rankwise.export.solr import solr_function
from rankwise.scoring.additive import AdditiveFunction, Term

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
NAMES = ["title match", 'say "cheap"', "ціна"]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1.0, 30.0, 400.0] + [0.0, 100.0, 5e3]
    return X, np.round(X @ [1.0, -0.05, 0.002] + rng.normal(size=60))


@pytest.fixture(scope="module")
def with_features(solr, rows):
    """The documents, and a field for each of their features."""
    documents = [
        {"id": f"features-{row}"} | {f"number {column}": value for column, value in enumerate(values)}
        for row, values in enumerate(rows[0].tolist())
    ]
    solr("POST", "documents/update?commit=true", documents)
    field = "org.apache.solr.ltr.feature.FieldValueFeature"
    features = [
        {"name": name, "class": field, "params": {"field": f"number {column}"}}
        for column, name in enumerate(NAMES)
    ]
    solr("PUT", "documents/schema/feature-store", features)
    return solr


def found(solr, kind, n_rows, **asked):
    """The rows in the order of an answer, and their scores."""
    asked = {"fl": "id,score", "rows": n_rows, "fq": f"id:{kind}-*", **asked}
    documents = solr("POST", "documents/select", {"params": asked})["response"]["docs"]
    assert len(documents) == n_rows
    return [int(each["id"].split("-")[1]) for each in documents], [each["score"] for each in documents]


PIPELINES = {
    "raw": RankRLS(),
    "standard": make_pipeline(StandardScaler(), RankRLS()),
    "minmax": make_pipeline(MinMaxScaler(), RankRLS()),
}


@pytest.mark.parametrize("nonnegative", [False, True], ids=["signed", "nonnegative"])
@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.filterwarnings("ignore:.*negative")
def test_a_reranked_query_has_the_order_of_predict(name, nonnegative, with_features, rows, tmp_path):
    X, y = rows
    model, path, name = PIPELINES[name].fit(X, y), tmp_path / "model.json", f"{name}-{nonnegative}"
    export_model(model, path, "solr", name=name, feature_names=NAMES, X=X, nonnegative=nonnegative)
    with_features("PUT", "documents/schema/model-store", json.loads(path.read_text(encoding="utf-8")))
    rerank = f"{{!ltr model={name} reRankDocs={len(X)}}}"
    order, scores = found(with_features, "features", len(X), q="*:*", rq=rerank)
    expected = model.predict(X)
    assert order == np.argsort(-expected, kind="stable").tolist()
    if nonnegative:
        assert min(scores) > 0.0
        scores += expected.min() - min(scores)
    assert scores == pytest.approx(expected[order], rel=1e-5, abs=1e-5)


@pytest.fixture(scope="module")
def with_columns(solr):
    """Documents whose fields are columns of every kind, some of them missing."""
    values = values_of_rows()
    solr("POST", "documents/update?commit=true", as_documents("columns", plain(values), list(values)))
    return solr, values


def as_documents(kind, rows, fields):
    """Rows as documents, without the fields that are missing."""
    return [
        {"id": f"{kind}-{number}"}
        | {
            name: as_field(value)
            for name, value in zip(fields, row.values(), strict=True)
            if value is not None
        }
        for number, row in enumerate(rows)
    ]


def as_field(value):
    return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if hasattr(value, "strftime") else value


FUNCTIONS = {
    "all": WITH_INTERACTIONS,
    **{term.column: AdditiveFunction((term,)) for term in WITH_INTERACTIONS.terms},
    **{one.name: only(one) for one in INTERACTIONS},
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_query_has_the_scores_of_the_model(name, with_columns):
    solr, values = with_columns
    assert HOSTILE in values["brand"]
    function = FUNCTIONS[name]
    expected = expected_scores(values, function)
    # Solr cuts off negative scores of a function query.
    query = f"{{!func}}sum(9,{solr_function('', function)})"
    order, scores = found(solr, "columns", len(expected), q=query)
    # Numbers have seven digits there, and prices of a million differ in the eighth.
    tolerance = 0.1 if "price" in {term.column for term in function.terms} else 1e-4
    assert np.array(scores) - 9 == pytest.approx(expected[order], abs=tolerance)


def test_numbers_flags_and_dates_come_with_the_request(with_columns):
    solr, values = with_columns
    names = {"sold": "params.sold", "in stock": "params.in_stock", "created": "params.created"}
    pairs = [one for one in INTERACTIONS if set(one.columns) & set(names) and "price" not in one.columns]
    columns = dict.fromkeys(column for one in pairs for column in one.columns)
    known = {term.column: term.shape for term in WITH_INTERACTIONS.terms}
    of_request = {name: names.get(name, name) for name in values}
    function = AdditiveFunction(
        tuple(Term(of_request[column], known[column]) for column in columns),
        interactions=tuple(one.renamed(of_request) for one in pairs),
    )
    complete = [row for row, one in enumerate(plain(values)) if all(one[name] is not None for name in names)]
    for row in complete[:5]:
        given = plain({name: values[name][row : row + 1] for name in names})[0]
        shared = {of_request[name]: np.repeat(values[name][row], len(values[name])) for name in names}
        expected = expected_scores(values | shared, function)
        parameters = {names[name].removeprefix("params."): as_field(value) for name, value in given.items()}
        query = f"{{!func}}sum(9,{solr_function('', function)})"
        order, scores = found(solr, "columns", len(expected), q=query, **parameters)
        assert np.array(scores) - 9 == pytest.approx(expected[order], abs=1e-4)


def test_thousands_of_categories_do_not_overflow_the_parser(solr):
    texts = np.array([None, "shop 0", "shop 1500", "shop 2999", "new"], dtype=object)
    rows = [{"brand": text} for text in texts]
    solr("POST", "documents/update?commit=true", as_documents("categories", rows, ["brand"]))
    query = {"query": f"{{!func}}sum(9,{solr_function('', OF_CATEGORIES)})", "filter": "id:categories-*"}
    found = solr("POST", "documents/select", query | {"fields": "id,score"})["response"]["docs"]
    scores = {int(each["id"].split("-")[1]): each["score"] - 9 for each in found}
    expected = OF_CATEGORIES.terms[0].shape(texts)
    assert [scores[row] for row in range(len(texts))] == pytest.approx(expected, abs=1e-5)


def test_solr_ranks_the_table_of_the_example_as_the_ranker_does(solr, tmp_path):
    sys.path.insert(0, str(EXAMPLES))
    from serve_a_table import COLUMNS, make_table, plain_rows, train

    frame = make_table(n_queries=20)
    model, table = train(frame), frame[COLUMNS]
    fields = ["cost", "brand", "sold count", "created"]
    export_model(model, tmp_path / "f", "solr-function", feature_names=fields, X=table, nonnegative=True)
    solr("POST", "documents/update?commit=true", as_documents("example", plain_rows(frame), fields))
    query = f"{{!func}}{(tmp_path / 'f').read_text(encoding='utf-8')}"
    order, scores = found(solr, "example", len(frame), q=query)
    expected = model.predict(table)[order]
    assert min(scores) > 0.0
    assert np.diff(expected).max() < 1e-5
    assert np.array(scores) - scores[0] == pytest.approx(expected - expected[0], abs=1e-5)
