"""Reading LETOR/SVMlight text: what is read."""

import bz2
import gzip
import lzma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from rankwise import convert_letor, load_letor, open_store
from rankwise.config import config_context
from rankwise.errors import FileFormatError


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def test_comments_without_a_document_label_are_no_labels(text, tmp_path):
    path = text("1 qid:1 1:1 #docid = \n0 qid:1 1:2 # \n")
    assert load_letor(path).docs is None
    convert_letor(path, tmp_path / "store")
    assert open_store(tmp_path / "store").docs is None


def test_rows_queries_and_documents_are_read(text):
    data = load_letor(
        text(
            "# qid:1: rambo*1\n"
            "\n"
            "2.5 qid:10 1:0.25 3:-1e2 #docid = GX008-86 inc = 1 prob = 0.08\n"
            "-1 qid:10 2:.5 # 7555 rambo\n"
            "0\tqid:3   #docid=9\r\n"
            "+1 qid:10 1:5. 2:+6\n"
        )
    )
    np.testing.assert_array_equal(dense(data.X), [[0.25, 0, -100], [0, 0.5, 0], [0, 0, 0], [5, 6, 0]])
    np.testing.assert_array_equal(data.y, [2.5, -1, 0, 1])
    np.testing.assert_array_equal(data.qid, [10, 10, 3, 10])
    assert data.qid.dtype == np.int64
    np.testing.assert_array_equal(data.queries.labels, [10, 3])
    np.testing.assert_array_equal(data.queries.offsets, [0, 3, 4])
    np.testing.assert_array_equal(data.queries.order, [0, 1, 3, 2])
    assert data.docs.tolist() == ["GX008-86", "7555", "9", ""]
    assert data.comments.tolist() == ["docid = GX008-86 inc = 1 prob = 0.08", "7555 rambo", "docid=9", ""]


def test_ohsumed_has_its_counts_straight_from_the_compressed_files(shared_data):
    folds = [load_letor(shared_data / f"ohsumed_letor2/Fold{i}/testset.txt.xz") for i in range(1, 6)]
    assert sum(fold.n_rows for fold in folds) == 16140
    assert sum(fold.n_queries for fold in folds) == 106
    assert {fold.n_features for fold in folds} == {25}
    assert {type(fold.X) for fold in folds} == {np.ndarray}
    assert folds[0].docs[0] == "7612"


def test_scikit_learn_reads_the_same(tmp_path):
    rng = np.random.default_rng(0)
    X = sparse.random(3000, 500, density=0.05, random_state=1, format="csr") * 10.0 ** rng.integers(-30, 30)
    y, qid = rng.normal(size=3000), np.sort(rng.integers(0, 200, 3000))
    path = tmp_path / "rows.svm"
    dump_svmlight_file(X, y, str(path), query_id=qid, zero_based=False)
    theirs = load_svmlight_file(str(path), query_id=True)
    for n_threads in (1, 2, 3):
        with config_context(n_threads=n_threads):
            ours = load_letor(path)
        for attribute in ("data", "indices", "indptr", "shape"):
            np.testing.assert_array_equal(getattr(ours.X, attribute), getattr(theirs[0], attribute))
        np.testing.assert_array_equal(ours.y, theirs[1])
        np.testing.assert_array_equal(ours.qid, theirs[2])


@pytest.mark.parametrize(
    ("extension", "compress"),
    [
        ("", bytes),
        (".gz", gzip.compress),
        (".xz", lzma.compress),
        (".bz2", bz2.compress),
        (".XZ", lzma.compress),
    ],
)
def test_files_are_decompressed_by_extension(text, extension, compress):
    data = load_letor(text(compress(b"1 qid:a 1:2\n"), name=f"rows.txt{extension}"))
    assert data.X.tolist() == [[2.0]]
    assert data.qid.tolist() == ["a"]


def test_a_whole_last_line_needs_no_line_end(text):
    assert load_letor(text("0 qid:1 1:1\n1 qid:1 1:2")).X.tolist() == [[1.0], [2.0]]


def test_line_ends_of_windows_and_a_byte_order_mark_change_nothing(text):
    lines = ["# header", "1 qid:a 1:2 # d1", "", "0 qid:a 2:3"]
    plain = load_letor(text("\n".join(lines)))
    windows = load_letor(text("\ufeff" + "\r\n".join(lines) + "\r\n"))
    np.testing.assert_array_equal(dense(plain.X), dense(windows.X))
    assert plain.docs.tolist() == windows.docs.tolist() == ["d1", ""]
    assert plain.qid.tolist() == windows.qid.tolist() == ["a", "a"]


@pytest.mark.parametrize("block_bytes", [32, 100, 1 << 22])
def test_blocks_join_without_a_seam(text, monkeypatch, block_bytes):
    monkeypatch.setattr("rankwise.readers.text.BLOCK_BYTES", block_bytes)
    lines = [f"{i} qid:q{i % 7} {i + 1}:{i / 7}" + (f" # d{i}" if i % 3 == 0 else "") for i in range(50)]
    data = load_letor(text("\n".join(lines)))
    np.testing.assert_array_equal(data.y, np.arange(50))
    np.testing.assert_array_equal(data.X.toarray(), np.diag(np.arange(50) / 7))
    assert data.qid.tolist() == [f"q{i % 7}" for i in range(50)]
    assert data.docs.tolist() == [f"d{i}" if i % 3 == 0 else "" for i in range(50)]
    with pytest.raises(FileFormatError, match="line 51: the label is 'x'"):
        load_letor(text("\n".join([*lines, "x"])))


decimals = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.from_regex(r"[+-]?[0-9]{1,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True),
    st.from_regex(r"-?\.[0-9]{1,40}(e[0-9]{1,2})?", fullmatch=True),
    st.sampled_from(
        ["1e-400", "0" * 500 + "1e-400", "0." + "0" * 400 + "1e401", "9007199254740993", "5e-324"]
    ),
)


@settings(max_examples=100, deadline=None)
@given(numbers=st.lists(decimals.filter(lambda number: np.isfinite(float(number))), min_size=1, max_size=30))
def test_numbers_are_rounded_as_python_rounds_them(tmp_path_factory, numbers):
    path = tmp_path_factory.getbasetemp() / "numbers"
    path.write_text("".join(f"{number} 1:{number}\n" for number in numbers), encoding="utf-8")
    data = load_letor(path)
    expected = [float(number) for number in numbers]
    assert data.y.tolist() == expected
    assert data.X.ravel().tolist() == expected
    np.testing.assert_array_equal(np.signbit(data.y), np.signbit(expected))


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        ("1 1:5 3:6", {}, [5, 0, 6]),
        ("1 0:5 3:6", {}, [5, 0, 0, 6]),
        ("1 1:5 3:6", {"zero_based": True}, [0, 5, 0, 6]),
        ("1 1:5 3:6", {"zero_based": False}, [5, 0, 6]),
        ("1 1:5 3:6", {"n_features": 5}, [5, 0, 6, 0, 0]),
        ("1 0:5 3:6", {"n_features": 4}, [5, 0, 0, 6]),
    ],
)
def test_indices_start_at_one_unless_a_zero_occurs_or_the_caller_says_so(text, content, options, expected):
    data = load_letor(text(content), dense=True, **options)
    assert data.X.tolist() == [expected]


def test_indices_are_64_bit_only_where_they_must_be(text):
    assert load_letor(text("1 1:1 2147483647:2")).X.indices.dtype == np.int32
    wide = load_letor(text("1 1:1\n2 2147483648:2\n3 9223372036854775806:3\n"))
    assert wide.X.indices.dtype == wide.X.indptr.dtype == np.int64
    assert wide.X.indices.tolist() == [0, 2147483647, 9223372036854775805]


def test_x_is_dense_if_half_of_it_is_there(text):
    assert isinstance(load_letor(text("1 1:1\n0 2:1")).X, np.ndarray)
    assert sparse.issparse(load_letor(text("1 1:1\n0 2:1\n1")).X)
    for no in (False, np.False_):
        assert sparse.issparse(load_letor(text("1 1:1\n0 1:1"), dense=no).X)
    single = load_letor(text("1 1:0.1\n0 1:1"), dtype="float32")
    assert single.X.dtype == np.float32
    assert single.X[0, 0] == np.float32(0.1)
    assert load_letor(text("1 1:0.1\n0 1:1"), dtype=np.dtype("float32")).X.dtype == np.float32


def test_rows_without_features_are_rows(text):
    data = load_letor(text("1 qid:1\n2 qid:1\n"))
    assert data.X.shape == (2, 0)


def test_query_labels_are_numbers_only_if_nothing_is_lost(text):
    assert load_letor(text("1 qid:-3 1:1\n1 qid:12 1:1")).qid.dtype == np.int64
    for label in ("007", "1.5", "9223372036854775808", "x", "é", "+1", "1_0"):
        data = load_letor(text(f"1 qid:{label} 1:1\n1 qid:1 1:1"))
        assert data.qid.tolist() == [label, "1"]
        assert data.queries.labels.tolist() == [label, "1"]


def test_bytes_that_are_not_utf8_stay_visible(text):
    data = load_letor(text(b"1 qid:caf\xe9 1:1 # d\xff x\n"))
    assert data.qid.tolist() == ["caf\\xe9"]
    assert data.docs.tolist() == ["d\\xff"]


def test_progress_ends_at_the_size_of_the_file(text, monkeypatch):
    monkeypatch.setattr("rankwise.readers.text.BLOCK_BYTES", 64)
    path = text(gzip.compress(b"1 qid:1 1:1\n" * 100), name="rows.gz")
    calls = []
    load_letor(path, progress=lambda done, total: calls.append((done, total)))
    assert len(calls) > 1
    assert calls[-1] == (path.stat().st_size, path.stat().st_size)
