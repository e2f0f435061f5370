"""Columns as they compare with the other rows of a query: a share, a rank, a distance."""

import json
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata
from sklearn.base import clone

from command_line import done, folder, refused
from in_parts import in_parts
from rankwise import (
    ColumnEncoder,
    DataError,
    KernelRankRLS,
    ParameterError,
    RankingData,
    RankRLS,
    RankRLSCV,
    RankSVM,
    RankSVMPath,
    audit,
    export_model,
    load_model,
    make_report,
)
from rankwise.errors import FileFormatError
from rankwise.model.model_file import read_model
from rankwise.preferences.queries import group_rows
from rankwise.rows.relative import relative
from rankwise.tensor_file import read_tensors, write_tensors
from rankwise.types import Reading

__all__ = ["done", "folder", "refused"]  # fixtures

COLUMNS = {"price": "rank", "sold": "share:spline", "weight": "distance:spline", "brand": "category"}
RANKERS = {
    "RankRLS": RankRLS(),
    "RankRLSCV": RankRLSCV([0.1, 1.0]),
    "RankSVM": RankSVM(),
    "KernelRankRLS": KernelRankRLS(gamma=0.2),
    "RankSVMPath": RankSVMPath(gamma=0.2, graph="reduced", max_events=100),
}


def shop(n_rows=240, n_queries=20, seed=0):
    """A table whose labels depend on how rows compare with those of their query."""
    rng = np.random.default_rng(seed)
    qid = rng.permutation(np.arange(n_rows) % n_queries)
    size = np.exp(rng.normal(0.0, 2.0, n_queries))[qid]  # prices of some queries are far above others
    frame = pd.DataFrame(
        {
            "price": np.round(size * rng.uniform(1.0, 2.0, n_rows), 1),
            "sold": rng.integers(0, 6, n_rows) * rng.integers(1, 50, n_queries)[qid],
            "weight": rng.normal(size=n_rows) + 100.0 * qid,
            "brand": rng.choice(["a", "b"], n_rows),
        }
    )
    cheap = frame["price"].groupby(qid).rank() / 6.0
    y = np.digitize(-cheap + 0.3 * rng.normal(size=n_rows), [-1.5, -1.0, -0.5])
    frame.loc[rng.random(n_rows) < 0.1, "price"] = np.nan
    frame.loc[qid == 3, "sold"] = 0
    return frame, y, qid


def by_definition(x, reading, qid):
    """Query by query, in plain words."""
    found = np.full(len(x), np.nan)
    for query in np.unique(qid):
        rows = np.flatnonzero((qid == query) & ~np.isnan(x))
        some = x[rows]
        if len(rows) and reading == "share":
            largest = np.abs(some).max()
            found[rows] = some / largest if largest else 0.0
        elif len(rows):
            found[rows] = rankdata(some) if reading == "rank" else some - some.mean()
    return found


NUMBERS = {
    "numbers": lambda rng, n: rng.normal(size=n),
    "ties": lambda rng, n: rng.integers(-2, 3, n).astype(float),
    "far from zero": lambda rng, n: 1e9 + rng.integers(0, 50, n),
    "negative": lambda rng, n: -rng.exponential(size=n),
    "all missing or 0": lambda rng, n: np.where(rng.random(n) < 0.5, np.nan, 0.0),
    "tiny": lambda rng, n: 1e-310 * rng.integers(0, 9, n),
}


@pytest.mark.parametrize("reading", ["share", "rank", "distance"])
@pytest.mark.parametrize("kind", NUMBERS)
def test_each_relation_is_its_definition(reading, kind):
    rng = np.random.default_rng(0)
    qid = np.append(rng.integers(0, 12, 90), [50, 51])  # and queries of one row
    x = NUMBERS[kind](rng, len(qid))
    x[rng.random(len(x)) < 0.2] = np.nan
    found = relative(x, Reading(reading), group_rows(qid, len(qid)))
    np.testing.assert_allclose(
        found, by_definition(x, reading, qid), atol=1e-6 if kind == "far from zero" else 1e-12
    )
    np.testing.assert_array_equal(np.isnan(found), np.isnan(x))


@pytest.mark.parametrize("ranker", RANKERS.values(), ids=RANKERS)
@pytest.mark.filterwarnings("ignore:The path")
def test_a_ranker_of_relations_is_that_of_columns_computed_by_hand(ranker):
    frame, y, qid = shop()
    model = clone(ranker).set_params(columns=COLUMNS).fit(frame, y, qid)

    def by_hand(frame, qid):
        kinds = {"price": "rank", "sold": "share", "weight": "distance"}
        columns = {
            name: by_definition(frame[name].to_numpy(float), kind, qid) for name, kind in kinds.items()
        }
        return frame.assign(**columns)

    told = {"price": "number", "sold": "spline", "weight": "spline", "brand": "category"}
    expected = clone(ranker).set_params(columns=told).fit(by_hand(frame, qid), y, qid)
    other, labels, queries = shop(seed=4)
    scores = expected.predict(by_hand(other, queries))
    np.testing.assert_allclose(model.predict(other, qid=queries), scores, atol=1e-6)
    data = RankingData.from_frame(
        other.assign(label=labels, qid=queries), label="label", qid="qid", as_table=True
    )
    np.testing.assert_array_equal(model.predict(data), model.predict(other, qid=queries))
    assert model.score(data) == model.score(other, labels, queries)
    np.testing.assert_array_equal(model.rank(data), model.rank(other, queries))


def test_relations_find_what_numbers_hide():
    frame, y, qid = shop(600, 40)
    test, labels, queries = shop(600, 40, seed=1)
    ranks = RankRLSCV(columns={"price": "rank"}).fit(frame, y, qid)
    numbers = RankRLSCV(columns={"price": "auto"}).fit(frame, y, qid)
    assert ranks.score(test, labels, queries) > numbers.score(test, labels, queries) + 0.02


@pytest.mark.parametrize("ranker", [RankRLS(), KernelRankRLS()])
def test_scores_do_not_depend_on_the_order_of_rows_or_on_other_queries(ranker):
    frame, y, qid = shop()
    model = ranker.set_params(columns=COLUMNS).fit(frame, y, qid)
    scores = model.predict(frame, qid=qid)
    order = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_allclose(model.predict(frame.iloc[order], qid=qid[order]), scores[order], atol=1e-9)
    some = np.isin(qid, [2, 5])
    np.testing.assert_allclose(model.predict(frame[some], qid=qid[some]), scores[some], atol=1e-9)


def test_what_needs_qid_says_so():
    frame, y, qid = shop()
    model = RankRLSCV([1.0], columns=COLUMNS).fit(frame, y, qid)
    needs = "Column 'price' is taken as its rank in the query, which needs the query of each row"
    for call in (
        lambda: model.predict(frame),
        lambda: model.rank(frame),
        lambda: model.explain(frame, 0, 1),
        lambda: model.plot_columns(frame),
        lambda: model.predict_preference_proba(frame, [(0, 1)]),
        lambda: model.model_.predict(frame),
        lambda: RankRLS(columns=COLUMNS).fit(frame, y),
        lambda: RankRLS(columns=COLUMNS).fit_preferences(frame, [(0, 1), (2, 3)]),
        lambda: ColumnEncoder(COLUMNS).fit(frame),
    ):
        with pytest.raises(DataError, match=needs):
            call()
    with pytest.raises(DataError, match="qid must have one entry per row"):
        model.predict(frame, qid=qid[:-1])
    with pytest.raises(ParameterError, match="cannot encode every column as 'rank'; name the columns"):
        RankRLS(columns="rank").fit(frame, y, qid)
    with pytest.raises(
        ParameterError, match=r"'rank:9'; expected one of .*rank:number, rank:log, rank:spline"
    ):
        RankRLS(columns={"price": "rank:9"}).fit(frame, y, qid)
    with pytest.raises(DataError, match="Column 'brand' must hold numbers; row 0"):
        RankRLS(columns={"brand": "share"}).fit(frame, y, qid)


def test_rows_that_other_processes_hold_are_not_compared():
    frame, y, qid = shop()
    parts = in_parts(RankingData.from_arrays(np.ones((len(y), 2)), y, qid), 2)
    with pytest.raises(DataError, match="compares the rows of a query, which a PartedData may hold apart"):
        RankRLS(columns=COLUMNS).fit(frame, y, qid).predict(parts)
    with pytest.raises(DataError, match="Columns can be encoded only in this process"):
        RankRLS(columns=COLUMNS).fit(parts)


def test_pairs_of_a_data_set_are_compared_in_its_queries():
    frame, y, qid = shop()
    data = RankingData.from_frame(frame.assign(label=y, qid=qid), label="label", qid="qid", as_table=True)
    pairs = [(0, 1), (2, 3)]
    model = RankRLS(columns=COLUMNS).fit_preferences(data, pairs)
    assert model.predict(data).shape == (len(y),)


def test_an_explanation_says_what_was_compared():
    frame, y, qid = shop()
    model = RankRLS(columns=COLUMNS).fit(frame, y, qid)
    ranks = by_definition(frame["price"].to_numpy(), "rank", qid)
    rows = np.flatnonzero(qid == qid[np.nanargmax(frame["price"])])
    i, j = rows[np.nanargmin(ranks[rows])], rows[np.nanargmax(ranks[rows])]
    explanation = model.explain(frame, i, j, qid=qid)
    scores = model.predict(frame, qid=qid)
    assert explanation.difference == pytest.approx(scores[i] - scores[j])
    assert list(explanation.names) == ["rank of price", "share of sold", "distance of weight", "brand"]
    assert f"rank of price {ranks[i]:g} vs {ranks[j]:g}" in str(explanation)
    assert model.encoding_.describe()["price"].startswith("rank in the query, as number")
    assert model.encoding_.feature_names[0] == "rank of price"
    data = RankingData.from_frame(frame.assign(label=y, qid=qid), label="label", qid="qid", as_table=True)
    drawn = [place.get_xlabel() for place in model.plot_columns(data).axes]
    assert "share of sold" in drawn


@pytest.mark.parametrize("ranker", [RankRLS(), RankRLSCV([0.1, 1.0]), KernelRankRLS()])
def test_a_saved_model_has_the_same_bits(ranker, tmp_path):
    frame, y, qid = shop()
    model = clone(ranker).set_params(columns=COLUMNS).fit(frame, y, qid)
    model.save(tmp_path / "model")
    scores = model.predict(frame, qid=qid)
    loaded = load_model(tmp_path / "model")
    assert loaded.encoding_ == model.encoding_
    np.testing.assert_array_equal(loaded.predict(frame, qid=qid), scores)
    np.testing.assert_array_equal(read_model(tmp_path / "model").predict(frame, qid), scores)


@pytest.mark.parametrize("relation", ["share", "rank", "distance"])
def test_columns_of_arrays_are_compared_too(relation, tmp_path):
    frame, y, qid = shop()
    X = frame[["price", "sold", "weight"]].to_numpy(float)
    model = RankRLS(columns={"x2": relation, "x0": relation}).fit(X, y, qid)
    model.save(tmp_path / "model")
    scores = model.predict(X, qid=qid)
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict(X, qid=qid), scores)
    assert len(np.unique(scores)) > 20
    with pytest.raises(DataError, match="X has 2 features, but ColumnEncoder is expecting 3"):
        model.predict(X[:, :2], qid=qid)


@pytest.mark.parametrize(
    "change",
    [
        {"relation": "median"},
        {"relation": "number"},
        {"of": {"code": "flag", "fill": 0.0, "marks_missing": False}},
    ],
)
def test_a_file_with_another_relation_is_refused(change, tmp_path):
    frame, y, qid = shop()
    RankRLS(columns=COLUMNS).fit(frame, y, qid).save(tmp_path / "model", moments=False)
    header, tensors = read_tensors(tmp_path / "model")
    header["values"]["encoding_"]["codes"][0].update(change)
    write_tensors(tmp_path / "changed", header, tensors)
    with pytest.raises(FileFormatError, match="impossible values"):
        load_model(tmp_path / "changed")


def test_held_out_queries_and_updates_are_compared_among_themselves():
    frame, y, qid = shop()
    first = qid < 12
    model = RankRLS(columns=COLUMNS, solver="primal").fit(frame[first], y[first], qid[first])
    features = model.encoding_.encode(model.model_.table(frame[first], qid[first]))
    late = model.encoding_.encode(model.model_.table(frame[~first], qid[~first]))
    expected = RankRLS(solver="primal").fit(features, y[first], qid[first])
    expected.partial_fit(late, y[~first], qid[~first])
    model.partial_fit(frame[~first], y[~first], qid[~first])
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    held = (frame[~first], y[~first], qid[~first])
    chosen = RankRLSCV([0.1, 1.0], columns=COLUMNS).fit(frame[first], y[first], qid[first], eval_set=held)
    plain = RankRLSCV([0.1, 1.0]).fit(features, y[first], qid[first], eval_set=(late, *held[1:]))
    np.testing.assert_array_equal(chosen.scores_, plain.scores_)


def test_a_rank_can_be_monotone():
    frame, y, qid = shop()
    model = RankRLS(columns={"price": "rank:spline"}, monotonic_cst={"price": 1}).fit(frame, -y, qid)
    (term,) = model.encoding_.function(model.coef_).terms
    assert (np.diff(term.shape(np.arange(1.0, 13.0))) >= 0.0).all()


def scores_in(to, path, frame, qid):
    rows = frame.assign(qid=qid, place=np.arange(len(frame)))
    query = f"SELECT {path.read_text(encoding='utf-8')} AS score, place FROM rows ORDER BY place"
    if to == "sql":
        return [score for score, _ in duckdb.sql(query).fetchall()]
    with sqlite3.connect(":memory:") as database:
        rows.to_sql("rows", database, index=False)
        return [score for score, _ in database.execute(query)]


@pytest.mark.parametrize("to", ["sql", "sqlite"])
@pytest.mark.parametrize("relation", ["share", "rank", "distance"])
@pytest.mark.parametrize("then", ["number", "log", "spline"])
def test_databases_compare_rows_by_window_functions(to, relation, then, tmp_path):
    frame, y, qid = shop()
    told = dict.fromkeys(("price", "sold", "weight"), f"{relation}:{then}")
    model = RankRLS(columns={**told, "brand": "category"}).fit(frame, y, qid)
    export_model(model, tmp_path / "score.sql", to, X=frame, qid=qid)
    other, _, queries = shop(seed=2)
    other.loc[queries == 7, "price"] = np.nan
    other.loc[queries == 8, "sold"] = -other["sold"]
    expected = model.predict(other, qid=queries)
    assert scores_in(to, tmp_path / "score.sql", other, queries) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "to", ["onnx", "vespa", "solr", "solr-function", "elasticsearch", "elasticsearch-script", "opensearch"]
)
def test_engines_that_score_documents_one_by_one_are_refused(to, tmp_path):
    frame, y, qid = shop()
    model = RankRLS(columns={"price": "rank"}).fit(frame, y, qid)
    with pytest.raises(ParameterError, match="scores documents one by one, but the rank of price depends on"):
        export_model(model, tmp_path / "model", to)


def test_audits_and_reports_compare_rows(tmp_path):
    frame, y, qid = shop()
    data = RankingData.from_frame(frame.assign(label=y, qid=qid), label="label", qid="qid", as_table=True)
    found = audit(data, ranker=RankRLSCV([1.0], columns=COLUMNS))
    assert found.rows
    model = RankRLS(columns=COLUMNS).fit(data)
    facts = make_report({"ranks": model}, data, training=data).facts
    assert "rank of price" in [shape["column"] for shape in facts["shapes"]["ranks"]]


def test_the_command_line_reads_queries_where_they_are_needed(done, refused, tmp_path):
    frame, y, qid = shop()
    frame.assign(label=y, qid=qid).to_csv(tmp_path / "rows.csv", index=False)
    frame.to_csv(tmp_path / "bare.csv", index=False)
    (tmp_path / "columns.json").write_text(json.dumps(COLUMNS), encoding="utf-8")
    model, scores = tmp_path / "model", tmp_path / "scores.txt"
    trained = done("train", tmp_path / "rows.csv", model, "--columns", tmp_path / "columns.json")
    assert "share of the query's largest, as spline" in " ".join(trained.split())
    done("predict", tmp_path / "rows.csv", model, "--out", scores)
    expected = load_model(model).predict(frame, qid=qid)
    np.testing.assert_allclose(np.loadtxt(scores), expected, rtol=1e-9)
    assert "ndcg@10" in done("evaluate", tmp_path / "rows.csv", model)
    assert "qid" in refused("predict", tmp_path / "bare.csv", model, code=1)
