"""skl2onnx converts pipelines of any of its transformers with our rankers."""

import numpy as np
import onnxruntime
import pandas
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import rankwise
from rankwise import KernelRankRLS, RankRLS, RankSVM, RankSVMPath, register_onnx_converters
from rankwise.rankers.base import Ranker

skl2onnx = pytest.importorskip("skl2onnx")


@pytest.fixture(autouse=True)
def registered():
    register_onnx_converters()


def scores_in_onnxruntime(converted, inputs):
    session = onnxruntime.InferenceSession(converted.SerializeToString(), providers=["CPUExecutionProvider"])
    (scores,) = session.run(None, inputs)
    return scores


EVERY_RANKER = [
    name
    for name in rankwise.__all__
    if isinstance(kind := getattr(rankwise, name), type) and issubclass(kind, Ranker)
]
RANKERS = [RankRLS(), RankSVM(), KernelRankRLS(gamma=0.3), KernelRankRLS(kernel="polynomial"), RankSVMPath()]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("ranker", RANKERS, ids=str)
def test_a_pipeline_with_other_transformers_has_the_scores_of_predict(ranker, dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4)).astype(dtype)
    pipeline = make_pipeline(PCA(3), ranker).fit(X, np.round(X @ [1.0, -1.0, 0.5, 0.0]))
    scores = scores_in_onnxruntime(skl2onnx.to_onnx(pipeline, X[:1]), {"X": X})
    assert scores.dtype == dtype
    assert scores.shape == (40,)
    tolerance = 1e-9 if dtype == np.float64 else 1e-3
    assert scores == pytest.approx(pipeline.predict(X), rel=tolerance, abs=tolerance)


@pytest.mark.parametrize("name", EVERY_RANKER)
def test_every_ranker_is_converted(name):
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(60, 4)), np.repeat(np.arange(12), 5)
    model = getattr(rankwise, name)().fit(X, np.round(X @ [1.0, -1.0, 0.5, 0.0]), qid)
    scores = scores_in_onnxruntime(skl2onnx.to_onnx(model, X[:1]), {"X": X})
    assert scores == pytest.approx(model.predict(X), rel=1e-9, abs=1e-9)


def test_a_pipeline_of_a_column_transformer_takes_raw_columns_and_texts():
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"price": rng.normal(size=50), "brand": rng.choice(["a", "b", "c"], 50)})
    frame.loc[::7, "price"] = np.nan
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    encoded = ColumnTransformer([("n", numbers, ["price"]), ("c", OneHotEncoder(), ["brand"])])
    pipeline = make_pipeline(encoded, RankRLS()).fit(frame, (frame["brand"] == "b") + rng.normal(size=50))
    types = skl2onnx.common.data_types
    inputs = [("price", types.FloatTensorType([None, 1])), ("brand", types.StringTensorType([None, 1]))]
    converted = skl2onnx.convert_sklearn(pipeline, initial_types=inputs)
    columns = {"price": frame[["price"]].to_numpy(np.float32), "brand": frame[["brand"]].to_numpy(object)}
    assert scores_in_onnxruntime(converted, columns) == pytest.approx(pipeline.predict(frame), abs=1e-5)
