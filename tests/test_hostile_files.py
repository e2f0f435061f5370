"""Small files that claim huge sizes, nest deeply or hold what no model has are refused in little memory."""

import gzip
import json
import lzma
import zlib

import numpy as np
import pytest
from scipy import sparse

import rankwise
from rankwise import DataError, load_letor, load_model, load_pairs, open_store, save_pairs, save_store
from rankwise.cli.reading import load_model as load_any_model
from rankwise.errors import FileFormatError
from rankwise.export.svmrank import save_svmrank
from test_model_files import rewrite

rng = np.random.default_rng(0)
X, Y, QID = rng.normal(size=(12, 3)), np.tile([0.0, 1.0, 2.0], 4), np.repeat([1, 2, 3], 4)
DEEP = "[" * 100_000 + "]" * 100_000
pytestmark = pytest.mark.usefixtures("little_memory")


@pytest.fixture
def saved(tmp_path):
    def save(model):
        model.save(tmp_path / "model")
        return tmp_path / "model"

    return save


@pytest.mark.parametrize("n_features", [10**9, 10**30, 0, -3])
@pytest.mark.parametrize("basis", [X, sparse.csr_matrix(X)], ids=["dense", "csr"])
def test_a_model_of_impossibly_many_features_is_refused(saved, basis, n_features):
    path = saved(rankwise.KernelRankRLS().fit(basis, Y, QID))

    def change(header):
        header["n_features"], header["feature_names"] = n_features, ["a"]
        header["values"].pop("basis_.shape", None)

    rewrite(path, change)
    with pytest.raises(FileFormatError, match=r"it says that it has .* features; expected 1 to 67,108,864"):
        load_model(path)


@pytest.mark.parametrize(
    "line, text, says",
    [
        (8, "1000000000000 # highest feature index", "expected a whole number from 0 to 67,108,864"),
        (8, f"{'9' * 5000} # highest feature index", "expected a whole number from 0 to 67,108,864"),
        (10, f"{'9' * 5000} # number of support vectors plus 1", "expected a whole number"),
        (12, "1 99999999999999999999:1 #", "expected a support vector"),
        (12, f"1 {'9' * 5000}:1 #", "expected a support vector"),
    ],
)
def test_an_svmrank_file_of_huge_numbers_is_refused(tmp_path, line, text, says):
    path = tmp_path / "model"
    save_svmrank(np.ones(3), path, n_rows=5)
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[line - 1] = text
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match=says) as caught:
        load_any_model(path)
    assert caught.value.line == line
    assert len(str(caught.value)) < 400


def test_a_line_of_pairs_without_end_is_refused_before_it_fills_memory(tmp_path):
    for name, start in (("p.gz", b""), ("q.gz", b"0 1\n"), ("named.gz", b"qid,preferred,other\n")):
        # A gigabyte: parts that are compressed one by one may follow each other.
        (tmp_path / name).write_bytes(gzip.compress(start) + gzip.compress(b" " * (1 << 24)) * (1 << 6))
        data = rankwise.RankingData.from_arrays(X, Y, QID, docs=list("abcdefghijkl"))
        with pytest.raises(FileFormatError, match="the line is longer than 1,048,576 bytes") as caught:
            load_pairs(tmp_path / name, data=data)
        assert caught.value.line == (2 if start else 1)


def test_every_damaged_byte_of_compressed_pairs_is_a_sentence(tmp_path):
    path = tmp_path / "p.gz"
    save_pairs(np.column_stack([np.arange(500), np.arange(1, 501)]), path)
    whole = path.read_bytes()
    compressed = whole.index(b"\0", 10) + 1  # behind the name of the file
    for place in range(compressed, len(whole), 7):
        damaged = bytearray(whole)
        damaged[place] ^= 0x5A
        path.write_bytes(damaged)
        with pytest.raises(FileFormatError):
            load_pairs(path)


def test_an_xz_header_that_claims_a_huge_dictionary_is_refused(tmp_path):
    path = tmp_path / "p.xz"
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 16}]
    whole = bytearray(lzma.compress(b"0 1\n", filters=filters))
    header, size = whole[12:24], whole.index(b"\x21\x01") + 2  # of the block; the size of the dictionary
    header[size - 12] = 40  # stands for 4 GB - 1
    whole[12:24] = header[:-4] + zlib.crc32(header[:-4]).to_bytes(4, "little")
    path.write_bytes(whole)
    with pytest.raises(FileFormatError, match=r"corrupt or truncated: Memory usage limit exceeded"):
        load_pairs(path)


def test_xz_streams_that_follow_each_other_are_one_text(tmp_path):
    path = tmp_path / "p.xz"
    path.write_bytes(lzma.compress(b"0 1\n1 ") + bytes(8) + lzma.compress(b"2\n") + bytes(40_000))
    assert load_pairs(path).pairs.tolist() == [[0, 1], [1, 2]]
    path.write_bytes(lzma.compress(b"0 1\n1 ") + lzma.compress(b"2\n")[:-9])
    with pytest.raises(FileFormatError, match="corrupt or truncated: the file ends before its stream does"):
        load_pairs(path)


def test_a_huge_feature_id_is_refused_where_it_would_take_memory(tmp_path):
    path = tmp_path / "rows.txt"
    path.write_text("1 qid:1 999999999999:0.5\n0 qid:1 1:0.25\n", encoding="utf-8")
    data = load_letor(path)
    for use in (
        lambda: rankwise.RankRLS().fit(data.X, data.y, data.qid),
        lambda: data.scale_per_query(),
        lambda: rankwise.scale_per_query(data.X, data.qid),
        lambda: load_letor(path, dense=True),
        lambda: rankwise.convert_letor(path, tmp_path / "rows.store", dense=True),
    ):
        with pytest.raises(DataError, match="999,999,999,999 features; at most 67,108,864"):
            use()


def test_deeply_nested_headers_are_refused(saved, tmp_path):
    path = saved(rankwise.RankRLS().fit(X, Y, QID))
    for nested in (DEEP, '{"schema": 2, "class": "RankRLS", "parameters": {"alpha": ' + DEEP + "}}"):
        write_model(path, "F64", bytes(24), nested)
        with pytest.raises(FileFormatError, match="was not written by rankwise"):
            load_model(path)
    moderate = json.loads("[" * 400 + "]" * 400)
    path = saved(rankwise.RankRLS().fit(X, Y, QID))
    rewrite(path, lambda header: header["parameters"].update(alpha=moderate))
    with pytest.raises(FileFormatError, match="was not written by rankwise"):
        load_model(path)
    save_store(rankwise.RankingData.from_arrays(X, Y, QID), tmp_path / "store")
    (tmp_path / "store" / "manifest.json").write_text(DEEP, encoding="utf-8")
    with pytest.raises(FileFormatError, match="the manifest is not valid JSON: it is nested too deeply"):
        open_store(tmp_path / "store")


def write_model(path, kind, content, header):
    """A safetensors file with the tensor ``coef_``, as the format describes it."""
    entries = {
        "__metadata__": {"rankwise": header},
        "coef_": {"dtype": kind, "shape": [3], "data_offsets": [0, len(content)]},
    }
    text = json.dumps(entries).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + content)


@pytest.mark.parametrize("kind, size", [("BF16", 2), ("F8_E4M3", 1)])
def test_tensors_of_numbers_that_numpy_lacks_are_refused(tmp_path, kind, size):
    header = {"schema": 2, "class": "RankRLS", "parameters": {}, "n_features": 3, "values": {}}
    write_model(tmp_path / "model", kind, bytes(3 * size), json.dumps(header))
    with pytest.raises(FileFormatError, match=f"the tensor 'coef_' holds numbers of type {kind}"):
        load_model(tmp_path / "model")


@pytest.mark.parametrize("name", ["gamma_", "degree_", "coef0_"])
@pytest.mark.parametrize("number", [float("nan"), float("inf"), -1.0, 10**400])
def test_kernel_parameters_out_of_range_are_refused(saved, name, number):
    path = saved(rankwise.KernelRankRLS().fit(X, Y, QID))
    rewrite(path, lambda header: header["values"].update({name: number}))
    with pytest.raises(FileFormatError, match=f"the value '{name}' must be a finite number of at least 0"):
        load_model(path)


def test_a_number_too_large_for_a_double_is_refused(saved):
    path = saved(rankwise.RankSVM().fit(X, Y, QID))
    rewrite(path, lambda header: header["values"].update(gap_=10**400))
    with pytest.raises(FileFormatError, match="the value 'gap_' must be float"):
        load_model(path)


def test_a_kernel_model_without_its_basis_is_refused(saved):
    path = saved(rankwise.KernelRankRLS().fit(X, Y, QID))
    rewrite(path, basis_=None)
    with pytest.raises(FileFormatError, match=r"the rows 'basis_' are missing"):
        load_model(path)
    path = saved(rankwise.KernelRankRLS(kernel="precomputed").fit(X @ X.T, Y, QID))
    rewrite(path, basis_indices_=np.arange(1, 13))
    with pytest.raises(FileFormatError, match="'basis_indices_' must hold numbers from 0 to 11"):
        load_model(path)


def test_a_linear_kernel_measured_from_rows_that_do_not_exist_is_refused(saved):
    path = saved(rankwise.KernelRankRLS(kernel="linear").fit(X, Y, QID))
    rewrite(path, basis_reference_=np.full(12, 12))
    with pytest.raises(FileFormatError, match="'basis_reference_' must hold numbers from 0 to 11"):
        load_model(path)


def test_a_kernel_model_that_does_not_name_its_kernel_is_refused(saved):
    path = saved(rankwise.KernelRankRLS().fit(X, Y, QID))
    rewrite(path, lambda header: header["parameters"].pop("kernel"))
    for load in (load_model, load_any_model):
        with pytest.raises(FileFormatError, match="the parameter 'kernel' is missing"):
            load(path)


def test_models_without_targets_rows_or_breakpoints_are_refused(saved):
    path = saved(rankwise.RankRLS().fit(X, Y, QID))
    rewrite(path, coef_=np.zeros((0, 3)))
    with pytest.raises(FileFormatError, match=r"the tensor 'coef_' is empty"):
        load_model(path)
    path = saved(rankwise.RankSVMPath().fit(X, Y, QID))
    rewrite(path, lambda header: header["values"].update(n_events_=10**6))
    with pytest.raises(FileFormatError, match="n_events_"):
        load_model(path)
