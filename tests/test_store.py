"""Stores: same data as in memory, opened without being read, rejected if anything is wrong."""

import json
import os
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from rankwise import RankingData, convert_letor, load_letor, open_store, save_letor, save_store
from rankwise.errors import DataError, FileFormatError
from rankwise.rows.storage import csr_around

SPARSE = "1 qid:a 1:1 9:2 #docid = d1\n0 qid:b 3:1\n2 qid:a\n1.5 qid:c 2:-1 5:0.1 # d4\n"
GROUPED = "1 qid:1 1:1 9:2\n0 qid:1 3:1\n2 qid:7\n"
FULL = "1 qid:1 1:1 2:2\n0 qid:1 1:3 2:4\n"
MOSTLY = "1 1:1 2:2\n0 2:4\n3 1:7 2:8\n"
FROM_ZERO = "1 0:1 900:2\n0 3:1\n"
NO_FEATURES = "1 qid:1\n2 qid:1\n"
WIDE = "1 qid:1 3:1 5000000000:2\n"


@pytest.fixture
def letor(tmp_path):
    path = tmp_path / "rows.letor"
    path.write_text(SPARSE, encoding="utf-8")
    return path


@pytest.fixture
def store(letor, tmp_path):
    convert_letor(letor, tmp_path / "rows.store")
    return tmp_path / "rows.store"


def assert_same(left, right):
    assert left.X.shape == right.X.shape
    assert left.X.dtype == right.X.dtype
    assert sparse.issparse(left.X) == sparse.issparse(right.X)
    for name in ("data", "indices", "indptr") if sparse.issparse(left.X) else ():
        assert getattr(left.X, name).dtype == getattr(right.X, name).dtype
        np.testing.assert_array_equal(getattr(left.X, name), getattr(right.X, name))
    if not sparse.issparse(left.X):
        np.testing.assert_array_equal(left.X, right.X)
    np.testing.assert_array_equal(left.y, right.y)
    np.testing.assert_array_equal(left.queries.offsets, right.queries.offsets)
    for ours, theirs in [
        (left.queries.order, right.queries.order),
        (left.queries.labels, right.queries.labels),
        (left.qid, right.qid),
        (left.docs, right.docs),
    ]:
        assert (ours is None) == (theirs is None)
        assert ours is None or ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("text", [SPARSE, GROUPED, FULL, MOSTLY, FROM_ZERO, NO_FEATURES, WIDE])
@pytest.mark.parametrize("options", [{}, {"dtype": "float32"}, {"dense": False}])
def test_a_converted_file_opens_as_it_loads(tmp_path, text, options, monkeypatch):
    for module in ("npy", "letor_to_store"):
        monkeypatch.setattr(f"rankwise.readers.{module}.PIECE_BYTES", 16)
    (tmp_path / "rows").write_text(text, encoding="utf-8")
    convert_letor(tmp_path / "rows", tmp_path / "store", **options)
    loaded = load_letor(tmp_path / "rows", **options)
    assert_same(open_store(tmp_path / "store", verify=True), loaded)
    save_store(loaded, tmp_path / "saved")
    assert_same(open_store(tmp_path / "saved", verify=True), loaded)
    save_letor(open_store(tmp_path / "store"), tmp_path / "again")
    assert_same(load_letor(tmp_path / "again", **options), loaded)


def test_blocks_of_any_size_convert_alike(tmp_path, monkeypatch, letor):
    loaded = load_letor(letor)
    for size in (16, 40, 64):
        monkeypatch.setattr("rankwise.readers.text.BLOCK_BYTES", size)
        convert_letor(letor, tmp_path / "store")
        assert_same(open_store(tmp_path / "store"), loaded)


def test_numpy_reads_the_arrays_of_a_store(store):
    manifest = json.loads((store / "manifest.json").read_text(encoding="utf-8"))
    for entry in manifest["arrays"].values():
        array = np.load(store / entry["file"], allow_pickle=False)
        assert array.dtype.str == entry["dtype"]
        assert list(array.shape) == entry["shape"]
    assert sorted(path.name for path in store.iterdir()) == sorted(
        ["manifest.json", *(entry["file"] for entry in manifest["arrays"].values())]
    )


def test_data_from_anywhere_is_kept(tmp_path):
    rng = np.random.default_rng(0)
    data = RankingData.from_arrays(
        rng.normal(size=(5, 2)), rng.normal(size=5), ["x", "y", "x", "z", "y"], feature_names=["a", "b"]
    )
    save_store(data, tmp_path / "store")
    opened = open_store(tmp_path / "store", verify=True)
    assert_same(opened, data)
    assert opened.feature_names == ("a", "b")


def test_labels_of_mixed_types_are_refused_and_nothing_is_left(tmp_path):
    data = RankingData.from_arrays(np.eye(2), [0, 1], [("a", 1), "b"])
    with pytest.raises(DataError, match="qid contains str, tuple"):
        save_store(data, tmp_path / "store")
    assert not any(tmp_path.iterdir())


def test_a_label_that_would_widen_all_others_is_refused(tmp_path):
    data = RankingData.from_arrays(np.eye(2), [0, 1], docs=np.array(["a", "b" * 1001], dtype=object))
    with pytest.raises(DataError, match="docs has a label of 1,001 characters"):
        save_store(data, tmp_path / "store")
    (tmp_path / "rows").write_text("1 1:1 # a\n0 1:2 # " + "b" * 1001, encoding="utf-8")
    with pytest.raises(
        FileFormatError, match="a document label has 1,001 bytes; a store holds at most 1,000"
    ):
        convert_letor(tmp_path / "rows", tmp_path / "store")
    assert [path.name for path in tmp_path.iterdir()] == ["rows"]


def test_opening_maps_the_arrays_and_64_bit_indices_are_not_read(store):
    opened = open_store(store)
    assert isinstance(opened.X.data, np.memmap)
    assert isinstance(opened.X.indices, np.memmap)

    class Untouchable(np.ndarray):
        def max(self, *args, **kwargs):
            raise AssertionError("the indices were read")

        min = max

    indices = np.array([0, 1]).view(Untouchable)
    X = csr_around(np.ones(2), indices, np.array([0, 2]), (1, 5))
    assert X.indices is indices
    np.testing.assert_array_equal(X @ np.arange(5.0), [1.0])


def test_a_store_that_is_replaced_while_it_is_open_stays_what_it_was(store, letor):
    opened = open_store(store)
    save_store(RankingData.from_arrays([[1.0], [2.0]], [0, 1]), store)
    assert open_store(store).n_rows == 2
    assert_same(opened, load_letor(letor))


def edit(store, change):
    path = store / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    change(manifest)
    path.write_text(json.dumps(manifest), encoding="utf-8")


def refused(store, message, **options):
    with pytest.raises(FileFormatError, match=message) as caught:
        open_store(store, **options)
    assert str(store) in str(caught.value)


@pytest.mark.parametrize("labels", [np.array([1, 2], dtype="m8[s]"), np.array([b"a", b"b"])], ids=["m", "S"])
def test_labels_that_cannot_be_read_back_are_not_written(tmp_path, labels):
    data = RankingData.from_arrays(np.eye(2), [0, 1], docs=labels)
    with pytest.raises(
        DataError, match="A store holds labels that are numbers, dates or text; docs contains"
    ):
        save_store(data, tmp_path / "store")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["qid", "docs"])
def test_labels_that_are_no_text_are_refused(tmp_path, name):
    data = RankingData.from_arrays(np.eye(2), [0, 1], qid=["a", "é"], docs=["b", "c"])
    save_store(data, tmp_path / "store")
    with (tmp_path / "store" / f"{name}.npy").open("r+b") as file:
        file.seek(-4, os.SEEK_END)
        file.write((0x110000).to_bytes(4, "little"))
    refused(tmp_path / "store", rf"{name}\.npy: the array is corrupt: it contains invalid characters")


def test_a_truncated_array_is_refused(store):
    path = store / "data.npy"
    os.truncate(path, path.stat().st_size - 1)
    refused(store, r"data\.npy: the file has 167 bytes instead of 168; it was truncated")


def test_a_missing_array_is_refused(store):
    (store / "y.npy").unlink()
    refused(store, r"y\.npy: the file is missing")


def test_a_wrong_checksum_is_found_when_asked_for(store):
    with (store / "data.npy").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x01")
    open_store(store)
    refused(store, r"data\.npy: the checksum does not match", verify=True)


def test_indices_outside_the_matrix_are_found_even_with_a_right_checksum(store):
    content = bytearray((store / "indices.npy").read_bytes())
    content[-4:] = (1000).to_bytes(4, "little")
    (store / "indices.npy").write_bytes(content)
    edit(store, lambda manifest: manifest["arrays"]["indices"].update(crc32=zlib.crc32(content[128:])))
    refused(store, r"indices\.npy: the array does not match the others", verify=True)


def test_a_header_that_differs_from_the_manifest_is_refused(store):
    content = (store / "y.npy").read_bytes().replace(b"<f8", b"<i8")
    (store / "y.npy").write_bytes(content)
    refused(store, "the header of the array does not match the manifest")


@pytest.mark.parametrize(
    ("version", "advice"),
    [(3, "it was written by a newer rankwise, so upgrade"), ("x", "convert the data again")],
)
def test_another_version_is_refused(store, version, advice):
    edit(store, lambda manifest: manifest.update(version=version))
    refused(store, advice)


@pytest.mark.parametrize(
    "place",
    ["../y.npy", "/etc/passwd", "sub/../../y.npy", "", "y\0.npy", "\ud800.npy", "y" * 300 + ".npy"],
    ids=ascii,
)
def test_a_path_outside_the_store_is_refused(store, place):
    edit(store, lambda manifest: manifest["arrays"]["y"].update(file=place))
    refused(store, "outside the store|the file is missing")


def test_a_link_out_of_the_store_is_refused(store, tmp_path):
    (store / "y.npy").rename(tmp_path / "y.npy")
    (store / "y.npy").symlink_to(tmp_path / "y.npy")
    refused(store, "outside the store")


@pytest.mark.parametrize(
    "change",
    [
        lambda manifest: manifest.pop("n_rows"),
        lambda manifest: manifest.update(n_rows=-1),
        lambda manifest: manifest.update(n_rows=True),
        lambda manifest: manifest.update(feature_names=[1]),
        lambda manifest: manifest.update(scaled_per_query=0),
        lambda manifest: manifest.update(arrays=[]),
        lambda manifest: manifest["arrays"].update(y=1),
        lambda manifest: manifest["arrays"]["y"].update(dtype="|O"),
        lambda manifest: manifest["arrays"]["y"].update(dtype="nonsense"),
        lambda manifest: manifest["arrays"]["y"].update(dtype=",98"),
        lambda manifest: manifest["arrays"]["y"].update(dtype="8\0O"),
        lambda manifest: manifest["arrays"]["y"].update(dtype="\ud800"),
        lambda manifest: manifest["arrays"]["y"].update(shape=[-4]),
        lambda manifest: manifest["arrays"]["y"].update(shape=[2**62, 2**62]),
        lambda manifest: manifest["arrays"]["y"].update(shape="4"),
        lambda manifest: manifest["arrays"].pop("y"),
        lambda manifest: manifest["arrays"].pop("data"),
        lambda manifest: manifest["arrays"].pop("indptr"),
        lambda manifest: manifest.update(n_rows=5),
        lambda manifest: manifest.update(n_queries=2),
        lambda manifest: manifest.update(feature_names=["a"]),
    ],
)
def test_a_damaged_manifest_is_refused(store, change):
    edit(store, change)
    refused(
        store,
        r"manifest\.json: the (manifest is corrupt|store must have|store has \d+ feature|size of the array)",
    )


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '"\\ud800', "\x00"])
def test_a_manifest_that_is_none_is_refused(store, text):
    (store / "manifest.json").write_text(text, encoding="utf-8")
    refused(store, "the manifest is not valid JSON|not the manifest of a rankwise store")


def test_what_is_no_store_is_named(tmp_path):
    with pytest.raises(FileFormatError, match=r"this is not a store: it has no manifest\.json"):
        open_store(tmp_path)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        open_store(tmp_path / "nowhere")


def test_bad_text_leaves_no_store_and_keeps_the_old_one(store, letor, tmp_path):
    before = (store / "manifest.json").read_text(encoding="utf-8")
    letor.write_text(SPARSE + "1 qid:a 1:nan\n", encoding="utf-8")
    for target in (store, tmp_path / "new.store"):
        with pytest.raises(FileFormatError, match="line 5"):
            convert_letor(letor, target)
    assert (store / "manifest.json").read_text(encoding="utf-8") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.letor", "rows.store"]


def test_a_full_disk_leaves_no_half_written_store(tmp_path):
    """Limit files to 64 KiB in the child; the system reports this like a full disk."""
    (tmp_path / "rows.letor").write_text("1 qid:1 1:1 9:2\n" * 20000, encoding="utf-8")
    script = (
        "import resource, sys; from rankwise import convert_letor\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))\n"
        "try: convert_letor('rows.letor', 'rows.store')\n"
        "except OSError as error: sys.exit(f'{error.strerror}: {error.filename}')"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert run.stderr.strip() == f"File too large: {tmp_path / 'rows.store'}"
    assert [path.name for path in tmp_path.iterdir()] == ["rows.letor"]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell the peak")
def test_converting_takes_bounded_memory(tmp_path):
    """Four times the text takes the same peak memory (within a few blocks) in a child process."""
    line = "1 qid:1 " + " ".join(f"{i}:0.{i:06}" for i in range(1, 100)) + "\n"
    script = (
        "import re, sys; from pathlib import Path; from rankwise import convert_letor, set_config\n"
        "set_config(n_threads=1); convert_letor(sys.argv[1], sys.argv[1] + '.store')\n"
        "print(re.search('VmHWM:\\\\s+(\\\\d+) kB', Path('/proc/self/status').read_text())[1])"
    )
    peaks = []
    for copies in (10_000, 40_000):
        path = tmp_path / f"{copies}.letor"
        path.write_text(line * copies, encoding="utf-8")
        run = subprocess.run(
            [sys.executable, "-c", script, path], capture_output=True, encoding="utf-8", check=True
        )
        peaks.append(int(run.stdout) * 1024)
    assert peaks[1] < peaks[0] + 0.2 * path.stat().st_size
