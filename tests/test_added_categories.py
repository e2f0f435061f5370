"""Updates that add a feature for each new category equal a fit to all rows with those categories."""

import numpy as np
import pandas as pd
import pytest

import rankwise
from command_line import done, folder, refused
from rankwise import RankRLS, RankRLSCV
from rankwise.columns.unknown import with_categories
from rankwise.errors import DataError, ParameterError

__all__ = ["done", "folder", "refused"]  # fixtures
COLUMNS = {"brand": "category", "price": "number", "color": "category"}


def week(number, brands, colors, scale=1.0):
    rng = np.random.default_rng(number)
    table = pd.DataFrame(
        {
            "brand": rng.choice(brands, 120).astype(object),
            "price": scale * rng.normal(size=120),
            "color": rng.choice(colors, 120).astype(object),
        }
    )
    table.loc[:9, "color"] = None
    return table, rng.integers(0, 4, 120), np.repeat([f"{number}-{q}" for q in range(12)], 10)


WEEKS = [
    week(0, ["oak", "elm"], ["red", "blue"]),
    week(1, ["oak", "ash"], ["red", "lime"]),
    week(2, ["fir", "ash", "elm"], ["blue"]),
]


def fitted(encoding, weeks, alpha=1.0, **loss):
    table, y, qid = pd.concat([w[0] for w in weeks]), *(np.concatenate([w[k] for w in weeks]) for k in (1, 2))
    return RankRLS(alpha, **loss).fit(encoding.encode(encoding.table(table)), y, qid)


@pytest.mark.parametrize("loss", [{}, {"ties": "drop"}, {"weighting": "query"}, {"weighting": "pair"}])
def test_an_update_is_a_fit_to_all_rows_with_the_new_categories(loss):
    model = RankRLS(columns=COLUMNS, solver="primal", **loss).fit(*WEEKS[0])
    for batch in WEEKS[1:]:
        model.partial_fit(*batch, add_categories=True)
    codes = model.encoding_.codes
    assert codes["brand"].categories == ("elm", "oak", "ash", "fir")
    assert codes["color"].categories == ("blue", "red", "lime")
    expected = fitted(model.encoding_, WEEKS, **loss)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-9)
    assert np.linalg.norm(model.coef_ - expected.coef_) <= model.coef_error_
    assert model.predict(WEEKS[2][0]).std() > 0.0


def test_alpha_is_chosen_with_the_new_categories_too():
    model = RankRLSCV(columns=COLUMNS).fit(*WEEKS[0])
    for batch in WEEKS[1:]:
        model.partial_fit(*batch, add_categories=True)
    assert model.cv_ == "progressive validation"
    np.testing.assert_allclose(model.coef_, fitted(model.encoding_, WEEKS, model.alpha_).coef_, atol=1e-9)


def test_queries_from_before_and_after_can_be_forgotten(tmp_path):
    model = RankRLS(columns=COLUMNS, solver="primal").fit(*WEEKS[0])
    for batch in WEEKS[1:]:
        model.partial_fit(*batch, add_categories=True)
        model.save(tmp_path / "model")
        model = rankwise.load_model(tmp_path / "model")
    for k, rest in ((0, WEEKS[1:]), (1, WEEKS[2:])):
        model.forget(*WEEKS[k])
        np.testing.assert_allclose(model.coef_, fitted(model.encoding_, rest).coef_, atol=1e-9)
    with pytest.raises(DataError, match="was never learned"):
        model.forget(*WEEKS[0])


def test_a_query_learned_before_is_still_recognized():
    model = RankRLS(columns=COLUMNS, solver="primal").fit(*WEEKS[0])
    model.partial_fit(*WEEKS[1], add_categories=True)
    table, y, qid = WEEKS[0]
    with pytest.raises(DataError, match="was learned before"):
        model.partial_fit(table, y, qid)
    with pytest.raises(DataError, match="with other rows"):
        model.forget(table.assign(price=table["price"] + 1.0), y, qid)


@pytest.mark.parametrize("scale", [1e6, 1e9])
def test_large_numbers_beside_new_categories_keep_their_digits(scale):
    weeks = [week(0, ["oak"], ["red", "blue"], scale), week(1, ["oak", "ash"], ["red"], scale)]
    model = (
        RankRLS(columns=COLUMNS, solver="primal").fit(*weeks[0]).partial_fit(*weeks[1], add_categories=True)
    )
    np.testing.assert_allclose(model.coef_, fitted(model.encoding_, weeks).coef_, atol=1e-9)


def test_without_new_categories_nothing_changes():
    one, other = (RankRLS(columns=COLUMNS, solver="primal").fit(*WEEKS[0]) for _ in range(2))
    table, y, qid = week(3, ["oak"], ["red"])
    one.partial_fit(table, y, qid, add_categories=True)
    other.partial_fit(table, y, qid)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert one.encoding_ == other.encoding_


def test_a_failed_update_adds_nothing():
    model = RankRLS(columns=COLUMNS, solver="primal").fit(*WEEKS[0])
    encoding, scores = model.encoding_, model.predict(WEEKS[1][0])
    with pytest.raises(DataError, match="was learned before"):
        model.partial_fit(WEEKS[1][0], WEEKS[1][1], WEEKS[0][2], add_categories=True)
    assert model.encoding_ == encoding
    np.testing.assert_array_equal(model.predict(WEEKS[1][0]), scores)
    model.partial_fit(*WEEKS[1], add_categories=True)


def test_features_of_interactions_keep_their_places():
    ranker = RankRLS(columns=COLUMNS, interactions=[("brand", "price")], solver="primal")
    model = ranker.fit(*WEEKS[0]).partial_fit(*WEEKS[1], add_categories=True)
    np.testing.assert_allclose(model.coef_, fitted(model.encoding_, WEEKS[:2]).coef_, atol=1e-9)


def test_the_old_features_are_found_among_all():
    encoding = RankRLS(columns=COLUMNS).fit(*WEEKS[0]).encoding_
    wider, at = with_categories(encoding, {"brand": ["ash", "fir"], "color": ["lime"]})
    assert np.array(wider.feature_names)[at].tolist() == encoding.feature_names
    assert wider.n_features == encoding.n_features + 3


def test_models_of_features_have_no_categories():
    X, y, qid = np.eye(4), [0, 1, 0, 1], [1, 1, 2, 2]
    model = RankRLS(solver="primal").fit(X, y, qid)
    with pytest.raises(ParameterError, match="add_categories=True needs a ranker with columns"):
        model.partial_fit(X, y, [3, 3, 4, 4], add_categories=True)
    with pytest.raises(ParameterError, match="add_categories"):
        model.partial_fit(X, y, [3, 3, 4, 4], add_categories="yes")


def test_the_command_adds_them_on_request(done, refused, folder):
    for number, (table, y, qid) in enumerate(WEEKS[:2]):
        table.assign(label=y, qid=qid).to_parquet(folder / f"brands{number}.parquet")
    done("train", "brands0.parquet", "brands", "--columns", "auto", "--alpha", "1", "--set", "solver=primal")
    shown = done("update", "brands1.parquet", "brands", "--add-categories", "--out", "more")
    assert "Unknown categories of brand" in shown
    assert "ash" in rankwise.load_model(folder / "more").encoding_.codes["brand"].categories
    assert "Unknown" not in done("update", "brands1.parquet", "brands", "--out", "kept").split("Quality")[0]
    assert "ash" not in rankwise.load_model(folder / "kept").encoding_.codes["brand"].categories
