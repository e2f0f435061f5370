"""What save_letor writes, load_letor reads back."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

from rankwise import RankingData, load_letor, save_letor
from rankwise.errors import DataError

finite = {
    "float64": st.floats(allow_nan=False, allow_infinity=False),
    "float32": st.floats(allow_nan=False, allow_infinity=False, width=32),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.filterwarnings("ignore:.*every row has")
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_every_number_reads_back_as_itself(tmp_path_factory, dtype, is_sparse, data):
    shape = data.draw(st.tuples(st.integers(1, 5), st.integers(1, 4)))
    X = data.draw(arrays.arrays(dtype, shape, elements=finite[dtype]))
    y = data.draw(arrays.arrays(np.float64, shape[0], elements=finite["float64"]))
    qid = data.draw(st.none() | st.lists(st.integers(-(2**63), 2**63 - 1), min_size=len(y), max_size=len(y)))
    docs = data.draw(st.none() | st.lists(st.sampled_from(["", "d1", "é"]), min_size=len(y), max_size=len(y)))
    zero_based = data.draw(st.booleans())
    original = RankingData.from_arrays(sparse.csr_matrix(X) if is_sparse else X, y, qid, docs)
    path = tmp_path_factory.getbasetemp() / "saved"
    save_letor(original, path, zero_based=zero_based)
    read = load_letor(path, dtype=dtype, zero_based=zero_based, n_features=shape[1], dense=True)
    np.testing.assert_array_equal(read.X, X)
    np.testing.assert_array_equal(read.y, y)
    assert qid is None or read.qid.tolist() == qid
    assert not docs or not any(docs) or read.docs.tolist() == docs


def test_the_text_is_the_usual_one(tmp_path):
    data = RankingData.from_arrays([[0.5, 0], [1e-9, 3]], [2, -0.5], ["a", "b"], ["d1", ""])
    save_letor(data, tmp_path / "rows")
    assert (tmp_path / "rows").read_text(
        encoding="utf-8"
    ) == "2 qid:a 1:0.5 2:0 #docid = d1\n-0.5 qid:b 1:1e-09 2:3\n"


@pytest.mark.parametrize("extension", [".gz", ".xz", ".bz2"])
def test_files_are_compressed_by_extension(tmp_path, extension):
    path = tmp_path / f"rows{extension}"
    save_letor(RankingData.from_arrays([[0.5]] * 1000, range(1000)), path)
    assert path.stat().st_size < 5000
    assert load_letor(path).y.tolist() == list(range(1000))


def test_comments_are_kept(tmp_path):
    text = "1 qid:1 1:1 # docid = GX008-86 inc = 1\n0 qid:1 1:2\n3 qid:1 1:3 # 7555 rambo\n"
    (tmp_path / "rows").write_text(text, encoding="utf-8")
    save_letor(load_letor(tmp_path / "rows"), tmp_path / "again")
    assert (tmp_path / "again").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"qid": np.array(["a", "b c"])}, "qid is 'b c' in row 1; LETOR text requires a word"),
        ({"qid": np.array(["a", "b" * 1001])}, "qid has a label of 1,001 bytes in row 1; LETOR text allows"),
        ({"qid": np.array(["", "b"])}, "qid is '' in row 0"),
        ({"docs": np.array(["a#", "b"])}, "docs is 'a#' in row 0"),
        ({"comments": np.array(["a", "b\nc"])}, "The comment of row 1 has a line break"),
        ({"y": np.array([1, np.nan])}, "y is nan in row 1"),
        ({"X": np.array([[1, 2], [3, np.inf]])}, "X has a non-finite value in row 1"),
        ({"X": sparse.csr_matrix([[1, 2], [3, np.nan]])}, "X has a non-finite value in row 1"),
    ],
)
def test_what_the_format_cannot_hold_is_refused_and_the_old_file_stays(tmp_path, change, message):
    good = RankingData.from_arrays(np.eye(2), [0, 1], ["a", "b"])
    (tmp_path / "rows").write_text("old", encoding="utf-8")
    with pytest.raises(DataError, match=message):
        save_letor(dataclasses.replace(good, **change), tmp_path / "rows")
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [("rows", "old")]


def test_words_are_those_of_the_reader(tmp_path):
    words = ["a\x1eb", "c\u00a0d", "e\u2028", "f\x85", "g" * 1000]
    save_letor(RankingData.from_arrays(np.eye(5), np.arange(5), words, docs=words), tmp_path / "rows")
    read = load_letor(tmp_path / "rows")
    assert read.qid.tolist() == words
    assert read.docs.tolist() == words


def test_rows_larger_than_a_block_are_written(tmp_path, monkeypatch):
    monkeypatch.setattr("rankwise.readers.letor_writer._ENTRIES_PER_BLOCK", 3)
    rng = np.random.default_rng(0)
    for X in (rng.normal(size=(7, 5)), sparse.random(40, 30, density=0.1, random_state=1, format="csr")):
        save_letor(RankingData.from_arrays(X, np.arange(X.shape[0])), tmp_path / "rows")
        read = load_letor(tmp_path / "rows", n_features=X.shape[1], dense=not sparse.issparse(X))
        assert abs(read.X - X).sum() == 0
