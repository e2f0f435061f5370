"""What becomes of scores in engines: negative ones are reported and lifted, and single precision is tried."""

import json
import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rankwise
from changed_models import set_weights
from column_functions import FUNCTION, expected_scores, values_of_rows
from command_line import done, folder, rankwise_process, refused
from rankwise import RankRLS, export_model
from rankwise.errors import ParameterError
from rankwise.export.engine_scores import raised

__all__ = ["done", "folder", "refused"]  # fixtures

NAMES = ["title", "price"]
PLUGINS = ["elasticsearch", "opensearch", "solr"]


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 2))
    return X, np.round(3.0 * X @ [1.0, -0.5]), np.repeat(np.arange(6), 10)


def scores_of_plugin(text, X):
    """The documented computation of the plugins, one float32 operation after the other."""
    body = json.loads(text)
    if "model" in body:  # Elasticsearch and OpenSearch
        weights = json.loads(body["model"]["model"]["definition"])
        norms = body["model"]["model"].get("feature_normalizers", {})
        moves = {name: tuple(norms[name]["standard"].values()) for name in norms}
    else:
        weights = body["params"]["weights"]
        norms = {
            feature["name"]: feature["norm"]["params"] for feature in body["features"] if "norm" in feature
        }
        moves = {name: (float(norm["avg"]), float(norm["std"])) for name, norm in norms.items()}
    scores = []
    for row in X:
        score = np.float32(0.0)
        for value, (name, weight) in zip(row, weights.items(), strict=True):
            mean, deviation = moves.get(name, (0.0, 1.0))
            normalized = (np.float32(value) - np.float32(mean)) / np.float32(deviation)
            score = np.float32(score + np.float32(normalized * np.float32(weight)))
        scores.append(float(score))
    return np.array(scores)


@pytest.mark.parametrize("engine", PLUGINS)
def test_a_plugin_computes_the_scores_of_predict_with_normalizers(engine, rows, tmp_path):
    X, y, _ = rows
    X = 1e6 + np.round(100.0 * X)
    model = make_pipeline(StandardScaler(), RankRLS()).fit(X, y)
    with pytest.warns(UserWarning, match="scores are negative"):
        export_model(model, tmp_path / "model", engine, feature_names=NAMES, X=X)
    found, expected = scores_of_plugin((tmp_path / "model").read_text(encoding="utf-8"), X), model.predict(X)
    # The mean itself is rounded, which moves all scores alike.
    assert found - found[0] == pytest.approx(expected - expected[0], abs=1e-5)
    assert found == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("engine", [*PLUGINS, "solr-function"])
def test_the_share_of_negative_scores_is_reported(engine, rows, tmp_path):
    X, y, qid = rows
    model = RankRLS().fit(X, y, qid)
    share = f"{(model.predict(X) < 0).mean():.0%} of the scores are negative"
    with pytest.warns(
        UserWarning, match=f"^{share}, which can put rescored documents below .* pass nonnegative=True"
    ):
        export_model(model, tmp_path / "model", engine, feature_names=NAMES, X=X)
    with pytest.warns(UserWarning, match="can be negative, .* with rows X"):
        export_model(model, tmp_path / "model", engine, feature_names=NAMES)


@pytest.mark.parametrize("engine", ["vespa", "sql", "elasticsearch-script"])
def test_formats_in_which_the_sign_does_not_matter_say_nothing(engine, rows, tmp_path):
    model = RankRLS().fit(*rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        export_model(model, tmp_path / "model", engine, feature_names=NAMES)
        export_model(model, tmp_path / "model", engine, feature_names=NAMES, X=rows[0])


def test_a_model_without_negative_weights_is_no_cause_for_alarm(rows, tmp_path):
    model = RankRLS().fit(*rows)
    set_weights(model, np.array([1.0, 0.0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        export_model(model, tmp_path / "model", "solr", feature_names=NAMES)


@pytest.mark.parametrize("engine", PLUGINS)
def test_nonnegative_lifts_all_scores_of_the_rows_and_keeps_their_distances(engine, rows, tmp_path):
    X, y, qid = rows
    model = RankRLS().fit(X, y, qid)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        export_model(model, tmp_path / "model", engine, feature_names=NAMES, X=X, nonnegative=True)
    found, expected = scores_of_plugin((tmp_path / "model").read_text(encoding="utf-8"), X), model.predict(X)
    assert found.min() == pytest.approx(0.1 * np.ptp(expected), rel=1e-4)
    assert found - found.min() == pytest.approx(expected - expected.min(), abs=1e-5)


def test_nonnegative_needs_rows_and_an_engine(rows, tmp_path):
    model = RankRLS().fit(*rows)
    with pytest.raises(ParameterError, match=r"nonnegative=True \(--nonnegative\) needs rows X"):
        export_model(model, tmp_path / "model", "solr", feature_names=NAMES, nonnegative=True)
    with pytest.raises(ParameterError, match="'svmrank' format does not support nonnegative=True"):
        export_model(model, tmp_path / "model", "svmrank", X=rows[0], nonnegative=True)


@pytest.mark.parametrize("first", range(len(FUNCTION.terms)))
def test_every_shape_can_carry_the_offset(first):
    function = type(FUNCTION)((FUNCTION.terms[first], *FUNCTION.terms))
    values = values_of_rows()
    before, after = expected_scores(values, function), expected_scores(values, raised(function, values))
    assert after.min() == pytest.approx(0.1 * np.ptp(before))
    assert after - after.min() == pytest.approx(before - before.min(), abs=1e-6)


@pytest.mark.parametrize("engine", [*PLUGINS, "solr-function"])
@pytest.mark.filterwarnings("ignore:.*negative")
def test_an_order_that_single_precision_changes_is_reported(engine, rows, tmp_path):
    X, y, _ = rows
    X = 1e9 + np.round(100.0 * X)
    model = make_pipeline(RankRLS()).fit(X, y)
    with pytest.warns(UserWarning, match=r"single precision, in which \d+ of 5\d neighbors .* are tied or"):
        export_model(model, tmp_path / "model", engine, feature_names=NAMES, X=X)
    if engine in PLUGINS:
        found, expected = (
            scores_of_plugin((tmp_path / "model").read_text(encoding="utf-8"), X),
            model.predict(X),
        )
        assert (np.diff(found[np.argsort(expected, kind="stable")]) < 0.0).any()


@pytest.mark.filterwarnings("ignore:.*negative")
def test_rows_of_different_queries_are_not_in_an_order(rows, tmp_path):
    X = 1e9 + np.arange(6.0)[:, np.newaxis] * [1.0, 0.0]
    model = RankRLS().fit(X, np.arange(6.0))
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="The engine computes")
        export_model(model, tmp_path / "model", "solr", feature_names=NAMES, X=X, qid=np.arange(6))
        data = rankwise.RankingData.from_arrays(X, np.arange(6.0), np.arange(6))
        export_model(model, tmp_path / "model", "solr", feature_names=NAMES, X=data)
    with pytest.warns(UserWarning, match="5 of 5 neighbors"):
        export_model(model, tmp_path / "model", "solr", feature_names=NAMES, X=X)


def test_the_command_checks_the_scores_of_data(folder, done, refused, tmp_path):
    features = ",".join(f"f{c}" for c in range(22))
    how = ["export", "model", tmp_path / "solr", "--to", "solr", "--features", features]
    run = rankwise_process(*how, "--data", "test.txt", cwd=folder)
    assert "% of the scores are negative" in run.stderr
    run = rankwise_process(*how, "--data", "test.txt", "--nonnegative", cwd=folder)
    assert (run.returncode, run.stderr) == (0, "")
    assert "needs rows X (--data)" in refused(*how, "--nonnegative", code=2)
