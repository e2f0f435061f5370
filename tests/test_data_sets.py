"""Rankers take a RankingData as it is, and its feature names stay with the model."""

import gc
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import rankwise
from rankwise import DataError, RankingData
from rankwise.cli import main
from rankwise.features import Features, features_of

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
def test_the_rows_of_named_data_keep_their_names(form, parts):
    train, test = parts
    names = [f"feature {j}" for j in range(train.n_features)]
    train, test = (
        RankingData.from_arrays(form(part.X), part.y, part.qid, feature_names=names) for part in parts
    )
    model = rankwise.RankRLS().fit(train.X, train.y, train.qid)
    assert model.feature_names_in_.tolist() == names
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        top = model.explain(test.X, 0, 1).top(1)
        model.predict(test.X[:3])  # nameless, and probably of the same data
    assert top[0][0] in names


def test_names_that_differ_or_are_in_another_order_are_refused(parts):
    train, test = parts
    model = rankwise.RankRLS().fit(train.X, train.y, train.qid)
    backwards = RankingData.from_arrays(
        np.array(test.X)[:, ::-1], test.y, test.qid, feature_names=train.feature_names[::-1]
    )
    with pytest.raises(DataError, match="does not match the model: the order of the features differs"):
        model.predict(backwards.X)
    other = RankingData.from_arrays(
        np.array(test.X), test.y, test.qid, feature_names=["a", *train.feature_names[1:]]
    )
    with pytest.raises(DataError, match=f"the feature '{train.feature_names[0]}' is missing"):
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
            model = rankwise.RankRLS().fit(data.X, data.y, data.qid)
            place = np.abs(model.coef_ * (data.X[0] - data.X[1])).argmax()
            assert model.explain(data.X, 0, 1).top(1)[0][0] == str(place + first)
        model.save(tmp_path / "model")
        loaded = rankwise.load_model(tmp_path / "model")
        assert loaded.explain(data.X, 0, 1).top(1)[0][0] == str(place + first)
        assert main(["info", str(tmp_path / "model")]) == 0
        largest = np.abs(model.coef_).argmax() + first
        assert f"largest weights                {largest}: " in capsys.readouterr().out


def test_labels_beside_a_data_set_are_refused(parts):
    train, _ = parts
    with pytest.raises(DataError, match="has its own labels and queries; pass it alone"):
        rankwise.RankRLS().fit(train, train.y)


def test_scaled_and_unscaled_data_do_not_mix(parts):
    train, test = parts
    model = rankwise.RankRLS().fit(train.scale_per_query())
    model.predict(test.scale_per_query())
    with pytest.raises(DataError, match="were scaled within each query, but those of the data are not"):
        model.predict(test)
    with pytest.raises(DataError, match="were not scaled within each query, but those of the data are"):
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


def test_names_are_forgotten_with_their_matrix():
    X = np.ones((2, 2))
    data = RankingData.from_arrays(X, [0, 1], feature_names=["a", "b"])
    assert features_of(data.X) == Features(("a", "b"))
    key = id(data.X)
    del data, X
    gc.collect()
    from rankwise.features import _remembered

    assert key not in _remembered
