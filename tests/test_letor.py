"""Reading LETOR/SVMlight text: what is read, and in which words bad text is refused."""

import bz2
import gzip
import lzma

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from rankwise import load_letor
from rankwise.errors import FileFormatError


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
