"""ONNX graphs of single precision: tried on rows, and precise where features are far from zero."""

import warnings

import numpy as np
import onnxruntime
import pandas
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import rankwise
from column_functions import values_of_rows
from rankwise import KernelRankRLS, QueryMinMaxScaler, RankRLS, export_model
from rankwise.export.engine_scores import warn_if_reordered

NOW = 1.7e9  # seconds since 1970


@pytest.fixture
def rows():
    """Forty rows of four queries, whose first feature is a time in seconds."""
    rng = np.random.default_rng(1)
    X = np.stack([NOW + np.round(60.0 * rng.permutation(40) / 40), rng.normal(size=40)], axis=1)
    return X, X[:, 0] - NOW, np.repeat(np.arange(4), 10)


def single_scores(path, X):
    session = onnxruntime.InferenceSession(path)
    (scores,) = session.run(["scores"], {"X": X.astype(np.float32)})
    return scores.astype(np.float64)


def kept_pairs(scores, found):
    """The share of pairs that are in the order of the scores."""
    apart = np.sign(scores[:, None] - scores)
    return (np.sign(found[:, None] - found) == apart)[apart > 0].mean()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_an_order_that_a_graph_of_single_precision_changes_is_reported(form, rows, tmp_path):
    X, y, _ = rows
    model = RankRLS().fit(X, y)
    reported = r"single precision, in which \d+ of 3\d neighbors .* or use dtype='float64'\.$"
    with pytest.warns(UserWarning, match=reported):
        export_model(model, tmp_path / "model.onnx", dtype="float32", X=form(X))
    assert kept_pairs(model.predict(X), single_scores(tmp_path / "model.onnx", X)) < 0.2


def test_a_data_set_and_several_targets_are_tried_as_well(rows, tmp_path):
    X, y, qid = rows
    data = rankwise.RankingData.from_arrays(X, y, qid)
    with pytest.warns(UserWarning, match=r"of 36 neighbors"):
        export_model(RankRLS().fit(data), tmp_path / "model.onnx", dtype="float32", X=data)
    several = RankRLS().fit(X, np.stack([y, -y], axis=1), qid)
    with pytest.warns(UserWarning, match=r"of 72 neighbors"):
        export_model(several, tmp_path / "model.onnx", dtype="float32", X=X[::-1], qid=qid[::-1])


@pytest.mark.parametrize(
    "model",
    [
        RankRLS(),
        KernelRankRLS(gamma=0.3),
        KernelRankRLS(kernel="polynomial", degree=2),
        make_pipeline(QueryMinMaxScaler(), RankRLS()),
    ],
    ids=["linear", "rbf", "polynomial", "scaled-per-query"],
)
def test_rows_that_single_precision_keeps_in_order_are_no_cause_for_alarm(model, tmp_path):
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(30, 3)), rng.integers(3, size=30)
    with rankwise.config_context(one_ranking=True):
        model.fit(X, np.round(X @ [1.0, 2.0, 0.5]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        export_model(model, tmp_path / "model.onnx", dtype="float32", X=X, qid=qid)


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler()], ids=str)
@pytest.mark.parametrize("ranker", [RankRLS(), KernelRankRLS(gamma=0.3)], ids=["linear", "rbf"])
def test_a_scaled_time_costs_a_graph_of_single_precision_no_digits(scaler, ranker, rows, tmp_path):
    X, y, _ = rows
    X[:, 0] = NOW + 128.0 * (X[:, 0] - NOW)  # multiples of 128, which single precision holds exactly
    model = make_pipeline(scaler, ranker).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        export_model(model, tmp_path / "model.onnx", dtype="float32", X=X)
    found, expected = single_scores(tmp_path / "model.onnx", X), model.predict(X)
    assert found == pytest.approx(expected, abs=1e-5 * np.ptp(expected))


def test_columns_are_tried_in_a_graph_of_single_precision(tmp_path):
    frame = pandas.DataFrame(values_of_rows() | {"seconds": NOW + np.arange(80.0)})
    small = ["sold", "rating", "brand", "in stock", "created", "updated"]
    model = RankRLS(columns="auto").fit(frame[small], np.arange(80.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        export_model(model, tmp_path / "model.onnx", dtype="float32", X=frame)
    model = RankRLS(columns="auto").fit(frame[["seconds", "brand"]], np.arange(80.0))
    with pytest.warns(UserWarning, match="single precision"):
        export_model(model, tmp_path / "model.onnx", dtype="float32", X=frame)


def test_scores_that_overflow_are_not_in_an_order():
    with pytest.warns(UserWarning, match="in which 2 of 2 neighbors"):
        warn_if_reordered(np.arange(3.0), np.full(3, np.inf), np.zeros(3, dtype=int))


def test_a_query_of_clauses_is_tried_in_single_precision(rows, tmp_path):
    X, y, _ = rows
    model = RankRLS(monotonic_cst=[1, 1]).fit(X, y)
    clauses = {name: {"rank_feature": {"field": name, "boost": "$boost"}} for name in ("time", "rank")}
    how = {"feature_names": list(clauses), "clauses": clauses}
    with pytest.warns(UserWarning, match="single precision"):
        export_model(model, tmp_path / "query.json", "elasticsearch-query", X=X, **how)
