"""Drift: planted shifts are found, those of chance are not, and the command leaves with its codes."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import rankwise
from command_line import done, folder, refused
from rankwise import RankingData, RankRLS, drift
from rankwise.auditing.stability import BinnedColumn, binned, chance_of_shift, stability_index
from rankwise.cli import main
from rankwise.columns.profile import ColumnProfile
from rankwise.errors import DataError, ParameterError
from rankwise.metrics import evaluate
from rankwise.preferences.queries import group_rows
from rankwise.types import Reading

__all__ = ["done", "folder", "refused"]  # fixtures


def shop(n_queries, seed=0, first=0):
    """A table of columns of every kind; some are the same, or alike, within a query."""
    rng = np.random.default_rng(seed)
    n, query = 10 * n_queries, np.repeat(np.arange(n_queries), 10)
    table = pd.DataFrame(
        {
            "price": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(size=n)),
            "stars": rng.integers(1, 6, n),
            "sales": np.where(rng.random(n) < 0.8, 0.0, rng.exponential(size=n)),
            "match": rng.normal(size=n) + rng.normal(size=n_queries)[query],
            "brand": rng.choice(["oak", "elm", "fir"], n, p=[0.6, 0.3, 0.1]).astype(object),
            "new": rng.random(n) < 0.3,
            "since": pd.Timestamp("2024-01-29") + pd.to_timedelta(rng.integers(0, 90, n), "D"),
            "device": rng.choice(["phone", "desk"], n_queries)[query],
        }
    )
    y = (table["stars"] + (table["brand"] == "oak") + rng.random(n) > 4).astype(int)
    return table, y, query + first


@pytest.fixture(scope="module")
def model():
    with pytest.warns(rankwise.errors.ContextWarning):
        return RankRLS(columns="auto").fit(*shop(300, seed=1))


def nothing(table, rows):
    pass


def in_cents(table, rows):
    table["price"] *= 100.0


def lost(table, rows):
    table.loc[rows, "price"] = np.nan


def sentinel(table, rows):
    table.loc[rows, "price"] = -1.0


def moved(table, rows):
    table["match"] += 1.0


def renamed(table, rows):
    table.loc[rows, "brand"] = "ash"


def mixed(table, rows):
    table.loc[rows, "brand"] = "fir"


def turned(table, rows):
    table["new"] = ~table["new"]


def later(table, rows):
    table["since"] += pd.Timedelta(days=200)


def on_phones(table, rows):
    table["device"] = "phone"


PLANTED = {
    in_cents: "price",
    lost: "price",
    sentinel: "price",
    moved: "match",
    renamed: "brand",
    mixed: "brand",
    turned: "new",
    later: "since",
    on_phones: "device",
}


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_a_planted_shift_is_found_and_nothing_else(model, plant):
    table, _, qid = shop(200, seed=2)
    plant(table, np.random.default_rng(3).random(len(table)) < 0.3)
    assert drift(model, table, qid=qid).shifted() == [PLANTED[plant]]


@pytest.mark.filterwarnings("ignore::rankwise.errors.ContextWarning")
def test_a_random_half_has_not_shifted():
    """However alike the rows of a query are, and few the queries."""
    table, y, qid = shop(120, seed=5)
    rng, alarms = np.random.default_rng(0), 0
    for _ in range(25):
        chosen = np.isin(qid, rng.permutation(120)[:60])
        half = RankRLS(columns="auto").fit(table[chosen], y[chosen], qid[chosen])
        alarms += bool(drift(half, table[~chosen], qid=qid[~chosen]).shifted(above=0.0))
    assert alarms <= 1


@pytest.mark.parametrize("alike", [0.0, 0.5, 1.0])
def test_p_values_are_those_of_chance(alike):
    rng, p_values = np.random.default_rng(0), []
    query = np.repeat(np.arange(80), 8)

    def drawn():
        return np.sqrt(alike) * rng.normal(size=80)[query] + np.sqrt(1.0 - alike) * rng.normal(size=640)

    queries = group_rows(query, 640)
    for _ in range(150):
        old = np.sort(drawn())
        reached = np.arange(64, 641, 64) / 640
        quantiles = (old[0], *old[63::64])
        known = ColumnProfile(Reading.NUMBER, 0.0, quantiles, reached=(1 / 640, *reached))
        p_values.append(chance_of_shift(binned(known, drawn(), None), 640, queries))
    assert np.mean(np.array(p_values) < 0.05) < 0.12
    assert 0.3 < np.median(p_values) < 0.7


def test_the_index_is_the_sum_over_bins():
    known = ColumnProfile(Reading.FLAG, 0.25, frequencies={"false": 0.5, "true": 0.25})
    found = binned(known, np.array([0.0, 1.0, 1.0, np.nan]), None)
    expected = -0.25 * np.log(0.25 / 0.5) + 0.25 * np.log(0.5 / 0.25)
    assert stability_index(found) == pytest.approx(expected)
    assert found.share_of_new == 0.0


def test_what_never_occurred_counts_as_one_row_in_ten_thousand():
    found = BinnedColumn(np.array([1.0, 0.0]), np.array([0, 0, 0, 1]), (1,))
    expected = -0.25 * np.log(0.75) + (0.25 - 1e-4) * np.log(0.25 / 1e-4)
    assert stability_index(found) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("values", "new"),
    [
        ([1.0, 2.0, 2.0, 3.0], [0.0, 2.0, 4.0, np.nan]),
        ([5.0, 5.0, 5.0], [5.0, 4.0, 6.0]),
        ([1e9, 1e9 + 1.0, 1e9 + 2.0], [1e9 - 1.0, 1e9 + 1.0, 2e9]),
    ],
)
def test_values_outside_the_range_of_training_are_new(values, new):
    X, y = np.array(values)[:, None], np.arange(len(values))
    with rankwise.config_context(one_ranking=True):
        known = RankRLS(columns={"x0": "number"}).fit(X, y).model_.profile.columns["x0"]
    found = binned(known, np.array(new), None)
    outside = (np.array(new) < min(values)) | (np.array(new) > max(values))
    assert found.share_of_new == outside.mean()
    assert found.expected.sum() == pytest.approx(1.0)
    same = binned(known, np.array(values), None)
    assert stability_index(same) == pytest.approx(0.0, abs=1e-12)


def test_unknown_categories_are_named_with_their_shares(model):
    table, _, qid = shop(100, seed=2)
    table.loc[:99, "brand"], table.loc[100:149, "brand"] = "ash", "yew"
    found = drift(model, table, qid=qid).columns["brand"]
    assert found.unknown == {"ash": 0.1, "yew": 0.05}
    assert found.new == pytest.approx(0.15)


def test_a_column_with_many_categories_has_bins_for_the_frequent_ones():
    rng = np.random.default_rng(0)
    share = 1.0 / np.arange(1, 201)
    brands = np.array([f"brand {k}" for k in range(200)], dtype=object)

    def rows(seed):
        drawn = np.random.default_rng(seed).choice(brands, 3000, p=share / share.sum())
        return pd.DataFrame({"brand": drawn}), rng.integers(0, 2, 3000), np.repeat(np.arange(300), 10)

    model = RankRLS(columns="auto").fit(*rows(1))
    table, _, qid = rows(2)
    assert drift(model, table, qid=qid).shifted(above=0.0) == []
    table.loc[table["brand"] == "brand 0", "brand"] = "brand 1"
    assert drift(model, table, qid=qid).shifted() == ["brand"]


@pytest.mark.parametrize("as_stored", [np.asarray, sparse.csr_matrix, lambda X: X.astype(np.float32)])
def test_features_of_any_storage_are_compared(as_stored):
    data = rankwise.make_search_data(150, random_state=0)
    old, new = data.split(0.5, random_state=1)
    X = new.X.copy()
    X[:, 2] = X[:, 2] * 3.0 + 1.0
    model = RankRLS().fit(as_stored(old.X), old.y, old.qid)
    assert drift(model, as_stored(new.X), qid=new.qid).shifted() == []
    assert drift(model, as_stored(X), qid=new.qid).shifted() == ["x2"]


def test_one_dominating_query_is_no_evidence():
    rng = np.random.default_rng(0)
    sizes = [5] * 100
    X = rng.normal(size=(500, 2))
    model = RankRLS().fit(X, rng.integers(0, 2, 500), np.repeat(np.arange(100), sizes))
    new = np.concatenate([rng.normal(size=(100, 2)), rng.normal(0.05, 0.1, (400, 2))])
    qid = np.concatenate([np.repeat(np.arange(20), 5), np.full(400, 99)])
    found = drift(model, new, qid=qid)
    assert found.shifted() == []
    assert found.columns["x0"].verdict(0.1) == "may be chance"
    assert drift(model, new).shifted() == ["x0", "x1"]  # as unrelated rows


@pytest.mark.parametrize("columns", [{"price": "rank"}, {"price": "share:spline"}])
def test_columns_compared_with_the_query_are_compared_as_such(columns):
    model = RankRLS(columns=columns).fit(*shop(100, seed=1))
    table, _, qid = shop(100, seed=2)
    table["price"] *= 100.0  # which changes neither the rank nor the share
    assert drift(model, table, qid=qid).shifted() == []


def test_a_data_set_is_scaled_like_that_of_the_model():
    data = rankwise.make_search_data(100, random_state=0)
    old, new = data.split(0.5, random_state=1)
    model = RankRLS().fit(old.scale_per_query())
    assert drift(model, new).shifted() == []
    assert drift(model, new).to_dict() == drift(model, new.scale_per_query()).to_dict()


def test_a_column_that_no_longer_varies_has_no_effect_on_rankings(model):
    table, _, qid = shop(100, seed=2)
    table["stars"] = 5
    found = drift(model, table, qid=qid).columns["stars"]
    before, now = found.effect
    assert before > 0.3
    assert now == pytest.approx(0.0, abs=1e-12)
    assert found.score_shift > 0.5


def test_an_updated_model_knows_old_and_new_rows():
    rng = np.random.default_rng(0)

    def rows(first, seed):
        table, y, qid = shop(150, seed=seed, first=first)
        return table[["price", "stars", "sales", "brand"]], y, qid

    model = RankRLS(columns="auto").fit(*rows(0, 1))
    table, y, qid = rows(150, 2)
    table = table.assign(stars=rng.integers(3, 8, len(table)))
    assert drift(model, table, qid=qid).shifted() == ["stars"]
    model.partial_fit(table, y, qid)
    both = pd.concat([rows(0, 3)[0], rows(0, 4)[0].assign(stars=rng.integers(3, 8, len(table)))])
    assert drift(model, both, qid=np.repeat(np.arange(300), 10)).shifted() == []


def test_kernel_rankers_and_preferences_have_no_effects():
    table, y, qid = shop(60, seed=1)
    X, new = (one[["stars", "match"]].to_numpy(float) for one in (table, shop(60, seed=2)[0]))
    for model in (
        rankwise.KernelRankRLS(kernel="rbf").fit(X, y, qid),
        RankRLS().fit_preferences(X, [[0, 1], [2, 3]]),
    ):
        found = drift(model, new, qid=qid)
        assert found.shifted() == []
        assert {(column.effect, column.score_shift) for column in found.columns.values()} == {(None, None)}
        assert "–" in str(found)


@pytest.mark.parametrize(
    ("days", "unit", "first"),
    [(10, "day", "2024-03-05"), (60, "week", "2024-03-04"), (600, "month", "2024-03-01")],
)
def test_quality_over_time_is_that_of_the_queries_first_seen_then(model, days, unit, first):
    table, y, qid = shop(100, seed=2)
    start = np.random.default_rng(0).integers(0, days, 100)
    start[:2] = 0, days - 1
    dates = np.datetime64("2024-03-05") + (start[qid] + np.arange(1000) % 10).astype("timedelta64[D]")
    found = drift(model, table, y, qid, time=dates).quality
    assert next(iter(found[0])) == unit
    assert found[0][unit] == first
    assert sum(line["queries"] for line in found) == 100
    period = np.datetime64(first) + np.timedelta64({"day": 1, "week": 7, "month": 31}[unit], "D")
    own = np.datetime64("2024-03-05") + start[qid] < period
    scores = model.predict(table)
    expected = evaluate(y[own], scores[own], qid[own], ["ndcg@10"])
    assert found[0]["ndcg@10"] == pytest.approx(expected.means["ndcg@10"])
    assert found[0]["margin"] == pytest.approx(expected.margins["ndcg@10"], nan_ok=True)


def test_the_result_is_shown_as_tables_and_as_plain_numbers(model):
    table, y, qid = shop(100, seed=2)
    table["price"] *= 100.0
    found = drift(model, table, y, qid, time=table["since"])
    assert str(found).splitlines()[1].split()[0] == "price"
    assert "shifted" in str(found).splitlines()[1]
    assert "ndcg@10" in found._repr_html_()
    facts = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert facts["shifted"] == ["price"]
    assert facts["columns"]["price"]["shifted"] is True
    assert facts["n_training_rows"] == 3000


def test_wrong_input_is_refused_with_a_sentence(model):
    table, y, qid = shop(20)
    for wrong, message in (
        (lambda: drift("model", table), "drift needs a fitted ranker of rankwise; got str"),
        (lambda: drift(model, table.drop(columns="price"), qid=qid), "no column 'price'"),
        (lambda: drift(model, table.assign(price="a lot"), qid=qid), "'price' must hold numbers"),
        (lambda: drift(model, table.assign(price=np.inf), qid=qid), "'price' must hold finite numbers"),
        (lambda: drift(model, table, qid=qid[1:]), "qid must have one entry per row of X: expected 200"),
        (lambda: drift(model, table, qid=qid, time=table["since"]), "needs labels; got time without y"),
        (lambda: drift(model, table, y, qid, time=[1]), "time must have one date per row: 200"),
        (lambda: drift(model, table, y, qid, time=["soon"] * 200), "'time' must hold dates"),
        (lambda: drift(model, table, y, qid, time=[None] * 200), "No query has both a date and labels"),
        (lambda: drift(model, table, y[1:], qid, time=table["since"]), "y must have one entry per row"),
        (lambda: drift(model, table, qid=qid).shifted(above=-1.0), "'above' parameter must be"),
        (lambda: drift(model, table, qid=qid).without(["cost"]), "no column 'cost'"),
    ):
        with pytest.raises((DataError, ParameterError), match=message):
            wrong()


def test_a_model_without_a_record_of_its_rows_says_so():
    X, y = np.arange(6.0)[:, None], np.arange(6)
    moments = rankwise.Moments.of(X, y, [0, 0, 0, 1, 1, 1])
    with pytest.raises(DataError, match="does not say what its training rows were like"):
        drift(RankRLS.from_moments(moments), X)


@pytest.fixture(scope="module")
def files(folder):
    for name, seed, plant in (("old", 1, nothing), ("same", 2, nothing), ("new", 3, in_cents)):
        table, y, qid = shop(120, seed=seed)
        plant(table, None)
        table.drop(columns="device").assign(label=y, qid=qid).to_parquet(folder / f"{name}.parquet")
    assert (
        main(["train", f"{folder}/old.parquet", f"{folder}/shop", "--columns", "auto", "--alpha", "1"]) == 0
    )


def test_the_command_fails_above_the_threshold_only(files, done, folder, monkeypatch, capsys):
    shown = done("drift", "shop", "same.parquet", "--fail-above", "0.1")
    assert "No column has shifted by more than 0.1 (1,200 rows in 120 queries against 1,200" in shown
    assert "1 of 7 columns has shifted" in done("drift", "shop", "new.parquet")
    monkeypatch.chdir(folder)
    assert main(["drift", "shop", "new.parquet", "--fail-above", "0.1", "--json"]) == 3
    facts = json.loads(capsys.readouterr().out)
    assert facts["shifted"] == ["price"]
    done("drift", "shop", "new.parquet", "--fail-above", "0.1", "--exclude", "price")
    done("drift", "shop", "new.parquet", "--fail-above", "1000")


def test_the_command_needs_no_labels_but_for_quality(files, done, refused, folder):
    table = pd.read_parquet(folder / "same.parquet").drop(columns="label")
    table.to_csv(folder / "unlabelled.csv", index=False)
    done("drift", "shop", "unlabelled.csv")
    assert "no column 'label'" in refused("drift", "shop", "unlabelled.csv", "--time", "since", code=1)
    shown = done("drift", "shop", "same.parquet", "--time", "since", "--measure", "map")
    assert "week" in shown
    assert "map" in shown


def test_mistakes_on_the_command_line_get_a_sentence(files, refused):
    assert "--fail-above expects an index" in refused(
        "drift", "shop", "same.parquet", "--fail-above", "-1", code=2
    )
    assert "--measure needs --time" in refused("drift", "shop", "same.parquet", "--measure", "map", code=2)
    assert "no column 'cost'" in refused("drift", "shop", "same.parquet", "--exclude", "cost", code=2)
    assert "no column 'when'" in refused("drift", "shop", "same.parquet", "--time", "when", code=1)
    assert "the data must be one table" in refused("drift", "model", "test.txt", "--time", "day", code=2)
    assert "is not a model file" in refused("drift", "same.parquet", "shop", code=1)


def test_a_data_set_with_labels_is_one_argument(model):
    table, y, qid = shop(60, seed=2)
    data = RankingData.from_frame(table.assign(label=y, qid=qid), label="label", qid="qid", as_table=True)
    one, other = drift(model, data, time=table["since"]), drift(model, table, y, qid, time=table["since"])
    assert one.to_dict() == other.to_dict()
    with pytest.raises(DataError, match="has its own labels and queries"):
        drift(model, data, qid=qid)
