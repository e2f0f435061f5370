"""Kernel rankers that take tables: the kernel is one of the features that columns become."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from messy_tables import messy_frame
from rankwise import (
    ColumnEncoder,
    KernelRankRLS,
    KernelRankRLSCV,
    ParameterError,
    RankingData,
    RankRLS,
    RankSVMPath,
    audit,
    export_model,
    load_model,
)
from rankwise.errors import FileFormatError
from rankwise.model.model_file import read_model
from rankwise.rows.table import table_of
from rankwise.tensor_file import read_tensors, write_tensors

RANKERS = {
    "KernelRankRLS": KernelRankRLS(gamma=0.2),
    "KernelRankRLS on a basis": KernelRankRLS(basis=40, gamma=0.2, random_state=0),
    "KernelRankRLS, polynomial": KernelRankRLS(kernel="polynomial", degree=2, gamma=0.2),
    "KernelRankRLS, callable": KernelRankRLS(kernel=lambda A, B: A @ B.T + 1.0),
    "KernelRankRLSCV": KernelRankRLSCV([0.1, 10.0], gamma=[0.05, 0.2]),
    "RankSVMPath": RankSVMPath(gamma=0.2, graph="reduced", max_events=300),
}
NAMED = [name for name in RANKERS if name != "KernelRankRLS, callable"]
COLUMNS = {"price": "spline:5", "clicks": "log", "brand": "category", "added": "date:log"}


@pytest.fixture(scope="module")
def rows():
    return messy_frame()


@pytest.mark.parametrize("columns", ["auto", "spline", COLUMNS], ids=["auto", "spline", "told"])
@pytest.mark.parametrize("name", RANKERS)
@pytest.mark.filterwarnings("ignore:The path")
def test_a_kernel_ranker_with_columns_is_that_of_encoded_columns(name, columns, rows):
    frame, y, qid = rows
    model = clone(RANKERS[name]).set_params(columns=columns).fit(frame, y, qid)
    encoder = ColumnEncoder(columns).fit(frame)
    expected = clone(RANKERS[name]).fit(encoder.transform(frame), y, qid)
    np.testing.assert_array_equal(model.dual_coef_, expected.dual_coef_)
    other, _, _ = messy_frame(seed=3)
    np.testing.assert_array_equal(model.predict(other), expected.predict(encoder.transform(other)))


def test_a_kernel_finds_that_brands_matter_differently_on_phones():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"brand": rng.choice(["a", "b"], 600), "price": rng.normal(size=600)})
    qid = np.arange(600) % 30
    frame["phone"] = qid % 2 == 0
    y = np.where(frame["phone"], 1.0, -1.0) * np.where(frame["brand"] == "a", 1.0, -1.0)
    train, test = qid < 20, qid >= 20
    model = KernelRankRLSCV(columns="auto").fit(frame[train], y[train], qid[train])
    assert model.score(frame[test], y[test], qid[test]) == 1.0
    linear = RankRLS(columns="auto").fit(frame[train], y[train], qid[train])
    assert linear.score(frame[test], y[test], qid[test]) < 0.7


def test_gamma_does_not_depend_on_the_number_of_categories(rows):
    frame, y, qid = rows
    shops = frame.assign(shop=[f"shop {k % 50}" for k in range(len(frame))])
    assert KernelRankRLS(columns="auto").fit(frame, y, qid).gamma_ == 1 / 6
    assert KernelRankRLS(columns="auto").fit(shops, y, qid).gamma_ == 1 / 7


def test_equal_rows_have_equal_scores(rows):
    frame, y, qid = rows
    scores = KernelRankRLS(columns="auto").fit(frame, y, qid).predict(pd.concat([frame, frame[::-1]]))
    np.testing.assert_array_equal(scores[: len(frame)], scores[len(frame) :][::-1])


@pytest.mark.parametrize("offset", [1e6, 1e9])
@pytest.mark.parametrize("columns", ["number", "spline"])
def test_columns_far_from_zero_give_the_same_scores(offset, columns):
    rng = np.random.default_rng(0)
    X, qid = 64.0 * rng.integers(-99, 99, size=(60, 3)), np.arange(60) % 6
    y = np.digitize(X[:, 0] * X[:, 1], [-1e6, 1e6]).astype(float)
    near = KernelRankRLS(0.1, columns=columns).fit(X, y, qid).predict(X)
    far = KernelRankRLS(0.1, columns=columns).fit(X + offset, y, qid).predict(X + offset)
    np.testing.assert_allclose(far, near, atol=1e-8)


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.filterwarnings("ignore:The path")
def test_a_saved_kernel_model_of_columns_has_the_same_bits(name, rows, tmp_path):
    frame, y, qid = rows
    model = clone(RANKERS[name]).set_params(columns="auto").fit(frame, y, qid)
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.encoding_ == model.encoding_
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    np.testing.assert_array_equal(read_model(tmp_path / "model").predict(frame), model.predict(frame))


def test_categories_that_fill_most_features_are_kept_sparse(rows, tmp_path):
    frame, y, qid = rows
    shops = pd.DataFrame({"shop": [f"shop {k % 60}" for k in range(len(frame))]})
    model = KernelRankRLS(columns="auto").fit(shops, y, qid)
    assert model.basis_.format == "csr"
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict(shops), model.predict(shops))


def test_an_explanation_adds_up_training_rows(rows):
    frame, y, qid = rows
    model = KernelRankRLS(columns="auto").fit(frame, y, qid)
    explanation = model.explain(frame, 0, 1)
    assert explanation.difference == pytest.approx(np.subtract(*model.predict(frame[:2])))
    assert explanation.names[3] == "training row 3"
    with pytest.raises(ParameterError, match="plot_columns needs a linear ranker"):
        model.plot_columns(frame)


@pytest.mark.filterwarnings("ignore:The path")
def test_a_path_of_columns_is_read_at_any_alpha(rows):
    frame, y, qid = rows
    model = clone(RANKERS["RankSVMPath"]).set_params(columns="auto").fit(frame, y, qid)
    model.select(frame, y, qid)
    np.testing.assert_allclose(model.predict(frame, model.alpha_), model.predict(frame), atol=1e-9)


def test_held_out_tables_and_pairs_are_encoded_as_the_training_rows(rows):
    frame, y, qid = rows
    model = KernelRankRLSCV([0.1, 1.0], columns="auto").fit(frame, y, qid, eval_set=messy_frame(seed=2))
    encoder = ColumnEncoder("auto").fit(frame)
    other, labels, queries = messy_frame(seed=2)
    expected = KernelRankRLSCV([0.1, 1.0], gamma=1 / 6).fit(
        encoder.transform(frame), y, qid, eval_set=(encoder.transform(other), labels, queries)
    )
    np.testing.assert_array_equal(model.scores_, expected.scores_)
    pairs = [(0, 1), (2, 3), (5, 4)]
    learned = KernelRankRLS(columns="auto").fit_preferences(frame, pairs)
    features = KernelRankRLS(gamma=1 / 6).fit_preferences(encoder.transform(frame), pairs)
    np.testing.assert_array_equal(learned.dual_coef_, features.dual_coef_)


def test_a_linear_kernel_has_functions_of_columns(rows, tmp_path):
    frame, y, qid = rows
    model = KernelRankRLS(kernel="linear", columns="spline").fit(frame, y, qid)
    linear = RankRLS(columns="spline").fit(frame, y, qid)
    np.testing.assert_allclose(model.predict(frame), linear.predict(frame), atol=1e-9)
    assert list(model.explain(frame, 0, 1).names) == list(frame.columns)
    export_model(model, tmp_path / "score.sql", "sql")
    assert "brand" in (tmp_path / "score.sql").read_text(encoding="utf-8")


@pytest.mark.parametrize("to", ["sql", "onnx", "vespa", "svmrank"])
def test_a_kernel_of_columns_is_not_exported(to, rows, tmp_path):
    frame, y, qid = rows
    model = KernelRankRLS(columns="auto").fit(frame, y, qid)
    with pytest.raises(ParameterError, match=r"mixes the columns .* kernel='rbf'"):
        export_model(model, tmp_path / "model", to)


def test_kernel_values_have_no_columns(rows, tmp_path):
    frame, y, qid = rows
    with pytest.raises(ParameterError, match="X holds kernel values, so columns must be None"):
        KernelRankRLS(kernel="precomputed", columns="auto").fit(frame, y, qid)
    KernelRankRLS(columns="auto").fit(frame, y, qid).save(tmp_path / "model")
    header, tensors = read_tensors(tmp_path / "model")
    header["parameters"]["kernel"] = "precomputed"
    write_tensors(tmp_path / "changed", header, tensors)
    with pytest.raises(FileFormatError, match="a model of kernel values cannot have encoded columns"):
        load_model(tmp_path / "changed")


def test_several_targets_are_refused(rows, tmp_path):
    frame, y, qid = rows
    with pytest.raises(ValueError, match="y should be a 1d array"):
        KernelRankRLS(columns="auto").fit(frame, np.column_stack([y, y]), qid)
    KernelRankRLS(columns="auto").fit(frame, y, qid).save(tmp_path / "model")
    header, tensors = read_tensors(tmp_path / "model")
    tensors["dual_coef_"] = np.stack([tensors["dual_coef_"]] * 2)
    write_tensors(tmp_path / "changed", header, tensors)
    with pytest.raises(FileFormatError, match="encoded columns must have one target"):
        load_model(tmp_path / "changed")


def test_an_audit_takes_a_kernel_ranker_of_columns(rows):
    frame, y, qid = rows
    data = RankingData.from_arrays(table_of(frame), y, qid)
    ranker = KernelRankRLSCV([0.1, 1.0], columns="auto")
    found = audit(data, ranker=ranker)
    fitted = clone(ranker).fit(frame, y, qid)
    assert found.rows[0].score == fitted.left_out_scores_[found.rows[0].row]
