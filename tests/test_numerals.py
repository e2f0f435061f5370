"""Numbers in text are written in ASCII digits, whoever reads them; what is given twice is refused."""

import json
import os

import numpy as np
import pandas
import pytest

import rankwise
from rankwise import (
    RankingData,
    RankRLS,
    load_feature_log,
    load_judgments,
    load_letor,
    load_pairs,
    load_table,
)
from rankwise.cli.data_files import ReadOptions, read_data
from rankwise.cli.learners import LEARNERS, make_learner, parse_by_feature, parse_numbers
from rankwise.cli.reading import read_scores
from rankwise.errors import RankwiseError
from rankwise.export.svmrank import load_svmrank, save_svmrank
from rankwise.foreign_json import read_json_object
from rankwise.numerals import is_number, is_whole, read_float, read_whole
from rankwise.readers.letor_folds import find_folds

ELSEWHERE = {"underscore": "1_0", "arabic": "\u0661\u0660", "fullwidth": "\uff11\uff10"}

DATA = RankingData.from_arrays([[1.0], [2.0]], [1, 0], ["q", "q"], docs=["a", "b"])


def read_column(path, number):
    model = RankRLS(columns={"price": "number"}).fit(pandas.DataFrame({"price": [1.0, 2.0]}), [1, 0])
    return model.predict(pandas.DataFrame({"price": [number, "2"]}))


def read_svmrank(path, number):
    save_svmrank(np.array([10.0]), path, n_rows=0)
    written = path.read_text(encoding="utf-8")
    assert "1:10" in written
    path.write_text(written.replace("1:10.0", f"1:{number}"), encoding="utf-8")
    return load_svmrank(path)


def read_group_sizes(path, number):
    (path.parent / "rows.txt").write_text("1 1:1\n0 1:2\n" * 5, encoding="utf-8")
    (path.parent / "rows.txt.query").write_text(f"{number}\n", encoding="utf-8")
    return read_data(path.parent / "rows.txt", ReadOptions())


def find_fold(path, number):
    # Whatever the locale, the name on the disk is in UTF-8.
    (path.parent / os.fsdecode(f"Fold{number}".encode())).mkdir()
    return find_folds(path.parent)


def of_file(read, text):
    """A reader of a file with this text, in which X stands for the number."""

    def reader(path, number):
        path.write_text(text.replace("X", number), encoding="utf-8")
        return read(path)

    return reader


LOG = {"qid": "q", "_id": "a", "fields": {"_ltrlog": [{"log": [{"name": "f", "value": "X"}]}]}}
READERS = {
    "label of text": of_file(load_letor, "X qid:1 1:1\n0 qid:1 1:2\n"),
    "value of text": of_file(load_letor, "1 qid:1 1:X\n0 qid:1 1:2\n"),
    "index of text": of_file(load_letor, "1 qid:1 X:1\n0 qid:1 1:2\n"),
    "row of a pair": of_file(load_pairs, "X 1\n"),
    "weight of a pair": of_file(load_pairs, "0 1 X\n"),
    "label of a judgment": of_file(lambda path: load_judgments(path, DATA), "qid,doc,label\nq,a,X\n"),
    "weight of a judgment": of_file(
        lambda path: load_judgments(path, DATA), "qid,doc,label,weight\nq,a,1,X\n"
    ),
    "score of a run": of_file(rankwise.trec.load_run, "q Q0 a 1 X tag\n"),
    "relevance": of_file(rankwise.trec.load_qrels, "q 0 a X\n"),
    "Elasticsearch": of_file(lambda path: load_feature_log(path, {"q": {"a": 1}}), json.dumps(LOG)),
    "Solr": of_file(
        lambda path: load_feature_log(path, {"q": {"a": 1}}),
        json.dumps({"qid": "q", "id": "a", "[features]": "f=X"}),
    ),
    "table": of_file(lambda path: load_table(path, label="y", qid=None), "y,a\n1,X\n0,2\n"),
    "column of text": read_column,
    "scores": of_file(lambda path: read_scores(path, 1), "X\n"),
    "SVMrank": read_svmrank,
    "group sizes": read_group_sizes,
    "fold": find_fold,
    "alphas": lambda path, number: parse_numbers(number),
    "power": lambda path, number: parse_numbers(f"2^{number}"),
    "numbers by feature": lambda path, number: parse_by_feature("--feature-costs", f"price={number}"),
}


@pytest.mark.parametrize("number", ELSEWHERE.values(), ids=ELSEWHERE)
@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.filterwarnings("ignore:.*one ranking")
def test_every_reader_refuses_numbers_that_only_python_reads(reader, number, tmp_path):
    path = tmp_path / ("file.csv" if reader is READERS["table"] else "file")
    with pytest.raises(RankwiseError):
        reader(path, number)


@pytest.mark.parametrize("reader", [READERS[name] for name in READERS if name != "fold"])
@pytest.mark.filterwarnings("ignore")
def test_every_reader_takes_the_same_number_in_ascii(reader, tmp_path):
    reader(tmp_path / ("file.csv" if reader is READERS["table"] else "file"), "10")


def test_numerals_are_those_of_other_programs():
    assert (read_float(" -1.5e3 "), read_float(b"2"), read_whole("-7")) == (-1500.0, 2.0, -7)
    assert [is_number(text) for text in ("inf", "0x10", "")] == [True, False, False]
    assert [is_whole(text) for text in ("07", "-7", "\u00b2")] == [True, False, False]


TWICE = {
    "settings": lambda path, _: make_learner(LEARNERS, "rankrls", {}, ["ties=keep", "ties=drop"]),
    "numbers by feature": lambda path, _: parse_by_feature("--monotonic-cst", "price=1,price=-1"),
    "a file": of_file(lambda path: read_json_object(path, "numbers"), '{"price": 1, "price": -1}'),
    "a clause": of_file(lambda path: read_json_object(path, "clauses"), '{"a": {"price": 1, "price": 2}}'),
}


@pytest.mark.parametrize("read", TWICE.values(), ids=TWICE)
def test_what_settings_give_twice_is_refused(read, tmp_path):
    with pytest.raises(RankwiseError, match=r"'(price|ties)' is given twice"):
        read(tmp_path / "file", "")
