"""Features are matched in one place, so everyone who meets other rows says the same about them."""

from dataclasses import replace

import numpy as np
import pytest

import rankwise
from in_parts import in_parts, together
from rankwise import DataError, Moments, RankingData
from rankwise.cli import main
from rankwise.features import Features
from rankwise.model.data_scores import score_data

KNOWN = Features(("a", "b", "c"), 1, 3, False)


def rows(features, n_queries=4):
    """Judged rows with these features."""
    rng = np.random.default_rng(0)
    y, qid = np.tile([0.0, 1.0, 2.0], n_queries), np.repeat(np.arange(n_queries), 3)
    data = RankingData.from_arrays(rng.normal(size=(len(y), features.count)), y, qid)
    return replace(data, features=features)


def relabelled(data):
    """The same rows of other queries."""
    return RankingData(
        data.X, data.y, replace(data.queries, labels=data.queries.labels + 100), data.qid + 100
    )


@pytest.mark.parametrize(
    "other, sentence",
    [
        (replace(KNOWN, names=("a", "x", "c")), "the data has no 'b', but the model has"),
        (replace(KNOWN, names=("a", "b"), count=2), "the data has no 'c', but the model has"),
        (replace(KNOWN, names=("a", "b", "c", "d"), count=4), "the model has no 'd', but the data has"),
        (replace(KNOWN, names=("b", "a", "c")), "the data has them in another order"),
        (replace(KNOWN, names=None, count=2), "the model has 3 and the data has 2"),
        (replace(KNOWN, numbered_from=0), "the model numbers them from 1, the data from 0"),
        (replace(KNOWN, scaled_per_query=True), "those of the data were scaled within each query"),
    ],
)
def test_whoever_meets_other_features_says_how_they_differ(other, sentence):
    model = rankwise.RankRLS(solver="primal").fit(rows(KNOWN))
    data = rows(other)
    for use in (model.predict, model.partial_fit, model.score):
        with pytest.raises(DataError, match=f"The features differ: {sentence}"):
            use(data)
    with pytest.raises(DataError, match=f"eval_set: The features differ: {sentence}"):
        rankwise.RankSVM().fit(rows(KNOWN), eval_set=data)
    if not other.scaled_per_query:
        with pytest.raises(DataError, match=f"The features differ: {sentence}"):
            score_data(model.model_, data)
    if other.numbered_from == 1:  # parts of text may begin with any feature
        with pytest.raises(DataError, match=f"The features differ: {sentence}"):
            model.predict(in_parts(data, 2))
    if other.names is not None:
        calls = sentence.replace("the data", "part 1").replace("the model", "part 0")
        apart = replace(relabelled(data), features=other)
        with pytest.raises(DataError, match=f"The features differ: {calls}"):
            RankingData.concat([rows(KNOWN), apart])
    if other.names is not None and other.numbered_from == 1:
        with pytest.raises(DataError, match=f"The features differ: {calls}"):
            together([rows(KNOWN), apart])
    if other.names is not None and other.count == 3 and other.names != KNOWN.names:
        with pytest.raises(DataError, match="cannot be combined: the other has"):
            Moments.of(rows(KNOWN)) + Moments.of(apart)


@pytest.mark.parametrize(
    "other",
    [KNOWN, Features(count=3), Features(("a", "b", "c")), Features(numbered_from=1, count=3)],
)
def test_features_are_the_same_as_far_as_both_are_known(other):
    assert KNOWN.difference(other, "one", "the other") is None
    assert other.difference(KNOWN, "one", "the other") is None


def test_features_travel_with_the_rows(tmp_path):
    data = rows(KNOWN)
    scaled = data.scale_per_query()
    assert scaled.features == replace(KNOWN, scaled_per_query=True)
    rankwise.save_store(scaled, tmp_path / "rows.store")
    for found in (
        scaled.select(slice(3)),
        scaled.split()[1],
        RankingData.concat([scaled, replace(relabelled(scaled), features=scaled.features)]),
        rankwise.open_store(tmp_path / "rows.store"),
        in_parts(scaled, 2),
        rankwise.RankRLS().fit(scaled).model_,
    ):
        assert found.features == scaled.features
    assert scaled.feature_names == ("a", "b", "c")
    assert (scaled.numbered_from, scaled.scaled_per_query) == (1, True)


def test_text_without_the_first_feature_is_read_with_the_numbers_of_the_model(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    train = rankwise.make_search_data(20, random_state=0)
    rankwise.save_letor(train, "train.txt", zero_based=True)
    test = RankingData.from_arrays(train.X[:, 1:], train.y, train.qid)
    rankwise.save_letor(test, "test.txt")  # features 1 to 21, as in the training data
    assert main(["train", "train.txt", "model", "--alpha", "1"]) == 0
    capsys.readouterr()
    assert main(["predict", "test.txt", "model"]) == 0
    scores = np.array(capsys.readouterr().out.split(), dtype=float)
    np.testing.assert_allclose(scores, test.X @ rankwise.load_model("model").coef_[1:], rtol=1e-6, atol=1e-9)


def test_rows_without_features_keep_everything_else():
    data = rankwise.make_search_data(5, random_state=0)
    bare = replace(data, sample_weight=np.ones(data.n_rows)).without_features()
    assert (bare.X.shape, bare.features) == ((data.n_rows, 0), Features(count=0, scaled_per_query=False))
    assert bare.queries is data.queries
    for name in ("y", "qid", "docs"):
        np.testing.assert_array_equal(getattr(bare, name), getattr(data, name))
    assert bare.sample_weight.tolist() == [1.0] * data.n_rows


@pytest.mark.parametrize("qid", [[1, 1, 2, 2, 2], [2, 1, 2, 1, 2]])
def test_rows_of_a_query_are_those_with_its_label(qid):
    data = RankingData.from_arrays(np.eye(5), range(5), qid)
    for query, label in enumerate(data.queries.labels):
        assert data.queries.rows_of(query).tolist() == np.flatnonzero(data.qid == label).tolist()
