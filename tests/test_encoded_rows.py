"""Features of large tables, of which only points are stored, are those of the matrix."""

import numpy as np
import pandas as pd
import pytest

from rankwise import KernelRankRLS, RankRLS, RankRLSCV, RankSVM, RankSVMCV
from rankwise.columns import encoded_rows
from rankwise.columns.choosing_codes import fit_encoding
from rankwise.columns.encoded_rows import factored, rows_of
from rankwise.columns.encoding import Encoding
from rankwise.columns.interaction_fitting import with_interactions
from rankwise.columns.specs import wanted_interactions
from rankwise.factored_rows import FactoredRows
from rankwise.operators import reference as reference_rows
from rankwise.operators.design import MatrixDesign
from rankwise.operators.reference import near_zero
from rankwise.preferences.queries import group_rows
from rankwise.rows.table import table_of

PAIRS = [("price", "sold"), ("price", "brand"), ("brand", "color"), ("day", "mobile"), ("sold", "day")]
COLUMNS = {"size": "number", "*": "spline:7"}


def shop(n_queries=30, rows=8, seed=0):
    """A table with every kind of column and missing values of each."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rows)
    m = len(qid)
    frame = pd.DataFrame({"price": rng.exponential(size=m), "size": rng.normal(size=m)})
    frame["sold"] = rng.poisson(2.0, m).astype(float)
    frame["day"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 400, m), unit="D")
    frame["mobile"] = rng.random(n_queries)[qid] < 0.5
    frame["brand"] = rng.choice(list("abcdefghijklm"), m)
    frame["color"] = rng.choice(list("nopqrstuvwxyz"), m)
    y = frame["sold"] - frame["price"] * (frame["brand"] < "d") + rng.normal(size=m)
    for name in ("price", "day", "brand"):
        frame.loc[rng.random(m) < 0.1, name] = None
    return frame, np.clip(np.round(y + 3.0), 0.0, 6.0).to_numpy(), qid


def encoded(table, columns=COLUMNS, pairs=PAIRS):
    encoding = fit_encoding(table, columns)
    return with_interactions(encoding, table, wanted_interactions(pairs).named)


@pytest.fixture
def never_a_matrix(monkeypatch):
    monkeypatch.setattr(encoded_rows, "LARGE", 0)
    monkeypatch.setattr(encoded_rows, "SHARE", np.inf)


def test_products_and_rows_are_those_of_the_matrix_also_for_values_that_were_not_seen():
    frame, _, _ = shop()
    encoding = encoded(table_of(frame))
    others = shop(seed=1)[0]
    others.loc[:3, "price"], others.loc[:3, "brand"] = [-5.0, 0.0, 9.0, 99.0], "unseen"
    table, rng = table_of(others), np.random.default_rng(0)
    X, rows = encoding.encode(table), factored(encoding, table)
    assert rows.shape == X.shape
    points, features = rows.factors
    np.testing.assert_allclose((points @ features).toarray(), X, atol=1e-12)
    for some in (slice(None, None, 3), np.array([7, 0, 7, 100])):
        np.testing.assert_array_equal(rows[some], X[some])
    part, places = rows.select(np.arange(100, 0, -2)).select(np.array([3, 3, 40])), np.array([94, 94, 20])
    np.testing.assert_array_equal(part[:], X[places])
    np.testing.assert_allclose((part.factors[0] @ part.factors[1]).toarray(), X[places], atol=1e-12)
    design, expected = MatrixDesign(rows), MatrixDesign(X)
    w, u = rng.normal(size=X.shape[1]), rng.normal(size=len(X))
    np.testing.assert_allclose(design.scores(w), expected.scores(w), atol=1e-11)
    np.testing.assert_allclose(design.adjoint(u), expected.adjoint(u), atol=1e-11)


@pytest.mark.parametrize(
    ("ranker", "atol"),
    [
        (RankRLS(0.5), 1e-8),
        (RankRLS(0.5, solver="dual"), 1e-8),
        (RankRLS(0.5, solver="cg", tol=1e-10), 1e-6),
        (RankRLS(0.5, ties="drop", weighting="pair"), 1e-8),
        (RankRLS(0.5, across_queries=0.1), 1e-8),
        (RankRLSCV([0.1, 1.0, 10.0]), 1e-8),
        (RankRLSCV([0.1, 1.0, 10.0], cv=3, measure="ndcg@10"), 1e-8),
        (RankRLSCV([0.1, 1.0], solver="cg", tol=1e-10, cv=3), 1e-6),
        (RankSVM(0.1, tol=1e-7), 1e-2),
        (RankSVM(0.1, loss="squared_hinge", tol=1e-9), 1e-3),
        (RankSVMCV([1.0, 0.1], loss="squared_hinge", tol=1e-9, cv=3), 1e-3),
    ],
    ids=str,
)
@pytest.mark.parametrize("interactions", [None, PAIRS], ids=["alone", "pairs"])
@pytest.mark.filterwarnings("ignore::rankwise.errors.ContextWarning")
def test_every_linear_ranker_learns_the_same_model(ranker, atol, interactions, never_a_matrix, monkeypatch):
    frame, y, qid = shop()
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    ranker.set_params(columns=COLUMNS, interactions=interactions)
    scores = ranker.fit(frame, y, qid, weight).predict(frame)
    assert isinstance(rows_of(ranker.encoding_, table_of(frame)), FactoredRows)
    monkeypatch.setattr(encoded_rows, "LARGE", np.inf)
    assert isinstance(rows_of(ranker.encoding_, table_of(frame)), np.ndarray)
    np.testing.assert_allclose(scores, ranker.fit(frame, y, qid, weight).predict(frame), atol=atol)


def test_signs_held_out_rows_and_updates_work_alike(never_a_matrix, monkeypatch):
    frame, y, qid = shop()
    more, labels, queries = shop(seed=1)
    models = []
    for large in (0, np.inf):
        monkeypatch.setattr(encoded_rows, "LARGE", large)
        signed = RankRLS(columns=COLUMNS, monotonic_cst={"sold": 1}).fit(frame, y, qid)
        updated = RankRLS(columns=COLUMNS, interactions=PAIRS[:1]).fit(frame, y, qid)
        updated.partial_fit(more, labels, queries + 1000).forget(frame[:16], y[:16], qid[:16])
        chosen = RankRLSCV(columns=COLUMNS).fit(frame, y, qid, eval_set=(more, labels, queries))
        models.append((signed, updated, chosen))
    for one, other in zip(*models, strict=True):
        np.testing.assert_allclose(one.predict(frame), other.predict(frame), atol=1e-8)
    assert models[0][1].coef_error_ == pytest.approx(models[1][1].coef_error_, rel=1e-3)
    assert models[0][2].alpha_ == models[1][2].alpha_


def test_columns_that_hardly_vary_within_queries_keep_their_digits():
    frame, _, qid = shop()
    frame["size"] = 1e3 * qid + 1e-6 * frame["size"]  # standardized, still far from zero within queries
    frame["price"] = 1e3 * qid + 1e-3 * frame["price"]
    table, rng = table_of(frame), np.random.default_rng(0)
    encoding = encoded(table, pairs=[("price", "sold"), ("sold", "day")])
    reference = group_rows(qid, len(qid)).first_rows()
    design = MatrixDesign(factored(encoding, table), reference)
    expected = MatrixDesign(encoding.encode(table), reference)
    assert design.leaves_out
    for own in (slice(None), encoding.feature_names.index("size")):
        w = np.zeros(encoding.n_features)
        w[own] = rng.normal(size=w[own].shape)
        scores = expected.scores(w)
        np.testing.assert_allclose(design.scores(w), scores, rtol=1e-13, atol=1e-14 * np.abs(scores).max())
    rows = np.array([0, 9, 9, 100])
    np.testing.assert_array_equal(design.rows(rows), expected.rows(rows))
    np.testing.assert_allclose(design.subtracted(rows), expected.subtracted(rows), atol=1e-15)


def test_columns_that_vary_in_few_rows_are_near_zero(monkeypatch):
    frame, _, qid = shop()
    table, reference = table_of(frame), group_rows(qid, len(qid)).first_rows()
    near = factored(encoded(table), table)
    assert near_zero(near, reference) == (near, None)
    frame["sold"] = 1.0 + 1e-6 * frame["sold"]  # hardly varies in the sample, but elsewhere
    frame.loc[1, "sold"] = 100.0
    table = table_of(frame[["sold", "price"]])
    near = factored(fit_encoding(table, "number"), table)
    monkeypatch.setattr(reference_rows, "SAMPLED_ROWS", 40)
    assert near_zero(near, reference) == (near, None)


def test_points_are_stored_where_they_take_less_memory():
    frame, _, _ = shop(n_queries=2000, rows=30)
    table = table_of(frame)
    many = encoded(table, "spline:30")
    rows = rows_of(many, table)
    assert isinstance(rows, FactoredRows)
    points, _ = rows.factors
    assert points.data.nbytes + points.indices.nbytes < 0.5 * 8 * rows.size
    assert isinstance(rows_of(fit_encoding(table, "auto"), table), np.ndarray)
    assert isinstance(rows_of(many, table[: len(table) // 10]), np.ndarray)


def test_a_matrix_is_stored_where_the_points_of_pairs_would_take_more_memory(monkeypatch):
    monkeypatch.setattr(encoded_rows, "LARGE", 0)
    frame, _, _ = shop()
    for of_pair, stored in (("spline:3", FactoredRows), ("spline:12", np.ndarray)):
        table = table_of(frame)
        encoding = encoded(table, "spline:20", {("price", "size"): of_pair})
        assert isinstance(rows_of(encoding, table), stored)
        if stored is np.ndarray:
            factors = factored(encoding, table).factors
            n_bytes = sum(factor.data.nbytes + factor.indices.nbytes for factor in factors)
            assert n_bytes > 4 * len(table) * encoding.n_features


@pytest.fixture
def computed(never_a_matrix, monkeypatch):
    """How many rows were computed each time that some were."""
    found, of_rows = [], FactoredRows.__getitem__

    def counting(self, rows):
        block = of_rows(self, rows)
        found.append(len(block))
        return block

    monkeypatch.setattr(FactoredRows, "__getitem__", counting)
    return found


def test_iterations_of_a_hinge_compute_no_rows_but_a_sample(computed):
    frame, y, qid = shop(n_queries=3000, rows=10)
    model = RankSVM(1e-4, loss="squared_hinge", columns=COLUMNS, interactions=PAIRS).fit(frame, y, qid)
    assert model.n_products_ > 20
    assert sum(computed) < 2 * len(y)


@pytest.mark.parametrize(
    "ranker",
    [
        RankSVM(1e-2, loss="squared_hinge", early_stopping=True, validation_fraction=0.4, random_state=0),
        RankSVMCV([1.0, 0.1], loss="squared_hinge", cv=3),
        RankRLS(1.0, solver="cg", early_stopping=True, validation_fraction=0.4, random_state=0),
        RankRLSCV([10.0, 1.0], cv=3),
        RankRLSCV([10.0, 1.0], solver="cg", cv=3),
    ],
    ids=str,
)
def test_rows_left_out_and_all_others_are_never_computed_at_once(ranker, computed):
    frame, y, qid = shop(n_queries=3000, rows=10)
    ranker.set_params(columns=COLUMNS).fit(frame, y, qid)
    assert max(computed) < len(y) / 3


@pytest.mark.parametrize(("ranker", "atol"), [(RankRLS(0.5), 1e-8), (RankSVM(0.1, tol=1e-7), 1e-2)], ids=str)
def test_preferences_are_learned_without_a_matrix(ranker, atol, never_a_matrix, monkeypatch):
    frame, y, _ = shop()
    better, worse = np.random.default_rng(0).permutation(len(y)).reshape(2, -1)
    pairs = np.where((y[better] > y[worse])[:, None], np.c_[better, worse], np.c_[worse, better])
    ranker.set_params(columns=COLUMNS, interactions=PAIRS)
    with monkeypatch.context() as patched:
        patched.setattr(Encoding, "encode", None)
        scores = ranker.fit_preferences(frame, pairs).predict(frame)
    monkeypatch.setattr(encoded_rows, "LARGE", np.inf)
    expected = ranker.fit_preferences(frame, pairs).predict(frame)
    np.testing.assert_allclose(scores - scores.mean(), expected - expected.mean(), atol=atol)


def test_kernels_take_a_matrix(never_a_matrix):
    frame, y, qid = shop()
    model = KernelRankRLS(columns=COLUMNS, gamma=0.1).fit(frame, y, qid)
    assert np.isfinite(model.predict(frame)).all()
