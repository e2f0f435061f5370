"""How the columns of training rows are distributed, as models and their files record it."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import rankwise
from rankwise.columns import encoded_rows
from rankwise.columns import profile as profiles
from rankwise.columns.profile import N_QUANTILES, ColumnProfile
from rankwise.rankers import rows_of_fit
from rankwise.tensor_file import read_tensors, write_tensors
from rankwise.types import Reading

LEVELS = np.linspace(0.0, 1.0, N_QUANTILES)


def observed(values):
    """The least value, and the first values that 1, 2, ... tenths of the values do not exceed."""
    values = sorted(values)
    return tuple(
        next(value for n, value in enumerate(values, 1) if 10 * n >= tenths * len(values))
        for tenths in range(11)
    )


def upto(values, quantiles):
    return tuple(float(np.mean(np.asarray(values) <= quantile)) for quantile in quantiles)


def distributions(profile):
    """Without what columns add to the scores, which depends on the weights and their last bits."""
    return {name: replace(column, contribution=None, effect=None) for name, column in profile.columns.items()}


@pytest.fixture
def rows():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(1e6, 1.0, 300), rng.integers(0, 3, 300), np.zeros(300)])
    return X, rng.integers(0, 3, 300), np.repeat(np.arange(30), 10)


@pytest.fixture
def shop():
    """A table of columns of every kind, some of their values missing."""
    rng = np.random.default_rng(4)
    n = 400
    table = pd.DataFrame(
        {
            "price": np.where(rng.random(n) < 0.2, np.nan, rng.lognormal(size=n)),
            "brand": rng.choice(["oak", "elm", "fir"], n).astype(object),
            "new": rng.random(n) < 0.3,
            "since": pd.Timestamp("2024-02-29") + pd.to_timedelta(rng.integers(0, 90, n), "D"),
        }
    )
    table.loc[:39, "brand"] = None
    table.loc[40, "brand"] = "rare"
    return table, rng.integers(0, 3, n), np.repeat(np.arange(40), 10)


def test_numbers_have_observed_deciles(rows):
    X, y, qid = rows
    found = rankwise.RankRLS().fit(X, y, qid).model_.profile
    assert found.n_rows == 300
    assert list(found.columns) == ["x0", "x1", "x2"]
    for values, column in zip(X.T, distributions(found).values(), strict=True):
        quantiles = observed(values)
        assert column == ColumnProfile(Reading.NUMBER, 0.0, quantiles, reached=upto(values, quantiles))


def test_zeros_that_a_sparse_matrix_does_not_store_count(rows):
    X, y, qid = rows
    X = X * (np.random.default_rng(0).random(X.shape) < 0.4)
    dense, stored = (rankwise.RankRLS().fit(one, y, qid) for one in (X, sparse.csr_matrix(X)))
    assert distributions(dense.model_.profile) == distributions(stored.model_.profile)
    for one, other in zip(*(each.model_.profile.columns.values() for each in (dense, stored)), strict=True):
        assert (one.contribution, one.effect) == pytest.approx((other.contribution, other.effect), rel=1e-6)


def test_columns_of_a_table_are_described_as_they_are_read(shop):
    table, y, qid = shop
    columns = rankwise.RankRLS(columns="auto").fit(table, y, qid).model_.profile.columns
    present = table["price"].dropna()
    assert columns["price"].reading is Reading.NUMBER
    assert columns["price"].missing == table["price"].isna().mean()
    assert columns["price"].quantiles == observed(present)
    counts = table["brand"].value_counts()
    assert columns["brand"].missing == 0.1
    assert columns["brand"].frequencies == {name: counts[name] / 400 for name in ("elm", "fir", "oak")}
    assert columns["brand"].other == pytest.approx(1 / 400)
    assert columns["new"].frequencies == {"false": (~table["new"]).mean(), "true": table["new"].mean()}
    days = (table["since"] - pd.Timestamp("1970-01-01")).dt.days
    assert columns["since"].quantiles == observed(days)


def test_columns_that_compare_rows_are_described_as_comparisons(shop):
    table, y, qid = shop
    found = rankwise.RankRLS(columns={"price": "share"}).fit(table, y, qid).model_.profile
    assert found.columns["price"].reading is Reading.SHARE
    assert found.columns["price"].quantiles[-1] == 1.0


@pytest.fixture
def few_rows_are_kept(monkeypatch):
    monkeypatch.setattr(rows_of_fit, "FEW_ROWS", 64)
    monkeypatch.setattr(rows_of_fit, "MOST_ROWS", 64)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(
    "kind", ["queries", "names", "long", "one ranking", "utilities", "repeated", "empty"]
)
@pytest.mark.usefixtures("few_rows_are_kept")
def test_a_sample_does_not_depend_on_the_order_of_rows(rows, kind, form):
    X, y, qid = rows
    if kind == "names":
        qid = np.array([f"query {label}" for label in qid])
    elif kind == "long":
        qid = np.where(qid < 25, 0, qid)
    elif kind == "repeated":
        X, qid = np.round(X - 1e6) * [1.0, 1.0, 0.0], None
    elif kind == "empty":
        X, qid = X * (np.random.default_rng(3).random((300, 1)) < 0.3), None
    elif kind == "one ranking":
        qid = None
    elif kind == "utilities":
        y, qid = np.round(np.random.default_rng(4).normal(size=300), 2), None
    order = np.random.default_rng(1).permutation(300)
    with rankwise.config_context(one_ranking=True):
        model = rankwise.RankRLS().fit(form(X), y, qid)
        permuted = rankwise.RankRLS().fit(form(X[order]), y[order], None if qid is None else qid[order])
    assert model.model_.profile.n_rows <= 64
    assert distributions(model.model_.profile) == distributions(permuted.model_.profile)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_equal_rows_are_drawn_in_proportion(form, monkeypatch):
    monkeypatch.setattr(rows_of_fit, "FEW_ROWS", 400)
    monkeypatch.setattr(rows_of_fit, "MOST_ROWS", 400)
    X = np.concatenate([np.zeros((3000, 5)), np.ones((1000, 5))])
    X[2000:3000, 4] = 2.0
    with rankwise.config_context(one_ranking=True):
        found = rankwise.RankRLS().fit(form(X), np.arange(4000) % 3).model_.profile
    assert found.n_rows == 400
    assert found.columns["x0"].quantiles == (0.0,) * 8 + (1.0,) * 3


@pytest.mark.usefixtures("few_rows_are_kept")
def test_one_ranking_of_a_large_table_is_sampled_without_its_features(shop, monkeypatch):
    monkeypatch.setattr(encoded_rows, "LARGE", 0)
    monkeypatch.setattr(encoded_rows, "SHARE", np.inf)
    table, y, _ = shop
    with rankwise.config_context(one_ranking=True):
        model = rankwise.RankRLS(columns="spline").fit(table, y)
    assert model.model_.profile.n_rows == 64


def test_of_few_rows_all_are_described_and_of_more_a_sample(rows, monkeypatch):
    X, y, qid = rows
    monkeypatch.setattr(rows_of_fit, "MOST_ROWS", 100)
    assert rankwise.RankRLS().fit(X, y, qid).model_.profile.n_rows == 300
    monkeypatch.setattr(rows_of_fit, "FEW_ROWS", 299)
    assert rankwise.RankRLS().fit(X, y, qid).model_.profile.n_rows == 100


def test_digests_of_whole_rows_are_for_those_that_a_few_numbers_do_not_tell_apart(rows, monkeypatch):
    X, y, _ = rows
    monkeypatch.setattr(rows_of_fit, "FEW_ROWS", 64)
    monkeypatch.setattr(rows_of_fit, "MOST_ROWS", 64)
    told_apart, looked_at = rows_of_fit._told_apart, []
    monkeypatch.setattr(
        rows_of_fit, "_told_apart", lambda digests: looked_at.append(len(digests)) or told_apart(digests)
    )
    with rankwise.config_context(one_ranking=True):
        for form in (np.asarray, sparse.csr_matrix):
            rankwise.RankRLS().fit(form(X), y)
            assert looked_at == []
            rankwise.RankRLS().fit(form(np.vstack([X, X[:1]])), np.append(y, 0))
            assert looked_at.pop() == 2


def test_what_columns_add_is_recorded(rows, shop):
    X, y, qid = rows
    model = rankwise.RankRLS().fit(X, y, qid)
    columns = model.model_.profile.columns.values()
    assert [column.effect for column in columns] == model.feature_importances_.tolist()
    assert [column.contribution for column in columns] == pytest.approx(X.mean(axis=0) * model.coef_)
    table, y, qid = shop
    model = rankwise.RankRLS(columns="auto", interactions=[("brand", "new")]).fit(table, y, qid)
    added = model.model_.profile.columns
    assert [column.effect for column in added.values()] == model.feature_importances_.tolist()
    total = sum(column.contribution for column in added.values())
    features = model.model_.encoding.encode(model.model_.table(table))
    assert total == pytest.approx(np.mean(features @ model.coef_))
    kernel = rankwise.KernelRankRLS(kernel="rbf").fit(*rows).model_.profile
    assert {(column.contribution, column.effect) for column in kernel.columns.values()} == {(None, None)}


def test_files_without_what_columns_reach_and_add_are_read(rows, tmp_path):
    rankwise.RankRLS().fit(*rows).save(tmp_path / "model")
    header, tensors = read_tensors(tmp_path / "model")
    for name in ("reached", "effects"):
        del tensors[f"profile.{name}"]
    del header["schema"]
    write_tensors(tmp_path / "early", header, tensors)
    column = rankwise.load_model(tmp_path / "early").model_.profile.columns["x1"]
    assert column.effect is None
    values, reached = column.steps
    assert values.tolist() == [0.0, 1.0, 2.0]
    assert reached == pytest.approx([np.mean(rows[0][:, 1] <= value) for value in values], abs=0.1)


def test_files_and_copies_hold_the_profile(rows, shop, tmp_path):
    for ranker, data in (
        (rankwise.RankRLSCV(alphas=[1.0]), rows),
        (rankwise.RankSVM(columns="auto"), shop),
        (rankwise.KernelRankRLS(basis=20, random_state=0), rows),
    ):
        ranker.fit(*data).save(tmp_path / "model")
        expected = ranker.model_.profile
        assert expected is not None
        assert rankwise.load_model(tmp_path / "model").model_.profile == expected
        assert pickle.loads(pickle.dumps(ranker)).model_.profile == expected
    rankwise.load_model(tmp_path / "model").save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_fits_to_pairs_describe_their_rows(rows):
    X, *_ = rows
    model = rankwise.RankRLS().fit_preferences(X, [[0, 1], [2, 3]])
    assert model.model_.profile.columns["x0"].quantiles == observed(X[:, 0])
    assert not hasattr(model, "feature_importances_")


def test_an_update_describes_old_and_new_rows(shop, tmp_path):
    table, y, qid = shop
    table["price"] += 3.0 * (qid >= 30)
    first, rest = qid < 30, qid >= 30
    model = rankwise.RankRLS(columns="auto").fit(table[first], y[first], qid[first])
    model.save(tmp_path / "first")
    model.partial_fit(table[rest], y[rest], qid[rest])
    loaded = rankwise.load_model(tmp_path / "first").partial_fit(table[rest], y[rest], qid[rest])
    assert loaded.model_.profile == model.model_.profile
    columns = model.model_.profile.columns
    all_rows = rankwise.RankRLS(columns="auto").fit(table, y, qid).model_.profile.columns
    for name in ("brand", "new"):
        assert columns[name].frequencies == pytest.approx(all_rows[name].frequencies)
        assert columns[name].missing == pytest.approx(all_rows[name].missing)
    prices = table["price"].dropna()
    assert columns["price"].quantiles[0] == prices.min()
    assert columns["price"].quantiles[-1] == prices.max()
    reached = upto(prices, columns["price"].quantiles)
    np.testing.assert_allclose(columns["price"].reached, reached, atol=0.05)
    np.testing.assert_allclose(reached[1:], LEVELS[1:], atol=0.1)
    profile = model.model_.profile
    assert model.forget(table[rest], y[rest], qid[rest]).model_.profile == profile


def test_the_mean_of_two_columns_has_their_jumps():
    half = ColumnProfile(Reading.NUMBER, 0.0, (0.0,) * 6 + (1.0,) * 5, reached=(0.5,) * 6 + (1.0,) * 5)
    ones = ColumnProfile(Reading.NUMBER, 0.5, (1.0,) * N_QUANTILES, reached=(1.0,) * N_QUANTILES)
    mixed = half.mixed(ones, 0.5)
    assert mixed.missing == 0.25
    assert mixed.quantiles[:3] == pytest.approx((0.0, 0.0, 0.0))  # a third of the values that are present
    assert mixed.quantiles[5:] == (1.0,) * 6
    assert mixed.reached == pytest.approx((1 / 3,) * 4 + (1.0,) * 7)
    assert half.mixed(half, 0.3).quantiles == pytest.approx(half.quantiles)
    nothing = ColumnProfile(Reading.NUMBER, 1.0)
    assert nothing.mixed(ones, 0.5).quantiles == ones.quantiles


def test_what_means_nothing_is_not_recorded(rows, monkeypatch):
    X, y, qid = rows
    kernel = rankwise.KernelRankRLS(kernel="precomputed").fit(X[:20, 1:] @ X[:20, 1:].T, y[:20], qid[:20])
    assert kernel.model_.profile is None
    monkeypatch.setattr(rows_of_fit, "MOST_COLUMNS", 2)
    assert rankwise.RankRLS().fit(X, y, qid).model_.profile is None
    moments = rankwise.Moments.of(X, y, qid)
    assert rankwise.RankRLS.from_moments(moments).model_.profile is None


def test_many_columns_are_described_block_by_block(rows, monkeypatch):
    X, y, qid = rows
    expected = rankwise.RankRLS().fit(X, y, qid).model_.profile
    monkeypatch.setattr(profiles, "_BLOCK", 1)
    assert rankwise.RankRLS().fit(X, y, qid).model_.profile == expected


def test_a_store_is_described_without_reading_all_of_it(rows, tmp_path, monkeypatch):
    X, y, qid = rows
    rankwise.save_store(rankwise.RankingData.from_arrays(X, y, qid), tmp_path / "rows.store")
    data = rankwise.open_store(tmp_path / "rows.store")
    expected = rankwise.RankRLS().fit(X, y, qid).model_.profile
    assert rankwise.RankRLS().fit(data).model_.profile.columns.keys() == expected.columns.keys()
    found = rankwise.RankRLS().fit(data).model_.profile
    assert [column.quantiles for column in found.columns.values()] == [
        column.quantiles for column in expected.columns.values()
    ]


@pytest.mark.parametrize("seed", range(5))
def test_rows_of_training_in_another_order_have_not_drifted_by_rounding_either(seed):
    rng = np.random.default_rng(seed)
    n, query = 607, np.sort(rng.integers(0, 61, 607))
    table = pd.DataFrame(
        {
            "price": np.where(rng.random(n) < 0.2, np.nan, 1e9 * rng.lognormal(size=n)),
            "sales": np.where(rng.random(n) < 0.8, 0.0, rng.exponential(size=n)),
            "brand": rng.choice(["oak", "elm", "fir"], n).astype(object),
            "since": pd.Timestamp("2024-01-29") + pd.to_timedelta(rng.integers(0, 90, n), "D"),
        }
    )
    model = rankwise.RankRLS(columns="auto").fit(table, rng.integers(0, 3, n), query)
    order = rng.permutation(n)
    found = rankwise.drift(model, table.iloc[order], qid=query[order])
    assert {column.stability_index for column in found.columns.values()} == {0.0}
    assert {column.p_value for column in found.columns.values()} == {1.0}
    assert {cells[6] for cells in found.rows()} == {"+0.00"}
