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
        ("", r"line 1: expected a header with the columns qid, doc, label; got nothing\."),
        ("qid,doc,grade\na,d2,1\n", r"line 1: expected a header with the columns .*; got qid, doc, grade\."),
        ("a,d2,1\n", r"line 1: expected a header with the columns qid, doc, label; got a, d2, 1\."),
        ("qid,doc,lable\n", r"columns qid, doc, label; did you mean 'lable'"),
        ("qid,doc,label,doc\na,d2,1,d2\n", "line 1: the header has two columns 'doc'"),
        ("qid,doc,label\n", "the file contains no judgments"),
        ("qid,doc,label\nb,d9,1\n", "None of the 1 judgments names .*the first: query 'b', document 'd9'"),
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


def test_columns_are_called_as_the_user_says_or_as_rankwise_writes_them_and_others_are_not_used(tmp_path):
    path = tmp_path / "judgments.csv"
    names = {"qid": "Query", "doc": "product", "label": "grade"}
    path.write_text("grade,qid,product,query,date\n2,q1,d2,b,today\n1,q2, d3,a,today\n", encoding="utf-8")
    assert load_judgments(path, DATA, **names).y.tolist() == [2, 1]
    path.write_text("qid,doc,label\nb,d2,2\na, d3,1\n", encoding="utf-8")
    assert load_judgments(path, DATA, **names).y.tolist() == [2, 1]
    with pytest.raises(FileFormatError, match="columns qid, doc, label"):
        path.write_text("query,doc,label\nb,d2,2\n", encoding="utf-8")
        load_judgments(path, DATA, doc="doc")
    path.write_text("qid,doc,label,weights\nb,d2,2,7\n", encoding="utf-8")
    with pytest.warns(UserWarning, match="'weights' of the judgments is not used; .* from 'weight'"):
        assert load_judgments(path, DATA).sample_weight is None


def test_documents_that_the_data_lacks_are_counted_and_left_out(tmp_path):
    path = tmp_path / "judgments.csv"
    path.write_text("qid,doc,label\nb,d9,1\nb,d2,2\nc,d2,0\na, d3,1\n", encoding="utf-8")
    with pytest.warns(UserWarning, match=r"2 of 4 judgments name .*query 'b', document 'd9'") as warned:
        found = load_judgments(path, DATA)
    assert len(warned) == 1
    assert found.y.tolist() == [2, 1]


def test_a_document_that_is_judged_several_times_has_the_mean_of_its_labels_and_weights(tmp_path):
    path = tmp_path / "judgments.csv"
    path.write_text("qid,doc,label,weight\nb,d2,1,1\nb,d2,2,3\na, d3,1,1\na, d3,1,1\n", encoding="utf-8")
    with pytest.warns(
        UserWarning, match="2 of 2 documents are judged several times, 1 of them with different"
    ):
        found = load_judgments(path, DATA)
    assert found.y.tolist() == [1.5, 1]
    assert found.sample_weight.tolist() == [2, 1]
    path.write_text("qid,doc,label\nb,d2,1\nb,d2,1\n", encoding="utf-8")
    assert load_judgments(path, DATA).y.tolist() == [1]  # the same judgment twice needs no word


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
