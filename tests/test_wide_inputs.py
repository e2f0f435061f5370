"""Inputs with very many columns: memory and work grow with the input, not with its square."""

import json
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from rankwise import load_feature_log
from rankwise.errors import FileFormatError
from rankwise.readers.arrow_tables import without_empty_text
from rankwise.readers.logged_documents import ResponseReader
from rankwise.rows.frames import check_present, split_columns


class Counted(str):
    """Text that counts how often it is compared; finding it in a set takes about one comparison."""

    n_compared = 0

    def __eq__(self, other):
        Counted.n_compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


@pytest.fixture
def counted(monkeypatch):
    monkeypatch.setattr(Counted, "n_compared", 0)
    return lambda n: [Counted(f"name {k}") for k in range(n)]


def log_of(path, n_documents):
    """A log in which every document has a feature of its own."""
    docs = [{"id": str(k), "[features]": f"own{k}={k + 1},common=2"} for k in range(n_documents)]
    path.write_text(json.dumps({"qid": "q", "response": {"docs": docs}}), encoding="utf-8")
    return path, {"q": {str(k): k % 3 for k in range(n_documents)}}


def test_a_feature_log_takes_memory_in_proportion_to_its_size(tmp_path):
    def peak(n_documents):
        arguments = log_of(tmp_path / "log.json", n_documents)
        tracemalloc.start()
        try:
            load_feature_log(*arguments)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    load_feature_log(*log_of(tmp_path / "log.json", 3))  # imports
    assert peak(1600) < 6 * peak(400)


def test_features_that_most_documents_lack_make_a_sparse_matrix(tmp_path):
    data = load_feature_log(*log_of(tmp_path / "log.json", 8))
    assert sparse.issparse(data.X)
    expected = np.zeros((8, 9))
    expected[0, 0], expected[1:, 2:] = 1.0, np.diag(np.arange(2.0, 9.0))
    expected[:, 1] = 2.0
    assert data.feature_names == ("own0", "common", *(f"own{k}" for k in range(1, 8)))
    np.testing.assert_array_equal(data.X.toarray(), expected)


def test_a_feature_logged_twice_is_found_in_one_pass(tmp_path, counted):
    names = counted(2000)
    entries = [{"name": name, "value": 1.0} for name in (*names, Counted("name 1999"))]
    hit = {"_id": "7", "qid": "q", "fields": {"_ltrlog": [{"log": entries}]}}
    with pytest.raises(FileFormatError, match="the feature 'name 1999' more than once"):
        list(ResponseReader(tmp_path, 1, "qid", None).documents(hit))
    assert Counted.n_compared < 20 * len(names)


def test_columns_are_looked_up_and_not_searched_for(counted):
    names, wanted = counted(2000), [f"name {k}" for k in range(2000)]
    check_present(names, wanted)
    assert Counted.n_compared < 20 * len(names)


def test_columns_to_leave_out_are_looked_up_and_not_searched_for(counted):
    table = pa.table({f"name {k}": [1.0, 2.0] for k in range(1000)})
    exclude = counted(999)
    columns = split_columns(table, label=None, qid=None, features=None, doc=None, exclude=exclude)
    assert columns["feature_names"] == ("name 999",)
    assert Counted.n_compared < 20 * len(exclude)


def test_a_table_is_not_copied_for_every_column_with_empty_text():
    class Watched:
        """A table that notices when a column is set, which copies the list of all columns."""

        def __init__(self, table):
            self.table, self.n_set = table, 0

        def __getattr__(self, name):
            self.n_set += name == "set_column"
            return getattr(self.table, name)

    watched = Watched(pa.table({f"name {k}": ["", "text"] if k % 2 else [1, 2] for k in range(6)}))
    found = without_empty_text(watched)
    assert found.to_pydict() == {f"name {k}": [None, "text"] if k % 2 else [1, 2] for k in range(6)}
    assert watched.n_set == 0
