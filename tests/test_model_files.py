"""Models round-trip through files bit for bit; other files are rejected with one sentence."""

import json
import re
from contextlib import suppress
from dataclasses import replace
from importlib import metadata

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file
from scipy import sparse

import rankwise
from graded_queries import toy
from rankwise.cli.reading import load_model as load_for_command
from rankwise.errors import DataError, FileFormatError
from rankwise.model.attributes import attributes_of
from rankwise.model.fields import array, plain, rows, value
from rankwise.model.history import Origin
from rankwise.model.schemas import SCHEMAS
from rankwise.rankers.base import Ranker
from rankwise.tensor_file import Content, RefusedError


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    return rankwise.RankRLS(alpha=0.5, ties="drop").fit(X, rng.integers(0, 3, 40), np.repeat(np.arange(8), 5))


def header_and_tensors(path):
    with safe_open(path, framework="numpy") as file:
        return json.loads(file.metadata()["rankwise"]), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def rewrite(path, change_header=None, **tensors):
    """Save a model file again with something changed; a tensor of None is left out."""
    header, old = header_and_tensors(path)
    if change_header is not None:
        change_header(header)
    kept = {name: tensor for name, tensor in (old | tensors).items() if tensor is not None}
    save_file(kept, path, metadata={"rankwise": json.dumps(header)})


def test_a_loaded_model_has_the_same_bits_parameters_and_class(model, tmp_path):
    model.save(tmp_path / "model")
    loaded = rankwise.load_model(tmp_path / "model")
    assert type(loaded) is rankwise.RankRLS
    assert loaded.get_params() == model.get_params()
    X = np.random.default_rng(1).normal(size=(7, 3))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize("class_name", sorted(SCHEMAS))
def test_a_model_says_which_version_made_it_of_how_much_data(class_name, tmp_path, monkeypatch):
    X, y, qid = toy()
    model = getattr(rankwise, class_name)().fit(X, y, qid)
    model.save(tmp_path / "model")
    monkeypatch.setattr(rankwise, "__version__", "9.9.9")  # a later version keeps what a file says
    rankwise.load_model(tmp_path / "model").save(tmp_path / "again")
    assert header_and_tensors(tmp_path / "again")[0]["written_by"] == "rankwise 9.9.9"
    for origin in (model.model_.origin, load_for_command(tmp_path / "again").origin):
        assert origin == Origin(metadata.version("rankwise"), len(y), len(set(qid.tolist())), True)


def test_pairs_updates_and_other_alphas_have_an_origin_too():
    X, y, qid = toy()
    half = np.isin(qid, np.unique(qid)[:2])
    pairs = np.array([[int(y.argmax()), int(y.argmin())]])
    for model in (rankwise.RankRLS(), rankwise.RankSVM(), rankwise.RankSVMPath()):
        assert model.fit_preferences(X, pairs).model_.origin == Origin.now(len(y))
    model = rankwise.RankRLS().fit(X[half], y[half], qid[half])
    assert model.with_alpha(2.0).model_.origin == Origin.now(int(half.sum()), 2)
    model.partial_fit(X[~half], y[~half], qid[~half])
    assert model.model_.origin == Origin.now(len(y), len(set(qid.tolist())))


def test_the_smallest_kernel_parameters_survive(tmp_path):
    X, y, qid = toy()
    model = rankwise.KernelRankRLS(kernel="linear", gamma=0.0, degree=0.0, coef0=0.0).fit(X, y, qid)
    model.save(tmp_path / "model")
    loaded = rankwise.load_model(tmp_path / "model")
    assert (loaded.gamma_, loaded.degree_, loaded.coef0_) == (0.0, 0.0, 0.0)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_a_single_basis_vector_survives(tmp_path):
    X, y, qid = toy()
    model = rankwise.KernelRankRLS(basis=[3]).fit(X, y, qid)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(rankwise.load_model(tmp_path / "model").predict(X), model.predict(X))


def test_several_targets_survive(tmp_path):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(12, 3))
    model = rankwise.RankRLS().fit(X, rng.normal(size=(12, 2)))
    model.save(tmp_path / "model")
    loaded = rankwise.load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert vars(loaded).keys() == vars(model).keys() - {"_families"}


def test_feature_names_come_back_and_are_checked(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"title": [1.0, 2, 3], "größe": [0.0, 1, 0]})
    rankwise.RankRLS().fit(X, [0, 1, 2]).save(tmp_path / "model")
    loaded = rankwise.load_model(tmp_path / "model")
    assert list(loaded.feature_names_in_) == ["title", "größe"]
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(X.rename(columns={"title": "body"}))


def test_an_unfitted_model_is_not_saved(tmp_path):
    with pytest.raises(Exception, match="not fitted"):
        rankwise.RankRLS().save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_parameter_that_is_code_cannot_be_saved(model, tmp_path):
    model.model_ = replace(model.model_, parameters={"ties": np.dot})
    with pytest.raises(
        DataError, match="the parameter 'ties' is the function dot, but model files hold only"
    ):
        model.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    "change, sentence",
    [
        (lambda h: h.update(schema=4), "has schema 4, written by .* but this version reads schemas up to 3"),
        (lambda h: h.pop("schema"), "no schema version"),
        (lambda h: h.update({"class": "Popen"}), "its class 'Popen' is unknown to this version"),
        (lambda h: h.update({"class": "RankingData"}), "its class 'RankingData' is unknown"),
        (lambda h: h.update({"class": "metrics"}), "its class 'metrics' is unknown"),
        (lambda h: h.update({"class": ["RankRLS"]}), r"its class \['RankRLS'\] is unknown"),
        (lambda h: h["parameters"].update(beta=1), "RankRLS has no parameter 'beta'"),
        (lambda h: h["parameters"].pop("weighting"), "the parameter 'weighting' is missing"),
        (lambda h: h.update(parameters=[1]), "the header entry 'parameters' is"),
        (lambda h: h.update(n_features="3"), "the header entry 'n_features' is"),
        (lambda h: h.update(n_features=4), r"'coef_' must have shape \(targets\?, features=4\), not \(3,\)"),
        (lambda h: h.update(feature_names=["a"]), "'feature_names' must be a list of 3 strings"),
        (lambda h: h["values"].update(secret=1), "RankRLS has no fitted attribute 'secret'"),
    ],
)
def test_a_header_that_is_not_understood_is_refused(model, tmp_path, change, sentence):
    path = tmp_path / "model"
    model.save(path)
    rewrite(path, change)
    with pytest.raises(FileFormatError, match=sentence) as caught:
        rankwise.load_model(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)
    with pytest.raises(FileFormatError, match=re.escape(str(caught.value))):
        load_for_command(path)


def test_files_of_an_earlier_schema_load_or_say_what_to_do(model, tmp_path):
    earlier = {"schema": 1, "written_by": "rankwise 0.0.9"}
    model.save(tmp_path / "model")
    rewrite(tmp_path / "model", lambda header: header.update(earlier))
    np.testing.assert_array_equal(rankwise.load_model(tmp_path / "model").coef_, model.coef_)
    path = rankwise.RankSVMPath().fit(*toy())
    path.save(tmp_path / "path")
    rewrite(tmp_path / "path", lambda header: header.update(earlier))
    with pytest.raises(
        FileFormatError, match=r"written by rankwise 0\.0\.9, in a RankSVMPath format .* refit the model"
    ):
        rankwise.load_model(tmp_path / "path")


@pytest.mark.parametrize(
    "tensors, sentence",
    [
        ({"coef_": None}, "tensor 'coef_' is missing"),
        ({"coef_": np.zeros(4)}, "must have shape"),
        ({"coef_": np.zeros((3, 2, 2))}, "must have shape"),
        ({"coef_": np.zeros(3, dtype=np.int64)}, "must hold floating-point numbers, not int64"),
        ({"coef_": np.array([0, np.nan, 0])}, "holds a non-finite value"),
        ({"more_": np.zeros(3)}, "no fitted attribute 'more_'"),
    ],
)
def test_tensors_that_do_not_fit_are_refused(model, tmp_path, tensors, sentence):
    path = tmp_path / "model"
    model.save(path)
    rewrite(path, **tensors)
    with pytest.raises(FileFormatError, match=sentence):
        rankwise.load_model(path)


def test_every_truncation_and_foreign_file_is_refused(model, tmp_path):
    path = tmp_path / "model"
    model.save(path)
    whole = path.read_bytes()
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        with pytest.raises(FileFormatError, match="not a model file or is damaged"):
            rankwise.load_model(path)
    path.write_bytes(b"2 qid:1 1:0.5\n" * 100)
    with pytest.raises(FileFormatError, match="not a model file"):
        rankwise.load_model(path)
    save_file({"weight": np.zeros(3)}, path)
    with pytest.raises(FileFormatError, match="was not written by rankwise"):
        rankwise.load_model(path)
    save_file({"weight": np.zeros(3)}, path, metadata={"rankwise": "{not json"})
    with pytest.raises(FileFormatError, match="was not written by rankwise"):
        rankwise.load_model(path)
    with pytest.raises(FileNotFoundError):
        rankwise.load_model(tmp_path / "missing")


def test_a_flipped_byte_never_crashes_the_reader(model, tmp_path):
    path = tmp_path / "model"
    model.save(path)
    whole = bytearray(path.read_bytes())
    for position in range(0, len(whole), 3):
        broken = whole.copy()
        broken[position] ^= 0x5A
        path.write_bytes(broken)
        # Most flips are rejected; one inside a number goes undetected, as there is no checksum.
        with suppress(FileFormatError):
            rankwise.load_model(path)


@pytest.mark.parametrize("matrix", [np.eye(2, 3), sparse.csr_matrix(np.eye(2, 3))], ids=["dense", "csr"])
def test_feature_rows_survive_dense_and_sparse(matrix):
    content, field = Content(), rows("basis_", "basis features")
    field.pack(matrix, content)
    assert field.is_in(content)
    back = field.unpack(content)
    assert type(back) is type(matrix)
    assert abs(back - matrix).max() == 0
    assert content == Content(sizes=content.sizes)
    assert content.sizes["basis"] == 2


@pytest.mark.parametrize(
    "part, tensor",
    [
        ("indices", np.array([0, 3], dtype=np.int32)),
        ("indptr", np.array([0, 2], dtype=np.int32)),
        ("indptr", np.array([0, 5, 2], dtype=np.int32)),
        ("data", np.zeros(3)),
    ],
)
def test_damaged_sparse_rows_are_refused(part, tensor):
    content, field = Content(), rows("basis_", "basis features")
    field.pack(sparse.csr_matrix(np.eye(2, 3)), content)
    content.tensors[f"basis_.{part}"] = tensor
    with pytest.raises(RefusedError):
        field.unpack(content)


def test_dimensions_of_one_name_must_agree():
    content = Content(tensors={"a": np.zeros((2, 3)), "b": np.zeros(4)})
    array("a", "basis features").unpack(content)
    with pytest.raises(RefusedError, match=r"'b' must have shape \(basis=2\), not \(4,\)"):
        array("b", "basis").unpack(content)


def test_attributes_are_required_unless_declared_optional():
    for kind, arguments in ((array, ["features"]), (rows, ["basis features"]), (value, [int])):
        assert not kind("a_", *arguments).optional
        assert kind("a_", *arguments, optional=True).optional


def test_values_are_checked_for_their_type():
    assert value("gap_", float).unpack(Content(values={"gap_": 1})) == 1.0
    for wrong in (True, "1", None, [1]):
        with pytest.raises(RefusedError, match="must be int"):
            value("n_iter_", int).unpack(Content(values={"n_iter_": wrong}))
    assert plain((np.float64(0.5), [np.int64(2)], {"a": np.arange(2)}), "it") == [0.5, [2], {"a": [0, 1]}]


PUBLIC = [getattr(rankwise, name) for name in rankwise.__all__]
RANKERS = [kind for kind in PUBLIC if isinstance(kind, type) and issubclass(kind, Ranker)]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("kind", RANKERS, ids=lambda kind: kind.__name__)
def test_every_public_ranker_survives_a_file(kind, form, tmp_path):
    rng = np.random.default_rng(3)
    X = form(rng.normal(size=(24, 3)) * (rng.random((24, 3)) < 0.7))
    model = kind().fit(X, rng.integers(0, 3, 24), np.repeat(np.arange(6), 4))
    model.save(tmp_path / "model")
    loaded = rankwise.load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    known = attributes_of(model.model_).keys() - {"left_out_scores_"}
    assert known == attributes_of(loaded.model_).keys(), "something is not declared in the schema"
    assert all(hasattr(loaded, name) for name in known)


@pytest.mark.parametrize("kind", RANKERS, ids=lambda kind: kind.__name__)
def test_the_schema_of_a_ranker_names_its_parameters(kind):
    assert kind._schema is SCHEMAS[kind.__name__]
    assert kind._schema.parameters == set(kind().get_params())


@pytest.mark.parametrize("kind", RANKERS, ids=lambda kind: kind.__name__)
def test_a_kernel_that_is_code_cannot_be_saved(kind, tmp_path):
    if "kernel" not in kind().get_params():
        pytest.skip("has no kernel")
    rng = np.random.default_rng(3)
    model = kind(kernel=lambda A, B: A @ B.T).fit(rng.normal(size=(12, 2)), rng.integers(0, 3, 12))
    with pytest.raises(DataError, match="the parameter 'kernel' is the function <lambda>"):
        model.save(tmp_path / "model")


def search_file(path):
    """A search that has all that a search can have, in a file."""
    X, y, qid = toy()
    choice = rankwise.RankRLSCV([0.1, 1.0], ties=["keep", "drop"], solver="cg", cv=None)
    choice.fit(X, y, qid, eval_set=(X, y, qid))
    assert {"surface_", "readings_"} <= attributes_of(choice.model_).keys()
    choice.save(path)


@pytest.mark.parametrize(
    "change, sentence",
    [
        (lambda v: v["best_"].pop("alpha"), "'best_' must be one of 'settings_' with one of 'alphas_'"),
        (lambda v: v["best_"].update(alpha=0.5), "'best_' must be"),
        (lambda v: v["best_"].update(score="high"), "'best_' must be"),
        (lambda v: v["best_"].update(score=10**400), "'best_' must be"),
        (lambda v: v["best_"].update(ties="both"), "'best_' must be"),
        (lambda v: v["settings_"].clear(), "'settings_' must be a list with one dictionary per row"),
        (lambda v: v.update(settings_=[1, 2]), "'settings_' must be a list with one dictionary per row"),
        (lambda v: v["settings_"][1].pop("ties"), "'settings_' must hold dictionaries with the same names"),
        (lambda v: [s.update(colour=1) for s in v["settings_"]], "must be parameters that a search chooses"),
        (lambda v: v["settings_"][0].update(weighting="all"), "the setting 'weighting' cannot be 'all'"),
        (lambda v: v.update(best_iter_=10**6), r"'best_iter_' must be from 1 to \d+"),
        (
            lambda v: v["readings_"]["hybrid"].pop("alpha"),
            "each of 'readings_' must have alpha, n_iter, score",
        ),
        (lambda v: v["readings_"]["hybrid"].update(n_iter="1"), "values of 'readings_' must be numbers"),
    ],
)
def test_a_choice_that_no_search_makes_is_refused(tmp_path, change, sentence):
    search_file(tmp_path / "model")
    rewrite(tmp_path / "model", lambda header: change(header["values"]))
    with pytest.raises(FileFormatError, match=sentence):
        rankwise.load_model(tmp_path / "model")


@pytest.mark.parametrize("shape", [[0, 2**62], [2**63, 0], [0, 2**31, 2**31, 2**31]], ids=str)
def test_an_empty_tensor_of_an_impossible_shape_is_refused(shape, tmp_path):
    header = {"__metadata__": {"rankwise": json.dumps({"schema": 2})}}
    header["coef_"] = {"dtype": "F64", "shape": shape, "data_offsets": [0, 0]}
    encoded = json.dumps(header).encode()
    (tmp_path / "model").write_bytes(len(encoded).to_bytes(8, "little") + encoded)
    with pytest.raises(FileFormatError, match="the tensor 'coef_' has an impossible shape"):
        rankwise.load_model(tmp_path / "model")
