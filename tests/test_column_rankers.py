"""Linear rankers that take tables: they learn, explain, update and save in terms of the columns."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold

from messy_tables import FEATURES, LIBRARIES, messy_columns, messy_frame
from rankwise import (
    ColumnEncoder,
    DataError,
    ParameterError,
    RankRLS,
    RankRLSCV,
    RankSVM,
    RankSVMCV,
    load_model,
)
from rankwise.errors import FileFormatError
from rankwise.features import JudgedParts
from rankwise.model.model_file import read_model
from rankwise.tensor_file import read_tensors, write_tensors

RANKERS = {
    "RankRLS": RankRLS(),
    "RankRLS with cg": RankRLS(solver="cg", early_stopping=True, random_state=0),
    "RankRLSCV": RankRLSCV([0.1, 10.0]),
    "RankSVM": RankSVM(),
    "RankSVMCV": RankSVMCV([1e-3, 1e-1]),
}
COLUMNS = {"price": "spline:5", "clicks": "log", "brand": "category", "added": "date:log"}


@pytest.fixture(params=RANKERS.values(), ids=RANKERS)
def ranker(request):
    return clone(request.param)


@pytest.mark.parametrize("columns", ["auto", "spline", COLUMNS], ids=["auto", "spline", "told"])
def test_a_ranker_with_columns_is_the_ranker_on_encoded_columns(ranker, columns):
    frame, y, qid = messy_frame()
    model = clone(ranker).set_params(columns=columns).fit(frame, y, qid)
    encoder = ColumnEncoder(columns).fit(frame)
    features = encoder.transform(frame)
    expected = clone(ranker).fit(features, y, qid)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    other, _, _ = messy_frame(seed=3)
    np.testing.assert_allclose(model.predict(other), expected.predict(encoder.transform(other)), atol=1e-11)
    assert model.n_features_in_ == frame.shape[1] if columns != COLUMNS else len(COLUMNS)


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
def test_every_library_gives_the_same_model(library):
    frame, y, qid = messy_frame()
    rows = library({name: values for name, values in messy_columns().items() if name in FEATURES})
    model = RankRLS(columns="auto").fit(rows, y, qid)
    np.testing.assert_array_equal(
        model.predict(frame), RankRLS(columns="auto").fit(frame, y, qid).predict(rows)
    )


def test_equal_rows_have_equal_scores():
    frame, y, qid = messy_frame()
    scores = RankRLS(columns="spline").fit(frame, y, qid).predict(pd.concat([frame, frame[::-1]]))
    np.testing.assert_array_equal(scores[: len(frame)], scores[len(frame) :][::-1])


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_columns_far_from_zero_give_the_same_scores(offset):
    rng = np.random.default_rng(0)
    X, qid = 64.0 * rng.integers(-99, 99, size=(60, 3)), np.arange(60) % 6
    y = np.digitize(np.sin(X[:, 0] / 2000) + X[:, 1] / 6400, [-0.3, 0.3]).astype(float)
    for columns in ("number", "spline"):
        near = RankRLS(0.1, columns=columns).fit(X, y, qid).predict(X)
        far = RankRLS(0.1, columns=columns).fit(X + offset, y, qid).predict(X + offset)
        np.testing.assert_allclose(far, near, atol=1e-8)


def test_a_spline_learns_what_a_line_cannot():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(400, 2)), np.arange(400) % 20
    y = -np.abs(X[:, 0])
    assert RankRLSCV(columns="spline").fit(X, y, qid).score(X, y, qid) > 0.95
    assert RankRLSCV(columns="number").fit(X, y, qid).score(X, y, qid) < 0.6


def test_an_explanation_names_columns_with_their_values():
    frame, y, qid = messy_frame()
    model = RankRLS(columns="auto").fit(frame, y, qid)
    rows = frame.iloc[[0, 1]].assign(price=[19.9, None], in_stock=[True, False])
    explanation = model.explain(rows, 0, 1)
    assert explanation.difference == pytest.approx(np.subtract(*model.predict(rows)))
    assert sorted(explanation.names) == sorted(FEATURES)
    assert "price 19.9 vs missing" in str(explanation)
    assert "in_stock true vs false" in str(explanation)
    only_price = RankRLS(columns={"price": "log"}).fit(frame, y, qid).explain(rows, 0, 1)
    assert repr(only_price).endswith(f"price 19.9 vs missing ({only_price.difference:+.4g}))")


def test_functions_of_columns_are_drawn_with_what_missing_values_add():
    frame, y, qid = messy_frame()
    model = RankRLS(columns=COLUMNS).fit(frame, y, qid)
    shapes = {term.column: term.shape for term in model.encoding_.function(model.coef_).terms}
    figure = model.plot_columns(frame, "What columns add")
    assert figure.get_suptitle() == "What columns add"
    places = {place.get_xlabel(): place for place in figure.axes if place.get_xlabel()}
    assert sorted(places) == sorted(COLUMNS)
    curve, missing = places["price"].get_lines()
    prices, values = curve.get_data()
    assert (prices[0], prices[-1]) == (frame["price"].min(), frame["price"].max())
    np.testing.assert_allclose(np.diff(values), np.diff(shapes["price"](prices)))
    expected = shapes["price"].missing - shapes["price"](prices[:1])
    np.testing.assert_allclose(missing.get_ydata()[0] - values[:1], expected)
    dots, _ = places["brand"].get_lines()
    assert sorted(dots.get_xdata()) == ["acme", "best", "cheap"]
    np.testing.assert_allclose(np.diff(dots.get_ydata()), np.diff(shapes["brand"](dots.get_xdata(orig=True))))


def test_the_columns_that_move_scores_most_are_drawn():
    X = np.random.default_rng(0).normal(size=(60, 30)) * (np.arange(30) == 17)
    X[:, :12] = np.random.default_rng(1).normal(size=(60, 12))
    model = RankRLS(columns="number").fit(X, X[:, 17])
    drawn = [place.get_xlabel() for place in model.plot_columns(X).axes]
    assert len(drawn) == 12
    assert drawn[0] == "x17"
    with pytest.raises(ParameterError, match="plot_columns needs a linear ranker with 'columns'"):
        RankRLS().fit(X, X[:, 17]).plot_columns(X)


def test_validation_rows_are_encoded_as_the_training_rows():
    frame, y, qid = messy_frame()
    other = messy_frame(seed=5)
    model = RankRLSCV([0.1, 10.0], columns="auto").fit(frame, y, qid, eval_set=other)
    encoder = ColumnEncoder().fit(frame)
    expected = RankRLSCV([0.1, 10.0]).fit(
        encoder.transform(frame), y, qid, eval_set=(encoder.transform(other[0]), *other[1:])
    )
    np.testing.assert_array_equal(model.scores_, expected.scores_)


def test_pairs_can_be_learned_from_tables():
    frame, _, _ = messy_frame()
    pairs = [[0, 1], [2, 3], [4, 5], [6, 7]]
    features = ColumnEncoder().fit_transform(frame)
    for ranker in (RankRLS(), RankSVM(0.1)):
        model = clone(ranker).set_params(columns="auto").fit_preferences(frame, pairs)
        np.testing.assert_array_equal(model.coef_, clone(ranker).fit_preferences(features, pairs).coef_)


def test_updates_keep_what_columns_became():
    frame, y, qid = messy_frame()
    first = np.isin(qid, [f"query {q}" for q in range(8)])
    model = RankRLS(columns="spline", solver="primal").fit(frame[first], y[first], qid[first])
    became = model.encoding_
    model.partial_fit(frame[~first], y[~first], qid[~first])
    assert model.encoding_ is became
    features = ColumnEncoder("spline").fit(frame[first]).transform(frame)
    np.testing.assert_allclose(model.coef_, RankRLS(solver="primal").fit(features, y, qid).coef_, atol=1e-9)
    model.forget(frame[~first], y[~first], qid[~first])
    expected = RankRLS(columns="spline", solver="primal").fit(frame[first], y[first], qid[first])
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-9)


def test_a_first_batch_decides_what_columns_become():
    frame, y, qid = messy_frame()
    model = RankRLS(columns="auto", solver="primal").partial_fit(frame, y, qid)
    np.testing.assert_allclose(
        model.predict(frame), RankRLS(columns="auto").fit(frame, y, qid).predict(frame)
    )


def test_a_fit_without_columns_forgets_them():
    frame, y, qid = messy_frame()
    model = RankRLS(columns="auto").fit(frame, y, qid)
    X = np.random.default_rng(0).normal(size=(len(y), 2))
    model.set_params(columns=None).fit(X, y, qid)
    assert not hasattr(model, "encoding_")
    np.testing.assert_array_equal(model.predict(X), RankRLS().fit(X, y, qid).predict(X))


def test_several_targets_are_refused_with_columns():
    frame, y, qid = messy_frame()
    with pytest.raises(DataError, match="1d array"):
        RankRLS(columns="auto").fit(frame, np.column_stack([y, y]), qid)


def test_numbers_of_knots_can_be_searched():
    frame, y, qid = messy_frame()
    with sklearn.config_context(enable_metadata_routing=True):
        cv = GroupKFold(2).set_split_request(groups="qid")
        search = GridSearchCV(RankRLS(), {"columns": ["number", "spline:3", "spline:8"]}, cv=cv)
        search.fit(frame[["price", "clicks", "rating"]], y, qid=qid)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("columns", ["auto", "spline", COLUMNS], ids=["auto", "spline", "told"])
def test_a_saved_model_has_the_same_bits(ranker, columns, tmp_path):
    frame, y, qid = messy_frame()
    model = ranker.set_params(columns=columns).fit(frame, y, qid)
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.encoding_ == model.encoding_
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    np.testing.assert_array_equal(read_model(tmp_path / "model").predict(frame), model.predict(frame))
    assert str(loaded.explain(frame, 0, 1)) == str(model.explain(frame, 0, 1))


def test_a_saved_model_of_an_array_finds_columns_by_position(tmp_path):
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 4
    model = RankRLS(columns={"x2": "spline", "x0": "number"}).fit(X, y)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict(X), model.predict(X))
    with pytest.raises(DataError, match="X has 2 features, but ColumnEncoder is expecting 3"):
        load_model(tmp_path / "model").predict(X[:, :2])


def test_a_loaded_model_can_be_updated(tmp_path):
    frame, y, qid = messy_frame()
    first = np.isin(qid, [f"query {q}" for q in range(8)])
    model = RankRLS(columns="auto", solver="primal").fit(frame[first], y[first], qid[first])
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model").partial_fit(frame[~first], y[~first], qid[~first])
    model.partial_fit(frame[~first], y[~first], qid[~first])
    np.testing.assert_array_equal(loaded.coef_, model.coef_)


def code_of(encoding, column):
    return next(code for code in encoding["codes"] if code["column"] == column)


HOSTILE = {
    "another shape": (lambda e: e.update(codes={}), "must be a list of dictionaries"),
    "more keys": (lambda e: e.update(run="me"), "must have codes and labels"),
    "an unknown code": (lambda e: e["codes"][0].update(code="eval"), "unknown to this version"),
    "a code that is no name": (lambda e: e["codes"][0].update(code=["number"]), "unknown to this version"),
    "a missing number": (lambda e: e["codes"][0].pop("fill"), "the code of column 'price' must have"),
    "another field": (lambda e: e["codes"][0].update(more=1), "the code of column 'price' must have"),
    "text for a number": (lambda e: e["codes"][0].update(fill="1"), "cannot hold '1'"),
    "no number": (lambda e: e["codes"][0].update(fill=float("nan")), "cannot hold nan"),
    "a number for a flag": (lambda e: e["codes"][0].update(marks_missing=1), "cannot hold 1"),
    "knots in no order": (lambda e: e["codes"][0]["knots"].reverse(), "impossible values"),
    "no knots": (lambda e: e["codes"][0].update(knots=[]), "impossible values"),
    "a scale of 0": (lambda e: code_of(e, "clicks").update(scale=0.0), "impossible values"),
    "a negative scale": (lambda e: code_of(e, "added")["of"].update(scale=-1.0), "impossible values"),
    "no date": (lambda e: code_of(e, "added").update(reference="yesterday"), "impossible values"),
    "a date that is always new": (lambda e: code_of(e, "added").update(reference="now"), "impossible values"),
    "a date that is none": (lambda e: code_of(e, "added").update(reference="NaT"), "impossible values"),
    "a date or a year": (lambda e: code_of(e, "added").update(reference="20200101"), "impossible values"),
    "a week": (lambda e: code_of(e, "added").update(reference="2020-W01-1"), "impossible values"),
    "too large a number": (lambda e: e["codes"][0].update(fill=10**400), "cannot hold 1000"),
    "an age of a category": (
        lambda e: code_of(e, "added").update(
            of={k: v for k, v in code_of(e, "brand").items() if k != "column"}
        ),
        "impossible values",
    ),
    "repeated categories": (
        lambda e: code_of(e, "brand").update(categories=["a", "a", "b"]),
        "impossible values",
    ),
    "a column twice": (lambda e: e["codes"][1].update(column="price"), "the columns must be distinct"),
    "a column without a name": (lambda e: e["codes"][0].pop("column"), "the columns must be a list of names"),
    "another name": (lambda e: e["codes"][0].update(column="prize"), "names of the features are not those"),
    "fewer columns": (lambda e: e["codes"].pop(), "3 columns are encoded; the model needs 4"),
    "fewer features": (lambda e: e["codes"][0]["knots"].pop(), "must have shape"),
    "labels of others": (lambda e: e.update(labels=["a", "b", "c", "d"]), "lack one that is encoded"),
    "labels in place of names": (
        lambda e: e.update(labels=[code["column"] for code in e["codes"]]),
        "names of the features are not those",
    ),
}


@pytest.mark.parametrize("change, message", HOSTILE.values(), ids=HOSTILE)
def test_a_file_with_impossible_columns_is_refused(change, message, tmp_path):
    frame, y, qid = messy_frame()
    RankRLS(columns=COLUMNS).fit(frame, y, qid).save(tmp_path / "model", moments=False)
    header, tensors = read_tensors(tmp_path / "model")
    change(header["values"]["encoding_"])
    write_tensors(tmp_path / "changed", header, tensors)
    with pytest.raises(FileFormatError, match=message):
        load_model(tmp_path / "changed")


def test_a_file_must_have_both_the_parameter_and_the_encoding(tmp_path):
    frame, y, qid = messy_frame()
    RankRLS(columns=COLUMNS).fit(frame, y, qid).save(tmp_path / "model", moments=False)
    header, tensors = read_tensors(tmp_path / "model")
    header["parameters"]["columns"] = None
    write_tensors(tmp_path / "changed", header, tensors)
    with pytest.raises(FileFormatError, match="need each other"):
        load_model(tmp_path / "changed")


@pytest.mark.parametrize("kind", ["number", "log", "spline:6"])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_constraint_on_a_column_makes_its_function_monotone(kind, sign):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": np.exp(rng.normal(size=200)), "b": rng.normal(size=200)})
    frame.loc[::9, "a"] = np.nan
    y, qid = np.nan_to_num(np.sin(3.0 * frame["a"])) + frame["b"], np.arange(200) % 10
    for ranker in (RankRLS(0.1), RankRLSCV([0.1, 1.0])):
        model = ranker.set_params(columns={"a": kind, "b": "spline:4"}, monotonic_cst={"a": sign}).fit(
            frame, y, qid
        )
        grid = pd.DataFrame({"a": np.linspace(-1.0, 20.0, 99), "b": 0.0})
        assert (sign * np.diff(model.predict(grid)) >= -1e-12).all()
        free = ranker.set_params(monotonic_cst=None).fit(frame, y, qid)
        assert kind != "spline:6" or (sign * np.diff(free.predict(grid)) < 0).any()


def test_a_constraint_on_a_date_is_about_the_date_and_not_its_age():
    frame, y, qid = messy_frame()
    days = pd.DataFrame({"added": pd.date_range("2023-01-01", "2025-01-01", periods=50)})
    for sign in (1, -1):
        columns = {"added": "date:spline", "clicks": "log"}
        model = RankRLS(columns=columns, monotonic_cst={"added": sign}).fit(frame, y, qid)
        assert (sign * np.diff(model.predict(days.assign(clicks=1))) >= -1e-12).all()


def test_a_category_cannot_be_monotone():
    frame, y, qid = messy_frame()
    with pytest.raises(ParameterError, match="monotonic_cst names 'brand', which is a category"):
        RankRLS(columns="auto", monotonic_cst={"brand": 1}).fit(frame, y, qid)
    with pytest.raises(ParameterError, match=r"monotonic_cst names 'prise', .* did you mean 'price'"):
        RankRLS(columns="auto", monotonic_cst={"prise": 1}).fit(frame, y, qid)


def test_contradicted_signs_name_the_parts_of_a_spline():
    frame, y, qid = messy_frame()
    columns = {"clicks": "spline:3", "price": "number"}
    model = RankRLS(columns=columns, monotonic_cst={"clicks": -1}).fit(frame, y, qid)
    assert model.contradicted_signs_
    assert set(model.contradicted_signs_) <= set(model.encoding_.feature_names)


def test_rows_of_other_processes_are_not_encoded():
    with pytest.raises(DataError, match="Columns can be encoded only in this process"):
        RankRLS(columns="auto").fit(
            type("Parts", (JudgedParts,), dict.fromkeys(JudgedParts.__abstractmethods__))()
        )
