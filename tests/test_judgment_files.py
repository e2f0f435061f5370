"""Files of judgments, joined to rows by query and document."""

import numpy as np
import pytest

from rankwise import DataError, RankingData, load_judgments, save_judgments
from rankwise.errors import FileFormatError

DATA = RankingData.from_arrays(
    np.arange(8.0).reshape(4, 2), [9, 9, 9, 9], qid=["a", "b", "a", "b"], docs=["d, 1", "d2", " d3", "d2 "]
)


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("weight", [None, [1e-7, 2.5, 0.1, 1 / 3]])
def test_what_is_saved_is_loaded_to_the_last_bit(tmp_path, ending, weight):
    y = [0.1, -2, 1 / 3, 1e300]
    labels = RankingData.from_arrays(DATA.X, y, DATA.qid, DATA.docs, sample_weight=weight)
    path = tmp_path / f"judgments{ending}"
    save_judgments(labels, path)
    found = load_judgments(path, DATA)
    np.testing.assert_array_equal(found.y, labels.y)
    np.testing.assert_array_equal(found.X, DATA.X)
    assert (found.sample_weight is None) == (weight is None)
    assert weight is None or found.sample_weight.tolist() == weight


def test_rows_that_are_not_judged_are_left_out_and_the_others_keep_the_order_of_the_data(tmp_path):
    path = tmp_path / "judgments.tsv"
    path.write_text("label\tdoc\tqid\n2\td2 \tb\n\n1\t d3\ta\n", encoding="utf-8")
    found = load_judgments(path, DATA)
    assert found.docs.tolist() == [" d3", "d2 "]
    assert found.y.tolist() == [1, 2]
    assert found.n_queries == 2
    assert found.sample_weight is None


@pytest.mark.parametrize(
    "text, message",
    [
        ("", r"line 1: expected the header qid,doc,label\[,weight\]"),
        ("qid,doc,grade\na,d2,1\n", r"line 1: expected the header qid,doc,label\[,weight\]"),
        ("qid,doc,label\n", "the file contains no judgments"),
        ("qid,doc,label\nb,d9,1\n", "line 2: the query 'b' of the data has no document 'd9'"),
        ("qid,doc,label\nb,d2,1\n\nb,d2,0\n", "line 4: the document 'd2' of the query 'b' is judged twice"),
        ("qid,doc,label\nb,d2,good\n", "line 2: the field 'label' must be a finite number; got 'good'"),
        ("qid,doc,label\nb,d2,inf\n", "line 2: the field 'label' must be a finite number; got 'inf'"),
        (
            "qid,doc,label,weight\nb,d2,1,-2\n",
            "line 2: the field 'weight' must be a finite number of at lea",
        ),
        ("qid,doc,label,weight\nb,d2,1\n", "line 2: expected 4 fields, 'qid doc label weight'; found 3"),
    ],
)
def test_a_bad_file_is_one_sentence_that_names_the_line(tmp_path, text, message):
    path = tmp_path / "judgments.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match=message):
        load_judgments(path, DATA)


def test_rows_without_names_can_be_neither_written_nor_found(tmp_path):
    unnamed = RankingData.from_arrays(DATA.X, DATA.y, DATA.qid)
    with pytest.raises(DataError, match="the data has no document labels"):
        save_judgments(unnamed, tmp_path / "judgments.csv")
    (tmp_path / "judgments.csv").write_text("qid,doc,label\nb,d2,1\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"judgments.csv: .* the data has no document labels"):
        load_judgments(tmp_path / "judgments.csv", unnamed)


def test_a_label_with_a_line_break_is_not_written(tmp_path):
    broken = RankingData.from_arrays(DATA.X, DATA.y, DATA.qid, ["d1", "d\n2", "d3", "d4"])
    with pytest.raises(DataError, match=r"The label 'd\\n2' contains a line break, so a line cannot hold it"):
        save_judgments(broken, tmp_path / "judgments.csv")
    assert not (tmp_path / "judgments.csv").exists()
