"""Models in the formats of search engines and model servers."""

import json
import re
import warnings

import numpy as np
import onnx
import onnxruntime
import pytest
import sklearn
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

import rankwise
from changed_models import set_features, set_weights
from command_line import done, folder, refused
from rankwise import (
    KernelRankRLS,
    QueryMinMaxScaler,
    RankRLS,
    RankRLSCV,
    RankSVM,
    RankSVMPath,
    export_model,
)
from rankwise.errors import DataError, ParameterError
from rankwise.export.svmrank import load_svmrank

__all__ = ["done", "folder", "refused"]  # fixtures

NAMES = ["bm25(title)", "attribute(age)", "clicks"]


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.round(X @ [1.0, -0.5, 1e-7] + rng.normal(size=60))
    return X, y, np.repeat(np.arange(6), 10)


def run_onnx(path, X):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    assert [put.name for put in session.get_inputs()] == ["X"]
    (scores,) = session.run(["scores"], {"X": X})
    return scores


RANKERS = {
    "linear": RankRLS(),
    "chosen": RankRLSCV(alphas=[0.1, 1.0]),
    "svm": RankSVM(),
    "rbf": KernelRankRLS(kernel="rbf", gamma=0.3),
    "basis": KernelRankRLS(kernel="rbf", basis=7, random_state=0),
    "polynomial": KernelRankRLS(kernel="polynomial", degree=2),
    "linear kernel": KernelRankRLS(kernel="linear"),
    "path": RankSVMPath(graph="reduced"),
}


@pytest.mark.parametrize("ranker", RANKERS.values(), ids=RANKERS)
def test_onnx_gives_the_scores_of_predict(ranker, rows, tmp_path):
    X, y, qid = rows
    model = ranker.fit(X, y, qid)
    export_model(model, tmp_path / "model.onnx")
    assert run_onnx(tmp_path / "model.onnx", X) == pytest.approx(model.predict(X), rel=1e-10, abs=1e-12)


def test_onnx_of_single_precision_takes_and_gives_single_precision(rows, tmp_path):
    X, y, qid = rows
    model = KernelRankRLS().fit(X, y, qid)
    export_model(model, tmp_path / "model.onnx", dtype="float32")
    scores = run_onnx(tmp_path / "model.onnx", X.astype(np.float32))
    assert scores.dtype == np.float32
    assert scores == pytest.approx(model.predict(X), rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("kernel", ["rbf", "polynomial"])
def test_single_precision_that_ruins_the_scores_warns(rows, tmp_path, kernel):
    X, y, qid = rows
    model = KernelRankRLS(kernel=kernel, gamma=0.3).fit(X, y, qid)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        export_model(model, tmp_path / "model.onnx", dtype="float32")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # in double precision, a polynomial kernel loses digits too
        model.fit(X + 1e6, y, qid)
    with pytest.warns(UserWarning, match="In single precision, .* use dtype='float64'"):
        export_model(model, tmp_path / "model.onnx", dtype="float32")
    scores = run_onnx(tmp_path / "model.onnx", (X + 1e6).astype(np.float32))
    assert np.abs(scores - model.predict(X + 1e6)).max() > 1e-2 * np.ptp(model.predict(X + 1e6))


def test_onnx_keeps_the_digits_of_features_far_from_zero(rows, tmp_path):
    X, y, qid = rows
    X = np.round(X, 3) + 1e9
    model = KernelRankRLS(gamma=0.3).fit(X, y, qid)
    export_model(model, tmp_path / "model.onnx")
    assert run_onnx(tmp_path / "model.onnx", X) == pytest.approx(model.predict(X), rel=1e-9, abs=1e-9)


def test_onnx_takes_several_targets_and_sparse_basis_rows(rows, tmp_path):
    X, y, qid = rows
    for model in (RankRLS(), KernelRankRLS()):
        model.fit(sparse.csr_matrix(X), np.stack([y, -y], axis=1), qid)
        export_model(model, tmp_path / "model.onnx")
        assert run_onnx(tmp_path / "model.onnx", X) == pytest.approx(model.predict(X), rel=1e-10, abs=1e-12)


def test_onnx_scales_the_rows_of_a_query_as_the_model_was_trained(rows, tmp_path):
    X, y, qid = rows
    X[:10, 1] = 3.0  # constant within a query
    scaled = rankwise.scale_per_query(X, qid)
    model = RankRLS().fit(scaled, y, qid)
    set_features(model, scaled_per_query=True)
    export_model(model, tmp_path / "model.onnx")
    parts = [run_onnx(tmp_path / "model.onnx", X[qid == query]) for query in range(6)]
    assert np.concatenate(parts) == pytest.approx(model.predict(scaled), rel=1e-12, abs=1e-12)


SCALERS = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    RobustScaler(),
    MaxAbsScaler(),
    MinMaxScaler(feature_range=(-1, 2)),
]


@pytest.mark.parametrize("ranker", [RankRLS(), KernelRankRLS(gamma=0.3)], ids=["linear", "rbf"])
@pytest.mark.parametrize("before", [*([scaler] for scaler in SCALERS), SCALERS], ids=str)
def test_onnx_of_a_pipeline_takes_raw_features(ranker, before, rows, tmp_path):
    X, y, _ = rows
    X = 100.0 * X + 7.0
    pipeline = make_pipeline(*before, "passthrough", ranker).fit(X, y)
    export_model(pipeline, tmp_path / "model.onnx")
    assert run_onnx(tmp_path / "model.onnx", X) == pytest.approx(pipeline.predict(X), rel=1e-9, abs=1e-9)


class RenamedScaler(StandardScaler):
    """Another name and more methods, but the same numbers."""

    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X, y, sample_weight)


class RenamedQueryScaler(QueryMinMaxScaler):
    pass


class HalvingScaler(StandardScaler):
    def transform(self, X, copy=None):
        return super().transform(X, copy) / 2.0


class HalvingQueryScaler(QueryMinMaxScaler):
    def transform(self, X, qid=None):
        return super().transform(X, qid) / 2.0


def test_subclasses_of_scalers_are_exported_as_what_they_are(rows, tmp_path):
    X, y, qid = rows
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(RenamedQueryScaler(), RenamedScaler(), RankRLS()).fit(X, y, qid=qid)
        export_model(pipeline, tmp_path / "model.onnx")
        scores = pipeline.predict(X, qid=qid)
    parts = [run_onnx(tmp_path / "model.onnx", X[qid == query]) for query in range(6)]
    assert np.concatenate(parts) == pytest.approx(scores, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("scaler", [HalvingScaler(), HalvingQueryScaler()], ids=str)
def test_a_scaler_with_a_transform_of_its_own_is_refused(scaler, rows, tmp_path):
    X, y, _ = rows
    pipeline = make_pipeline(scaler, RankRLS()).fit(X, y)
    with pytest.raises(ParameterError, match=f"The step {type(scaler).__name__} cannot be exported; "):
        export_model(pipeline, tmp_path / "model.onnx")


def test_onnx_of_a_pipeline_scales_inside_the_query(rows, tmp_path):
    X, y, qid = rows
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), QueryMinMaxScaler(), StandardScaler(), RankRLS())
        pipeline.fit(X, y, qid=qid)
        export_model(pipeline, tmp_path / "model.onnx")
        scores = pipeline.predict(X, qid=qid)
    parts = [run_onnx(tmp_path / "model.onnx", X[qid == query]) for query in range(6)]
    assert np.concatenate(parts) == pytest.approx(scores, rel=1e-9, abs=1e-9)


def test_engines_rank_raw_features_as_a_pipeline_does(rows, tmp_path):
    X, y, _ = rows
    pipeline = make_pipeline(StandardScaler(), RankRLS()).fit(X, y)
    export_model(pipeline, tmp_path / "model", "solr", feature_names=NAMES)
    weights = list(weights_of_solr((tmp_path / "model").read_text(encoding="utf-8")).values())
    differences = X @ weights - pipeline.predict(X)
    assert differences == pytest.approx(np.full(60, differences[0]))


@pytest.mark.parametrize("step", [PCA(2), MinMaxScaler(clip=True)])
def test_steps_that_cannot_be_exported_are_named(step, rows, tmp_path):
    X, y, _ = rows
    with pytest.raises(ParameterError, match=f"The step {type(step).__name__}.* cannot be exported"):
        export_model(make_pipeline(step, RankRLS()).fit(X, y), tmp_path / "model.onnx")


def test_onnx_keeps_the_names_of_the_features(rows, tmp_path):
    model = RankRLS().fit(*rows)
    set_features(model, names=tuple(NAMES))
    for given in (None, ["a", "b", "c"]):
        export_model(model, tmp_path / "model.onnx", feature_names=given)
        props = {prop.key: prop.value for prop in onnx.load(tmp_path / "model.onnx").metadata_props}
        assert json.loads(props["feature_names"]) == (given or NAMES)


def weights_of_elasticsearch(text):
    model = json.loads(text)["model"]
    assert (model["name"], model["model"]["type"]) == ("learned", "model/linear")
    return json.loads(model["model"]["definition"])


def weights_of_solr(text):
    model = json.loads(text)
    assert model["class"] == "org.apache.solr.ltr.model.LinearModel"
    assert [feature["name"] for feature in model["features"]] == list(model["params"]["weights"])
    return model["params"]["weights"]


def weights_of_vespa(text):
    assert text.startswith("rank-profile learned {")
    terms = re.findall(r"([+-]?) ?([\d.e+-]+) \* (\S+)", text)
    return {name: float(sign + digits) for sign, digits, name in terms}


READERS = {
    "elasticsearch": weights_of_elasticsearch,
    "opensearch": weights_of_elasticsearch,
    "solr": weights_of_solr,
    "vespa": weights_of_vespa,
}


@pytest.mark.parametrize("engine", READERS)
def test_engines_get_every_weight_to_the_last_bit(engine, rows, tmp_path):
    model = RankRLS().fit(*rows)
    set_weights(model, np.array([0.1, -2.5e-7, 1e22 / 3]))
    export_model(model, tmp_path / "model", engine, name="learned", feature_names=NAMES)
    read = READERS[engine]((tmp_path / "model").read_text(encoding="utf-8"))
    assert read == dict(zip(NAMES, model.coef_.tolist(), strict=True))


def test_vespa_computes_no_feature_without_weight(rows, tmp_path):
    model = RankRLS().fit(*rows)
    set_weights(model, np.array([0.0, -2.0, 0.0]))
    export_model(model, tmp_path / "profile", "vespa", name="learned", feature_names=NAMES)
    assert weights_of_vespa((tmp_path / "profile").read_text(encoding="utf-8")) == {"attribute(age)": -2.0}


def test_vespa_multiplies_whole_expressions(done, tmp_path):
    names = ["a - b", "nativeRank(title,body)", *(f"x{k}" for k in range(20))]
    done("export", "model", tmp_path / "profile", "--to", "vespa", "--features", ",".join(names))
    text = (tmp_path / "profile").read_text(encoding="utf-8")
    assert re.search(r"[\d.]+ \* \(a - b\)\n", text)
    assert re.search(r"[\d.]+ \* nativeRank\(title,body\)\n", text)


def test_svmrank_reads_an_exported_model_with_the_same_weights(rows, tmp_path):
    model = KernelRankRLS(kernel="linear").fit(*rows)
    export_model(model, tmp_path / "model.dat", "svmrank")
    assert rows[0] @ load_svmrank(tmp_path / "model.dat") == pytest.approx(model.predict(rows[0]))


def test_what_a_form_has_no_room_for_is_refused_in_a_sentence(rows, tmp_path):
    X, y, qid = rows
    linear, kernel = RankRLS().fit(X, y, qid), KernelRankRLS().fit(X, y, qid)
    with pytest.raises(ParameterError, match="The 'solr' format supports only linear models"):
        export_model(kernel, tmp_path / "model", "solr")
    with pytest.raises(
        ParameterError, match=r"no feature names; export the whole pipeline .* or pass feature_names"
    ):
        export_model(linear, tmp_path / "model", "solr")
    with pytest.raises(ParameterError, match="3 names; got 2"):
        export_model(linear, tmp_path / "model", "solr", feature_names=["a", "b"])
    with pytest.raises(ParameterError, match="must be distinct"):
        export_model(linear, tmp_path / "model", "solr", feature_names=["a", "b", "a"])
    with pytest.raises(ParameterError, match="'to' parameter must be one of 'onnx'"):
        export_model(linear, tmp_path / "model", "pmml")
    with pytest.raises(ParameterError, match="Only rankwise rankers can be exported; got str"):
        export_model("model", tmp_path / "model.onnx")
    with pytest.raises(ParameterError, match="kernel='precomputed'"):
        export_model(KernelRankRLS(kernel="precomputed").fit(X @ X.T, y, qid), tmp_path / "model.onnx")
    set_features(linear, scaled_per_query=True)
    with pytest.raises(DataError, match="scaled within each query"):
        export_model(linear, tmp_path / "model", "vespa", feature_names=NAMES)
    several = RankRLS().fit(X, np.stack([y, -y], axis=1), qid)
    with pytest.raises(DataError, match="predicts 2 targets"):
        export_model(several, tmp_path / "model", "vespa", feature_names=NAMES)
    assert not list(tmp_path.iterdir())


def test_the_command_exports_what_predict_scores(done, folder, tmp_path):
    done("export", "model", tmp_path / "model.onnx")
    data = rankwise.load_letor(folder / "test.txt", dense=True)
    scores = np.array(done("predict", "test.txt", "model").split(), dtype=float)
    assert run_onnx(tmp_path / "model.onnx", data.X) == pytest.approx(scores, rel=1e-10)


def test_the_command_refuses_what_cannot_be_exported(refused, tmp_path):
    assert "pass feature_names" in refused("export", "model", tmp_path / "m", "--to", "solr", code=2)
    assert "option --to " in refused("export", "model", tmp_path / "m", "--to", "pmml", code=2)
