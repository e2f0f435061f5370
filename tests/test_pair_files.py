"""Files of explicit preferences."""

import gzip

import numpy as np
import pytest

from rankwise import DataError, ParameterError, RankingData, load_pairs, save_pairs
from rankwise.errors import FileFormatError
from rankwise.preferences.pairs import PreferencePairs

PAIRS = np.array([[3, 0], [12, 7], [0, 3]])


@pytest.mark.parametrize("name", ["p.tsv", "p.pairs.gz", "p.bz2", "p.xz"])
@pytest.mark.parametrize("weight", [None, [0.1, 2.0, 1e-300]])
def test_what_is_saved_is_loaded_to_the_bit(tmp_path, name, weight):
    save_pairs(PAIRS, tmp_path / name, weight)
    pairs, loaded = load_pairs(tmp_path / name, n_rows=13)
    np.testing.assert_array_equal(pairs, PAIRS)
    assert pairs.dtype == np.int64
    assert loaded is None if weight is None else loaded.tolist() == weight


@pytest.mark.parametrize("name", ["P.PAIRS.GZ", "p.Gz"])
def test_extensions_may_be_written_in_capitals(tmp_path, name):
    (tmp_path / name).write_bytes(gzip.compress(b"3 0\n12 7\n"))
    assert load_pairs(tmp_path / name).pairs.tolist() == [[3, 0], [12, 7]]
    save_pairs(PAIRS, tmp_path / name)
    assert gzip.decompress((tmp_path / name).read_bytes()) == b"3\t0\n12\t7\n0\t3\n"


@pytest.mark.parametrize("content", [b"3\t0\t0.5\n12\t7\t1.0\n", b"3\t0\n12\t7\n"])
def test_loaded_pairs_are_saved_again_with_their_weights(tmp_path, content):
    (tmp_path / "p").write_bytes(content)
    save_pairs(load_pairs(tmp_path / "p"), tmp_path / "q")
    assert (tmp_path / "q").read_bytes() == content


def test_the_format_is_catboost_s(tmp_path):
    save_pairs(PAIRS[:2], tmp_path / "p", [0.5, 1])
    assert (tmp_path / "p").read_bytes() == b"3\t0\t0.5\n12\t7\t1.0\n"


def test_blanks_crlf_and_empty_lines_are_fine(tmp_path):
    (tmp_path / "p").write_bytes(b"94 2\r\n\r\n  5\t 6  \n\n7 8")
    assert load_pairs(tmp_path / "p").pairs.tolist() == [[94, 2], [5, 6], [7, 8]]


@pytest.mark.parametrize(
    "header", ["", "\ufeff", "preferred,other,weight\n", '\ufeffPreferred,"Other",Weight\r\n']
)
def test_commas_and_a_header_are_fine(tmp_path, header):
    (tmp_path / "p.csv").write_text(f"{header}94,2,0.5\r\n5, 6 ,1\n", encoding="utf-8")
    pairs, weight = load_pairs(tmp_path / "p.csv")
    assert (pairs.tolist(), weight.tolist()) == ([[94, 2], [5, 6]], [0.5, 1.0])


def test_a_header_may_name_the_columns_in_any_order(tmp_path):
    (tmp_path / "p").write_text("weight other preferred\n0.5 2 94\n1 6 5\n", encoding="utf-8")
    pairs, weight = load_pairs(tmp_path / "p")
    assert (pairs.tolist(), weight.tolist()) == ([[94, 2], [5, 6]], [0.5, 1.0])


SHOES = RankingData.from_arrays(
    [[1.0], [2.0], [3.0], [4.0]], [0, 0, 0, 0], qid=["red", "red", 7, 7], docs=["a, b", "c", "c", "d"]
)


@pytest.mark.parametrize(
    "content, weight",
    [
        ('qid,preferred,other\nred,c,"a, b"\n7,c,d\n', None),
        ("other\tpreferred\tweight\tqid\na, b\tc\t2\tred\nd\tc\t1\t7\n", [2.0, 1.0]),
    ],
)
def test_documents_are_found_by_their_names(tmp_path, content, weight):
    (tmp_path / "p").write_text(content, encoding="utf-8")
    pairs, loaded = load_pairs(tmp_path / "p", data=SHOES)
    assert pairs.tolist() == [[1, 0], [2, 3]]
    assert loaded is None if weight is None else loaded.tolist() == weight


@pytest.mark.parametrize(
    "content, line, message",
    [
        ("qid,preferred,other\nred,c,e\n", 2, "the query 'red' of the data has no document 'e'"),
        ("qid,preferred,other\nblue,c,e\n", 2, "the query 'blue' of the data has no document 'c'"),
        ("qid,preferred,other\nred,c\n", 2, "expected 3 fields, 'qid preferred other'; found 2"),
        (
            "qid,preferred,other,weight\n7,c,d,-1\n",
            2,
            "the field 'weight' must be a finite number of at least 0",
        ),
        ('qid,preferred,other\nred,"c"\rd,e\n', 2, "the line cannot be parsed: new-line character"),
        ("0,9\n", 1, "row 9 does not exist; the 4 rows are numbered from 0"),
    ],
)
def test_names_that_do_not_fit_the_data_are_named(tmp_path, content, line, message):
    (tmp_path / "p").write_text(content, encoding="utf-8")
    with pytest.raises(FileFormatError, match=message) as caught:
        load_pairs(tmp_path / "p", data=SHOES)
    assert caught.value.line == line


def test_names_need_data_that_has_them_once(tmp_path):
    (tmp_path / "p").write_text("qid,preferred,other\n1,c,d\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match="requires data with those documents"):
        load_pairs(tmp_path / "p")
    X, y = [[1.0], [2.0], [3.0]], [0, 0, 0]
    with pytest.raises(FileFormatError, match="the data has no document labels"):
        load_pairs(tmp_path / "p", data=RankingData.from_arrays(X, y, qid=[1, 1, 1]))
    with pytest.raises(FileFormatError, match="contains the document 'c' 2 times"):
        load_pairs(tmp_path / "p", data=RankingData.from_arrays(X, y, qid=[1, 1, 1], docs=["c", "c", "d"]))


@pytest.mark.parametrize(
    "content, line, message",
    [
        (b"", None, "the file contains no preferences"),
        (b"\n\n", None, "the file contains no preferences"),
        (b"1 2\n3\n", 2, "expected 2 fields, 'preferred other'; found 1"),
        (b"1 2\n3 4 5 6\n", 2, "expected"),
        (b"1 2\n-3 4\n", 2, "the field 'preferred' must be a whole number of at least 0; got '-3'"),
        (b"1 2\n3 4.0\n", 2, "the field 'other' must be a whole number of at least 0; got '4.0'"),
        (b"1 2\n3 x\n", 2, "got 'x'"),
        (b"1 99999999999999999999\n", 1, "must be a whole number"),
        ("1 ２\n".encode(), 1, "must be a whole number"),
        (b"\x00\x01\xff\xfe", 1, "expected"),
        (b"1" * 1_000_000, 1, "expected 2 fields"),
        (b"1" * 10_000_000, 1, "the line is longer than 1,048,576 bytes"),
        (b"4 4\n", None, "the file contains no preferences"),
        (b"1 2\n3 4 2.0\n", 2, "expected 2 fields, 'preferred other'; found 3"),
        (b"1 2 1.0\n3 4\n", 2, "expected 3 fields, 'preferred other weight'; found 2"),
        (b"1 2 nan\n", 1, "the field 'weight' must be a finite number of at least 0; got 'nan'"),
        (b"1 2 inf\n", 1, "got 'inf'"),
        (b"1 2 -1\n", 1, "got '-1'"),
        (b"1 2 heavy\n", 1, "got 'heavy'"),
        (b"1 2\n\n10 4\n", 3, "row 10 does not exist; the 10 rows are numbered from 0"),
    ],
)
def test_bad_lines_are_named(tmp_path, content, line, message):
    path = tmp_path / "clicks.pairs"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=message) as caught:
        load_pairs(path, n_rows=10)
    assert caught.value.line == line
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_broken_compression_is_named(tmp_path, suffix):
    path = tmp_path / f"p{suffix}"
    path.write_bytes(b"1 2\n")
    with pytest.raises(FileFormatError, match=r"p\.(gz|bz2|xz)"):
        load_pairs(path)
    save_pairs(np.column_stack([np.arange(5000), np.arange(1, 5001)]), path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(FileFormatError, match="the compressed data is corrupt or truncated"):
        load_pairs(path)


@pytest.mark.parametrize(
    "pairs, weight, message",
    [
        ([[1, 2, 3]], None, r"^pairs must have shape \(n_pairs, 2\) .*; got shape \(1, 3\)\.$"),
        (np.zeros((0, 2), dtype=int), None, "with at least one pair"),
        ([[1.0, 2.0]], None, "^pairs must hold integer row numbers; got values of type float64"),
        ([[1, 2], [3, 3]], None, r"^pairs\[1\] compares row 3 with itself\.$"),
        ([[1, 2], [-1, 3]], None, r"^pairs\[1\] is \(-1, 3\), but row numbers start at 0\.$"),
        ([[1, 2]], [1.0, 2.0], r"^weight must have shape \(1,\), one value per pair; got \(2,\)\.$"),
        ([[1, 2], [2, 3]], [1.0, np.nan], "^weight must be finite and non-negative; pair 1 has nan"),
        (PreferencePairs(PAIRS, np.ones(3)), [1.0, 1.0, 2.0], "^weight is given twice"),
    ],
)
def test_what_no_one_could_load_is_not_saved(tmp_path, pairs, weight, message):
    with pytest.raises(DataError, match=message):
        save_pairs(pairs, tmp_path / "p", weight)
    assert not list(tmp_path.iterdir())


def test_pairs_and_path_given_the_wrong_way_round_are_named(tmp_path):
    for path, got in ((tmp_path / "p", type(tmp_path).__name__), (str(tmp_path / "p"), "str")):
        message = rf"^save_pairs takes the pairs first and the path second; got {got} and ndarray\.$"
        with pytest.raises(ParameterError, match=message):
            save_pairs(path, PAIRS)
    assert not list(tmp_path.iterdir())


def test_rows_compared_with_themselves_are_left_out_with_a_warning(tmp_path):
    (tmp_path / "p").write_bytes(b"1 2 0.5\n4 4 0.6\n3 1 0.7\n5 5 0.8\n")
    with pytest.warns(
        UserWarning, match=r"2 of 4 preferences compare a row with itself \(the first is row 4\)"
    ):
        pairs, weight = load_pairs(tmp_path / "p")
    assert pairs.tolist() == [[1, 2], [3, 1]]
    assert weight.tolist() == [0.5, 0.7]


def test_the_parse_preferences_load(shared_data):
    with pytest.warns(UserWarning, match="16 of 1000 preferences compare a row with itself"):
        pairs, weight = load_pairs(shared_data / "parses" / "rank_train.preferences", n_rows=100)
    assert pairs.shape == (984, 2)
    assert pairs[0].tolist() == [94, 2]
    assert weight is None


@pytest.mark.parametrize("weight", [None, [0.1, 2.5]])
def test_pairs_saved_with_data_name_its_documents_and_survive_another_order_of_rows(tmp_path, weight):
    docs, qid = np.array(["d, 1", " d2", "d1", "d 3"]), np.array(["a", "a", "b", "b"])
    data = RankingData.from_arrays(np.eye(4), np.zeros(4), qid, docs)
    save_pairs([[0, 1], [3, 2]], tmp_path / "pairs.csv", weight, data=data)
    found = load_pairs(tmp_path / "pairs.csv", data=data.select([3, 1, 0, 2]))
    assert found.pairs.tolist() == [[2, 1], [0, 3]]
    assert weight is None or found.weight.tolist() == weight
    with pytest.raises(DataError, match="Pair 1 compares rows 1 and 2 of two queries"):
        save_pairs([[0, 1], [1, 2]], tmp_path / "pairs.csv", data=data)
    with pytest.raises(DataError, match="the data has no document labels"):
        save_pairs([[0, 1]], tmp_path / "pairs.csv", data=RankingData.from_arrays(data.X, data.y, qid))
