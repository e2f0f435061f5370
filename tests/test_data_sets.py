"""Rankers take a RankingData as it is, and its feature names stay with the model."""

import json
import sqlite3
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import rankwise
from rankwise import DataError, RankingData
from rankwise.cli import main

RANKERS = [
    rankwise.RankRLS(),
    rankwise.RankSVM(),
    rankwise.KernelRankRLS(),
    rankwise.RankSVMPath(graph="reduced"),
    rankwise.RankRLSCV([0.1, 1.0]),
    rankwise.RankSVMCV([0.1]),
    rankwise.KernelRankRLSCV([1.0]),
]


@pytest.fixture
def parts():
    return rankwise.make_search_data(30, random_state=0).split(0.7)


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_a_data_set_stands_for_its_rows_labels_queries_and_names(ranker, parts):
    train, test = parts
    whole = clone(ranker).fit(train)
    apart = clone(ranker).fit(np.array(train.X), train.y, train.qid)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(whole.predict(test), apart.predict(np.array(test.X)))
        np.testing.assert_array_equal(whole.rank(test), apart.rank(np.array(test.X), test.qid))
        assert whole.score(test) == apart.score(np.array(test.X), test.y, test.qid)
    assert whole.feature_names_in_.tolist() == list(train.feature_names)
    assert not hasattr(apart, "feature_names_in_")


@pytest.mark.parametrize("ranker", [rankwise.RankRLSCV([0.1, 1.0]), rankwise.RankSVM(early_stopping=True)])
def test_a_data_set_can_be_the_eval_set(ranker, parts):
    train, test = parts
    whole = clone(ranker).fit(train, eval_set=test)
    apart = clone(ranker).fit(train.X, train.y, train.qid, eval_set=(test.X, test.y, test.qid))
    np.testing.assert_array_equal(whole.coef_, apart.coef_)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_named_data_keeps_its_names(form, parts):
    train, test = parts
    names = [f"feature {j}" for j in range(train.n_features)]
    train, test = (
        RankingData.from_arrays(form(part.X), part.y, part.qid, feature_names=names) for part in parts
    )
    model = rankwise.RankRLS().fit(train)
    assert model.feature_names_in_.tolist() == names
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        top = model.explain(test.X, 0, 1).top(1)
        model.predict(test.X[:3])  # nameless, and probably of the same data
    assert top[0][0] in names


def test_names_that_differ_or_are_in_another_order_are_refused(parts):
    train, test = parts
    model = rankwise.RankRLS().fit(train)
    backwards = RankingData.from_arrays(
        np.array(test.X)[:, ::-1], test.y, test.qid, feature_names=train.feature_names[::-1]
    )
    with pytest.raises(DataError, match="The features differ: the data has them in another order"):
        model.predict(backwards)
    other = RankingData.from_arrays(
        np.array(test.X), test.y, test.qid, feature_names=["a", *train.feature_names[1:]]
    )
    with pytest.raises(DataError, match=f"the data has no '{train.feature_names[0]}', but the model has"):
        model.predict(other)
    assert model.fit(np.array(train.X), train.y, train.qid) is model
    assert not hasattr(model, "feature_names_in_")


def test_a_frame_after_an_array_without_names_still_gets_scikit_learns_warning(parts):
    pandas = pytest.importorskip("pandas")
    train, _ = parts
    frame = pandas.DataFrame(train.X, columns=list(train.feature_names))
    model = rankwise.RankRLS().fit(frame, train.y, train.qid)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(frame.to_numpy())


def test_features_of_text_are_explained_by_the_numbers_of_the_file(tmp_path, parts, capsys):
    train, _ = parts
    for first in (0, 1):
        path, store = tmp_path / f"from{first}.txt", tmp_path / f"from{first}.store"
        lines = (
            f"{label:g} qid:{qid} " + " ".join(f"{j}:{value}" for j, value in enumerate(row, start=first))
            for label, qid, row in zip(train.y, train.qid, train.X.tolist(), strict=True)
        )
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        rankwise.convert_letor(path, store)
        for data in (rankwise.load_letor(path), rankwise.open_store(store)):
            model = rankwise.RankRLS().fit(data)
            place = np.abs(model.coef_ * (data.X[0] - data.X[1])).argmax()
            assert model.explain(data.X, 0, 1).top(1)[0][0] == str(place + first)
        model.save(tmp_path / "model")
        loaded = rankwise.load_model(tmp_path / "model")
        assert loaded.explain(data.X, 0, 1).top(1)[0][0] == str(place + first)
        assert main(["info", str(tmp_path / "model"), "--json"]) == 0
        largest = np.abs(model.coef_).argmax() + first
        assert next(iter(json.loads(capsys.readouterr().out)["largest weights"])) == str(largest)


def test_labels_beside_a_data_set_are_refused(parts):
    train, _ = parts
    with pytest.raises(DataError, match="has its own labels and queries; pass it alone"):
        rankwise.RankRLS().fit(train, train.y)


def test_scaled_and_unscaled_data_do_not_mix(parts):
    train, test = parts
    model = rankwise.RankRLS().fit(train.scale_per_query())
    model.predict(test.scale_per_query())
    with pytest.raises(
        DataError, match="those of the model were scaled within each query, those of the data were not"
    ):
        model.predict(test)
    with pytest.raises(
        DataError, match="those of the data were scaled within each query, those of the model were not"
    ):
        rankwise.RankRLS().fit(train).predict(test.scale_per_query())
    with pytest.raises(DataError, match="scaled within each query"):
        rankwise.RankRLSCV([1.0]).fit(train, eval_set=test.scale_per_query())


def test_pairs_between_the_rows_of_a_data_set_keep_its_names_and_scaling(parts):
    train, _ = parts
    scaled = train.scale_per_query()
    for labels in ({}, {"y": train.y, "qid": train.qid}):
        model = rankwise.RankRLS().fit_preferences(scaled, [[0, 1], [2, 3]], **labels)
        assert model.feature_names_in_.tolist() == list(train.feature_names)
        assert model.scaled_per_query_ is True


def test_a_frame_with_pairs_and_labels_is_checked_without_a_warning(parts):
    pandas = pytest.importorskip("pandas")
    train, _ = parts
    frame = pandas.DataFrame(train.X, columns=list(train.feature_names))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rankwise.RankRLS().fit_preferences(frame, [[0, 1]], y=train.y, qid=train.qid)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "ranker", [*RANKERS, rankwise.RankRLSPath(max_features=1)], ids=lambda r: type(r).__name__
)
def test_another_data_set_on_the_same_matrix_has_no_say_in_the_names(ranker, form):
    X, y, qid = _of_two_features(form)
    names, others = ["price", "stock"], ["stock", "price"]
    one = RankingData.from_arrays(X, y, qid, feature_names=names)
    two = RankingData.from_arrays(X, y, qid, feature_names=others)
    model = clone(ranker).fit(one)
    assert model.feature_names_in_.tolist() == names
    assert clone(ranker).fit(two).feature_names_in_.tolist() == others
    assert not hasattr(clone(ranker).fit(X, y, qid), "feature_names_in_")
    assert not hasattr(clone(ranker).fit(one.X, y, qid), "feature_names_in_")
    model.predict(one)
    for use in (model.predict, model.score, model.rank, lambda data: model.explain(data, 0, 1)):
        with pytest.raises(DataError, match="the data has them in another order"):
            use(two)


def test_an_eval_set_or_a_batch_is_checked_by_its_own_names():
    X, y, qid = _of_two_features(np.asarray)
    two, one = (
        RankingData.from_arrays(X, y, qid, feature_names=names)
        for names in (["stock", "price"], ["price", "stock"])
    )
    model = rankwise.RankRLS().fit(one)
    for use in (model.partial_fit, lambda data: rankwise.RankRLSCV([1.0]).fit(one, eval_set=data)):
        with pytest.raises(DataError, match="the data has them in another order"):
            use(two)
    on_pairs = rankwise.RankRLS().fit_preferences(two, [[0, 1]], y=y, qid=qid)
    assert on_pairs.feature_names_in_.tolist() == ["stock", "price"]
    with pytest.raises(DataError, match="the data has them in another order"):
        rankwise.RankRLS().fit_preferences(one, [[0, 1]], eval_set=(two, [[0, 1]]))


def test_an_export_has_the_names_of_the_data_set_that_was_fitted(tmp_path):
    X, y, qid = _of_two_features(np.asarray)
    one = RankingData.from_arrays(X, y, qid, feature_names=["price", "stock"])
    RankingData.from_arrays(X, y, qid, feature_names=["stock", "price"])
    model = rankwise.RankRLS().fit(one)
    rankwise.export_model(model, tmp_path / "score.sql", "sqlite")
    expression = (tmp_path / "score.sql").read_text(encoding="utf-8")
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE documents (price, stock)")
        database.executemany("INSERT INTO documents VALUES (?, ?)", X.tolist())
        found = database.execute(f"SELECT {expression} FROM documents").fetchall()
    np.testing.assert_allclose([score for (score,) in found], model.predict(one), rtol=1e-9)


def test_columns_are_those_of_the_data_set_that_is_scored(tmp_path):
    X, y, qid = _of_two_features(np.asarray)
    one = RankingData.from_arrays(X, y, qid, feature_names=["price", "stock"])
    two = RankingData.from_arrays(X[:, ::-1], y, qid, feature_names=["stock", "price"])
    RankingData.from_arrays(one.X, y, qid, feature_names=["stock", "price"])
    model = rankwise.RankRLS(columns="auto").fit(one)
    assert model.feature_names_in_.tolist() == ["price", "stock"]
    np.testing.assert_array_equal(model.predict(two), model.predict(one))
    assert model.model_.predict(two).tolist() == model.predict(one).tolist()


def _of_two_features(form):
    random = np.random.default_rng(0)
    X = random.normal(size=(12, 2))
    return form(X), X @ [3.0, -1.0] + 0.1 * random.normal(size=12), np.repeat([0, 1, 2], 4)


def test_predicting_does_not_form_moments(parts):
    train, test = parts
    model = rankwise.RankRLS().fit(train)
    before = dict(vars(model))
    model.predict(test)
    model.predict(test.X)
    model.explain(test, 0, 1)
    assert vars(model) == before
    assert "moments_" not in before


def test_the_names_of_a_data_set_are_compared_with_those_of_a_frame(parts):
    train, test = parts
    pandas = pytest.importorskip("pandas")
    model = rankwise.RankRLS().fit(pandas.DataFrame(train.X, columns=train.feature_names), train.y, train.qid)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(test)
    renamed = RankingData.from_arrays(test.X, test.y, test.qid, feature_names=test.feature_names[::-1])
    with pytest.raises(DataError, match="the data has them in another order"):
        model.predict(renamed)
