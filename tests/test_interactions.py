"""Interactions: functions of two columns, named by the user."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from messy_tables import messy_frame
from rankwise import DataError, ParameterError, RankRLS, RankRLSCV, RankSVM, RankSVMCV, load_model
from rankwise.errors import ContextWarning, FileFormatError
from rankwise.scoring.interactions import Interaction, KnotAxis
from rankwise.tensor_file import read_tensors, write_tensors

RANKERS = {
    "RankRLS": RankRLS(),
    "RankRLSCV": RankRLSCV([0.1, 10.0]),
    "RankSVM": RankSVM(),
    "RankSVMCV": RankSVMCV([1e-3, 1e-1]),
}
# Every kind of column with every other, and one pair that is told how.
PAIRS = {
    ("price", "clicks"): "spline:5",
    ("price", "brand"): None,
    ("in_stock", "price"): None,
    ("added", "price"): "spline:3",
    ("brand", "in_stock"): None,
}


def named(pairs=PAIRS):
    return [(*pair, how) if how else pair for pair, how in pairs.items()]


def with_context(rows_per_query=8, n_queries=60, seed=0, offset=0.0):
    """The sign of the price's effect depends on the device, which is constant within queries."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rows_per_query)
    mobile = (rng.random(n_queries) < 0.5)[qid]
    price = np.round(rng.uniform(0.0, 64.0, len(qid)))
    frame = pd.DataFrame({"price": price + offset, "mobile": mobile, "size": rng.normal(size=len(qid))})
    y = np.where(mobile, -1.0, 1.0) * (price - 32.0) / 16.0 + 0.1 * rng.normal(size=len(qid))
    return frame, y, qid


@pytest.mark.parametrize("ranker", RANKERS.values(), ids=RANKERS)
def test_the_tables_are_the_weighted_products_of_the_encoded_columns(ranker):
    frame, y, qid = messy_frame()
    model = clone(ranker).set_params(columns="auto", interactions=named()).fit(frame, y, qid)
    other, _, _ = messy_frame(seed=3)
    other.loc[0, "price"], other.loc[1, "brand"], other.loc[2, "price"] = 1e9, "unseen", -1e9
    features = model.encoding_.encode(model._rows_to_score(other))
    features = features if isinstance(features, np.ndarray) else features.toarray()
    np.testing.assert_allclose(features @ model.coef_, model.predict(other), atol=1e-10, rtol=1e-10)
    assert len(model.encoding_.feature_names) == len(model.coef_)


def test_products_of_functions_of_one_column_add_up_to_the_table():
    frame, y, qid = messy_frame()
    model = RankRLS(columns="auto", interactions=named()).fit(frame, y, qid)
    rows = model._rows_to_score(messy_frame(seed=5)[0])
    for one in model.model_.function.interactions:
        first, second = (
            rows.read(column, axis.reading) for column, axis in zip(one.columns, one.axes, strict=True)
        )
        total = sum(f(first) * g(second) for f, g in one.products())
        np.testing.assert_allclose(total, one.read(rows), atol=1e-12)


def test_tables_hold_nothing_that_one_column_adds_alone():
    frame, y, qid = messy_frame()
    model = RankRLS(columns="auto", interactions=named()).fit(frame, y, qid)
    rows = model._rows_to_score(frame)
    for one in model.model_.function.interactions:
        of_first = shares_at_points(one.axes[0], rows.read(one.columns[0], one.axes[0].reading))
        of_second = shares_at_points(one.axes[1], rows.read(one.columns[1], one.axes[1].reading))
        size = np.abs(one.values).max()
        np.testing.assert_allclose(of_first @ np.array(one.values), 0.0, atol=1e-12 * max(1.0, size))
        np.testing.assert_allclose(np.array(one.values) @ of_second, 0.0, atol=1e-12 * max(1.0, size))


def shares_at_points(axis, values):
    """How much of the rows is at each point, where a row between two points is partly at either."""
    left, way = axis.locate(values)
    shares = np.bincount(left, 1.0 - way, len(axis.points))
    shares += np.bincount(np.minimum(left + 1, len(axis.points) - 1), way, len(axis.points))
    return shares / len(values)


def test_context_matters_only_together_with_other_columns():
    frame, y, qid = with_context()
    with pytest.warns(ContextWarning, match='interactions="auto"'):
        alone = RankRLSCV(columns="spline").fit(frame, y, qid)
    together = RankRLSCV(interactions=[("mobile", "price")]).fit(frame, y, qid)
    other, labels, queries = with_context(seed=1)
    assert alone.score(other, labels, queries) < 0.6
    assert together.score(other, labels, queries) > 0.95


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_columns_far_from_zero_give_the_same_scores(offset):
    near = RankRLS(0.1, interactions=[("mobile", "price")]).fit(*with_context())
    far = RankRLS(0.1, interactions=[("mobile", "price")]).fit(*with_context(offset=offset))
    rows, moved = with_context(seed=2)[0], with_context(seed=2, offset=offset)[0]
    np.testing.assert_allclose(far.predict(moved), near.predict(rows), atol=1e-8)


def test_leaving_out_queries_is_exact():
    frame, y, qid = with_context(n_queries=12)
    settings = {"columns": "spline:3", "interactions": [("mobile", "price")]}
    search = RankRLSCV([0.5, 20.0], cv="leave-query-out", **settings).fit(frame, y, qid)
    features = search.encoding_.encode(search._rows_to_score(frame))
    for query in range(12):
        held = qid == query
        refit = RankRLS(search.alpha_).fit(features[~held], y[~held], qid[~held])
        left_out, expected = search.left_out_scores_[held], refit.predict(features[held])
        np.testing.assert_allclose(left_out - left_out[0], expected - expected[0], atol=1e-8)


def test_equal_rows_have_equal_scores():
    frame, y, qid = messy_frame()
    model = RankRLS(columns="auto", interactions=named()).fit(frame, y, qid)
    scores = model.predict(pd.concat([frame, frame[::-1]]))
    np.testing.assert_array_equal(scores[: len(frame)], scores[len(frame) :][::-1])


def test_arrays_name_their_columns_by_number():
    frame, y, qid = with_context()
    X = frame.to_numpy(dtype=float)
    model = RankRLS(interactions=[("x1", "x0")]).fit(X, y, qid)
    assert model.score(X, y, qid) > 0.95
    assert [code.name for code in model.encoding_.interactions] == ["x1 × x0"]


def test_beyond_the_outer_knots_nothing_changes():
    one = Interaction(("a", "b"), (KnotAxis((0.0, 1.0)), KnotAxis((0.0, 2.0))), ((1.0, 3.0, 0.0),) * 3)
    from rankwise.rows.table import table_of

    rows = table_of(pd.DataFrame({"a": [0.5] * 4, "b": [-9.0, 1.0, 9.0, np.nan]}))
    np.testing.assert_allclose(one.read(rows), [1.0, 2.0, 3.0, 0.0])


def test_only_frequent_combinations_of_many_categories_have_features():
    rng = np.random.default_rng(0)
    n = 4000
    frame = pd.DataFrame(
        {"a": rng.integers(15, size=n).astype(str), "b": rng.integers(15, size=n).astype(str)}
    )
    qid = np.arange(n) % 100
    y = (frame["a"] == frame["b"]).to_numpy() * 1.0
    model = RankRLS(columns="auto", interactions=[("a", "b")]).fit(frame, y, qid)
    assert model.encoding_.interactions[0].width == 100
    features = model.encoding_.encode(model._rows_to_score(frame))
    features = features if isinstance(features, np.ndarray) else features.toarray()
    np.testing.assert_allclose(features @ model.coef_, model.predict(frame), atol=1e-10)


def test_an_explanation_adds_up_with_interactions():
    frame, y, qid = with_context()
    model = RankRLS(interactions=[("mobile", "price")]).fit(frame, y, qid)
    explanation = model.explain(frame, 0, 1)
    assert explanation.difference == pytest.approx(np.subtract(*model.predict(frame.iloc[:2])))
    assert "mobile × price" in list(explanation.names)


def test_interactions_are_drawn_as_maps():
    frame, y, qid = with_context()
    figure = RankRLS(interactions=[("mobile", "price")]).fit(frame, y, qid).plot_columns(frame)
    maps = [place for place in figure.axes if place.images]
    assert [(place.get_ylabel(), place.get_xlabel()) for place in maps] == [("mobile", "price")]
    assert maps[0].images[0].get_array().shape == (2, 4)


def test_a_file_keeps_the_tables(tmp_path):
    frame, y, qid = messy_frame()
    model = RankRLS(columns="auto", interactions=PAIRS | {("price", "brand"): "category:2"}).fit(
        frame, y, qid
    )
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.encoding_ == model.encoding_
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    again = clone(loaded).fit(frame, y, qid)
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))


def _damaged(encoding, how):
    one = encoding["interactions"][0]
    damage = {
        "columns": lambda: one.update(columns=["price", "nowhere"]),
        "itself": lambda: one.update(columns=["price", "price"]),
        "twice": lambda: encoding["interactions"].append(one),
        "means": lambda: one["axes"][0]["means"].pop(),
        "infinite mean": lambda: one["axes"][0]["means"].__setitem__(0, float("inf")),
        "kept": lambda: one.update(kept=[0, 10**6]),
        "order": lambda: one.update(kept=[1, 0]),
        "reading": lambda: one["axes"].reverse(),
        "reference": lambda: one["axes"][0].update(reference="yesterday"),
        "list": lambda: encoding.update(interactions="all"),
        "search": lambda: encoding.update(search={"found": [1], "tried": 0, "alphas": []}),
        "no columns": lambda: encoding["interactions"][0].update(columns=None),
    }
    damage[how]()


DAMAGES = (
    "columns, itself, twice, means, infinite mean, kept, order, reading, reference, list, search, no columns"
)


@pytest.mark.parametrize("how", DAMAGES.split(", "))
def test_a_damaged_file_is_refused(tmp_path, how):
    frame, y, qid = messy_frame()
    RankRLS(columns="auto", interactions=[("price", "brand")]).fit(frame, y, qid).save(tmp_path / "model")
    header, tensors = read_tensors(tmp_path / "model")
    _damaged(header["values"]["encoding_"], how)
    write_tensors(tmp_path / "model", header, tensors)
    with pytest.raises(FileFormatError, match="cannot be loaded"):
        load_model(tmp_path / "model")


def test_updates_keep_the_pairs_and_equal_a_fit_to_all_rows():
    frame, y, qid = with_context()
    first = qid < 40
    whole = RankRLS(interactions=[("mobile", "price")]).fit(frame, y, qid)
    model = RankRLS(interactions=[("mobile", "price")]).fit(frame, y, qid)
    model.forget(frame[~first], y[~first], qid[~first])
    model.partial_fit(frame[~first], y[~first], qid[~first])
    np.testing.assert_allclose(model.predict(frame), whole.predict(frame), atol=1e-8)


def test_preferences_learn_named_interactions():
    frame, y, qid = with_context()
    pairs = [(i, i + 1) if y[i] > y[i + 1] else (i + 1, i) for i in range(0, len(y), 2)]
    model = RankRLS(interactions=[("mobile", "price")]).fit_preferences(frame, pairs)
    assert model.score(frame, y, qid) > 0.9


@pytest.mark.parametrize(
    ("interactions", "message"),
    [
        ([("price", "nowhere")], "names 'nowhere', which is not a column"),
        ([("price", "price")], "pairs 'price' with itself"),
        ([("price", "mobile"), ("mobile", "price")], "twice"),
        ([], "must be 'auto'"),
        (0, "must be 'auto'"),
        (True, "must be 'auto'"),
        ("all", "must be 'auto'"),
        ([("price",)], "pairs of columns"),
        (["price"], "pairs of columns"),
        ({("mobile", "price"): "spline:1"}, "expected one of"),
        ({("mobile", "price"): "log"}, "spline:KNOTS"),
    ],
)
def test_impossible_interactions_are_refused(interactions, message):
    with pytest.raises(ParameterError, match=message):
        RankRLS(interactions=interactions).fit(*with_context())


def test_pairs_that_order_no_rows_are_refused():
    frame, y, qid = with_context()
    frame["weekday"] = (qid % 7).astype(float)
    with pytest.raises(DataError, match="mobile × weekday are constant within queries"):
        RankRLS(interactions=[("mobile", "price"), ("mobile", "weekday")]).fit(frame, y, qid)


def test_a_constant_column_interacts_with_none():
    frame, y, qid = with_context()
    with pytest.raises(DataError, match="'same' is constant"):
        RankRLS(interactions=[("same", "price")]).fit(frame.assign(same=1.0), y, qid)


def test_features_too_large_for_memory_are_refused_with_their_size(monkeypatch):
    monkeypatch.setattr("rankwise.columns.interaction_fitting.MOST_BYTES", 10_000)
    with pytest.raises(DataError, match=r"480 rows have \d+ features, which take .* GB; mobile × price"):
        RankRLS(interactions=[("mobile", "price")]).fit(*with_context())


def test_a_column_with_a_sign_has_no_interactions():
    frame, y, qid = with_context()
    with pytest.raises(ParameterError, match="mobile × price has no sign"):
        RankRLS(interactions=[("mobile", "price")], monotonic_cst={"price": 1}).fit(frame, y, qid)
    model = RankRLS(interactions=[("mobile", "price")], monotonic_cst={"size": 1}).fit(frame, y, qid)
    assert model.score(frame, y, qid) > 0.9
