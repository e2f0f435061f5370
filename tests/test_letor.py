"""Reading LETOR/SVMlight text: what is read, and in which words bad text is refused."""

import bz2
import gzip
import lzma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from rankwise import load_letor
from rankwise.errors import FileFormatError, ParameterError


@pytest.fixture
def text(tmp_path):
    """Write text (or bytes) to a file and return its path."""

    def write(content, name="rows.letor"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


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
        ours = load_letor(path, n_threads=n_threads)
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


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nan qid:1 1:1", r"the label is 'nan'; expected a finite number"),
        ("1 qid:1 1:inf", r"the value of feature 1 is 'inf'; expected a finite number"),
        ("1 qid:1 2:1e999", r"the value of feature 2 is '1e999'; expected a finite number"),
        ("one qid:1 1:1", r"the label is 'one'"),
        ("1 qid:1 1:x", r"the value of feature 1 is 'x'"),
        ("1 qid:1 1:", r"the value of feature 1 is ''"),
        ("1 qid:1 1:2x", r"the value of feature 1 is '2x'"),
        ("1 qid:1 title:2", r"expected index:value, got 'title:2'"),
        ("1 qid:1 7", r"expected index:value, got '7'"),
        ("1 qid:1 1:1 1:2", r"feature index 1 appears twice"),
        ("1 qid:1 2:1 1:2", r"feature index 1 comes after 2; indices must ascend"),
        ("1 qid:1 -1:2", r"feature index '-1:2' is negative"),
        ("1 qid:1 9223372036854775808:2", r"does not fit in 63 bits"),
        ("1 qid:1 99999999999999999999999:2", r"does not fit in 63 bits"),
        ("1 qid: 1:2", r"qid: names no query"),
        ("1 1:2", r"no qid, although the rows before have one"),
        ("1 qid:1 qid:2 1:2", r"a second or misplaced 'qid:2'"),
        ("\x00\x01\x7fELF", r"the label is '\\x00\\x01\\x7fELF'"),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_bad_line_is_refused_with_file_and_line(text, line, message, ending):
    path = text(f"0 qid:1 1:1{ending}{line}{ending}1 qid:1 1:3{ending}")
    with pytest.raises(FileFormatError, match=message) as caught:
        load_letor(path)
    assert caught.value.line == 2
    assert str(caught.value).startswith(f"{path}, line 2: ")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("content", ["", "\n", "\r\n\r\n", "# only\n# comments\n", "\ufeff", "  \t"])
def test_a_file_without_rows_is_refused(text, content):
    with pytest.raises(FileFormatError, match="the file holds no rows"):
        load_letor(text(content))


@pytest.mark.parametrize("cut", ["1 qid:1 1:0.5 2:", "1 qid:1 1:0.5 2", "1 qid:", "1 qid:1 1:0.5 2:3e"])
def test_a_last_line_that_was_cut_is_refused_with_a_hint(text, cut):
    with pytest.raises(FileFormatError, match=r"line 2: .* is the file cut short\?"):
        load_letor(text(f"0 qid:1 1:1\n{cut}"))


def test_a_whole_last_line_needs_no_line_end(text):
    assert load_letor(text("0 qid:1 1:1\n1 qid:1 1:2")).X.tolist() == [[1.0], [2.0]]


def test_line_ends_of_windows_and_a_byte_order_mark_change_nothing(text):
    lines = ["# header", "1 qid:a 1:2 # d1", "", "0 qid:a 2:3"]
    plain = load_letor(text("\n".join(lines)))
    windows = load_letor(text("\ufeff" + "\r\n".join(lines) + "\r\n"))
    np.testing.assert_array_equal(dense(plain.X), dense(windows.X))
    assert plain.docs.tolist() == windows.docs.tolist() == ["d1", ""]
    assert plain.qid.tolist() == windows.qid.tolist() == ["a", "a"]


@pytest.mark.parametrize(
    ("extension", "compress"), [(".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)]
)
def test_damaged_compressed_files_are_refused(text, extension, compress):
    whole = compress(b"1 qid:1 1:2\n" * 1000)
    for damaged in (whole[:-9], b"1 qid:1 1:2\n", whole[:20] + b"????" + whole[24:]):
        with pytest.raises(FileFormatError, match="the compressed data are damaged or cut short"):
            load_letor(text(damaged, name="rows" + extension))


def test_a_line_of_100_megabytes_is_read_or_refused_like_any_other(text, monkeypatch):
    path = text(b"0 7:1\n1 " + b" ".join(b"%d:1.%01000d" % (i, 0) for i in range(1, 100_001)) + b"\n")
    assert path.stat().st_size > 100_000_000
    data = load_letor(path, dense=False)
    assert data.X.shape == (2, 100_000)
    assert data.X.nnz == data.X.sum() == 100_001
    with path.open("r+b") as file:
        file.seek(-2, 2)
        file.write(b"x")
    with pytest.raises(FileFormatError, match=r"line 2: the value of feature 100000 is '1\.0{38}\.\.\.'"):
        load_letor(path)
    path.write_bytes(b"0 7:1\n" + b"z" * 100_000_000)
    with pytest.raises(FileFormatError, match=r"line 2: the label is 'z{40}\.\.\.'"):
        load_letor(path)
    monkeypatch.setattr("rankwise.data.text.MAX_LINE_BYTES", 1 << 23)
    with pytest.raises(FileFormatError, match=r"line 2: the line is longer than"):
        load_letor(path)


def test_the_first_bad_line_is_reported_whatever_the_threads(text):
    lines = [f"{i} qid:{i // 9} 1:{i} 5:0.5" for i in range(40_000)]
    lines[23_456] = "1 qid:1 1:?"
    lines[34_567] = "1 1:1"
    path = text("\n".join(lines))
    for n_threads in (1, 2, 5):
        with pytest.raises(FileFormatError, match="line 23457: the value of feature 1 is '\\?'"):
            load_letor(path, n_threads=n_threads)
    lines[12_345:] = ["1 1:1"] * len(lines[12_345:])
    with pytest.raises(FileFormatError, match="line 12346: no qid, although the rows before have one"):
        load_letor(text("\n".join(lines)))


def test_a_qid_that_comes_late_is_refused(text):
    with pytest.raises(FileFormatError, match="line 40001: a qid, although the rows before have none"):
        load_letor(text("1 1:1\n" * 40_000 + "1 qid:1 1:1\n"))


@pytest.mark.parametrize("block_bytes", [32, 100, 1 << 22])
def test_blocks_join_without_a_seam(text, monkeypatch, block_bytes):
    monkeypatch.setattr("rankwise.data.text.BLOCK_BYTES", block_bytes)
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
    path.write_text("".join(f"{number} 1:{number}\n" for number in numbers))
    data = load_letor(path)
    expected = [float(number) for number in numbers]
    assert data.y.tolist() == expected
    assert data.X.ravel().tolist() == expected
    np.testing.assert_array_equal(np.signbit(data.y), np.signbit(expected))


@settings(max_examples=200, deadline=None)
@given(
    content=st.one_of(
        st.binary(max_size=200),
        st.text(alphabet="01 qid:#.-e\n\t", max_size=200).map(str.encode),
        st.tuples(st.integers(0, 60), st.binary(min_size=1, max_size=3)).map(
            lambda change: (
                b"1 qid:7 1:0.5 3:-2e1 # d 9\n0 qid:8 2:1\n+2 qid:7 4:3 #docid = x\n"[: change[0]]
                + change[1]
                + b"1 qid:7 1:0.5 3:-2e1 # d 9\n0 qid:8 2:1\n"[change[0] // 2 :]
            )
        ),
    )
)
def test_no_bytes_can_do_worse_than_an_error_with_a_line(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "garbage"
    path.write_bytes(content)
    try:
        values, line = load_letor(path, dense=False).X.data, None
    except FileFormatError as error:
        values, line = np.empty(0), error.line
    assert np.isfinite(values).all()
    assert line is None or 1 <= line <= content.count(b"\n") + 1


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


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("1 0:5", {"zero_based": False}, "line 1: feature index 0 in a file whose indices start at 1"),
        ("1 4:5", {"n_features": 3}, "line 1: feature index 4 is too large; the largest allowed is 3"),
        ("1 3:5", {"n_features": 3, "zero_based": True}, "line 1: feature index 3 is too large"),
        ("1 0:5 3:5", {"n_features": 3}, "the features count from 0 to 3, but n_features is 3"),
        ("1 1:1e39", {"dtype": "float32"}, "'1e39'; expected a finite number that float32 can hold"),
    ],
)
def test_what_the_caller_rules_out_is_refused(text, content, options, message):
    with pytest.raises(FileFormatError, match=message):
        load_letor(text(content), **options)


@pytest.mark.parametrize(
    "options",
    [
        {"zero_based": "yes"},
        {"dense": 1},
        {"dtype": "int8"},
        {"dtype": "?"},
        {"n_features": 0},
        {"n_threads": 0},
    ],
)
def test_bad_parameters_are_named(text, options):
    with pytest.raises(ParameterError, match=f"'{next(iter(options))}' parameter must be"):
        load_letor(text("1 1:1"), **options)


def test_indices_are_64_bit_only_where_they_must_be(text):
    assert load_letor(text("1 1:1 2147483647:2")).X.indices.dtype == np.int32
    wide = load_letor(text("1 1:1\n2 2147483648:2\n3 9223372036854775806:3\n"))
    assert wide.X.indices.dtype == wide.X.indptr.dtype == np.int64
    assert wide.X.indices.tolist() == [0, 2147483647, 9223372036854775805]


def test_x_is_dense_if_half_of_it_is_there(text):
    assert isinstance(load_letor(text("1 1:1\n0 2:1")).X, np.ndarray)
    assert sparse.issparse(load_letor(text("1 1:1\n0 2:1\n1")).X)
    assert sparse.issparse(load_letor(text("1 1:1\n0 1:1"), dense=False).X)
    single = load_letor(text("1 1:0.1\n0 1:1"), dtype="float32")
    assert single.X.dtype == np.float32
    assert single.X[0, 0] == np.float32(0.1)


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
    monkeypatch.setattr("rankwise.data.text.BLOCK_BYTES", 64)
    path = text(gzip.compress(b"1 qid:1 1:1\n" * 100), name="rows.gz")
    calls = []
    load_letor(path, progress=lambda done, total: calls.append((done, total)))
    assert len(calls) > 1
    assert calls[-1] == (path.stat().st_size, path.stat().st_size)
