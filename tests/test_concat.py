"""Joining data sets: what must agree, what is kept, and queries that two of them share."""

import numpy as np
import pytest
from scipy import sparse

import rankwise
from rankwise import RankingData
from rankwise.errors import DataError, ParameterError

DATA = rankwise.make_search_data(12, random_state=3)
NAMES = ["a", "b"]


def part(qid, *, X=None, names=NAMES, **options):
    X = np.arange(2.0 * len(qid)).reshape(-1, 2) if X is None else X
    return RankingData.from_arrays(X, np.arange(float(np.shape(X)[0])), qid, feature_names=names, **options)


def assert_same_data(found, expected):
    for name in ("y", "qid", "docs"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    X = [data.X.toarray() if sparse.issparse(data.X) else data.X for data in (found, expected)]
    np.testing.assert_array_equal(*X)
    assert X[0].dtype == X[1].dtype
    np.testing.assert_array_equal(found.queries.labels, expected.queries.labels)
    np.testing.assert_array_equal(found.queries.query_of_row(), expected.queries.query_of_row())
    assert found.feature_names == expected.feature_names


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, lambda X: X.astype(np.float32)])
def test_parts_of_data_make_the_data_again(kind):
    data = RankingData.from_arrays(kind(DATA.X), DATA.y, DATA.qid, DATA.docs, DATA.feature_names)
    labels = data.queries.labels.tolist()
    parts = [data.select(queries=labels[start : start + 4]) for start in (0, 4, 8)]
    assert_same_data(RankingData.concat(parts), data)
    assert sparse.issparse(RankingData.concat(parts).X) == sparse.issparse(data.X)
    assert_same_data(RankingData.concat(iter([data])), data)


def test_a_shared_query_is_refused_or_merged():
    parts = [part(["x", "y"]), part(["y", "z"])]
    with pytest.raises(DataError, match="The query 'y' is both in part 0 and in part 1; if it is the same"):
        RankingData.concat(parts)
    merged = RankingData.concat(parts, merge_queries=True)
    assert merged.n_queries == 3
    assert merged.select(queries=["y"]).n_rows == 2


def test_numbers_and_words_that_read_alike_are_the_same_query():
    with pytest.raises(DataError, match="The query '7' is both in"):
        RankingData.concat([part([7, 8]), part(["7", "x"])])
    joined = RankingData.concat([part([7, 8]), part(["9", "x"])])
    assert joined.qid.tolist() == ["7", "8", "9", "x"]
    assert RankingData.concat([part([7]), part([8])]).qid.dtype == np.int64


def test_names_of_documents_are_empty_where_a_part_has_none():
    joined = RankingData.concat([part([1, 1], docs=["d", "e"]), part([2])])
    assert joined.docs.tolist() == ["d", "e", ""]
    assert RankingData.concat([part([1]), part([2])]).docs is None
    assert RankingData.concat([part([1], docs=[7]), part([2], docs=[8])]).docs.tolist() == [7, 8]


def test_nearly_full_and_sparse_parts_make_one_matrix():
    full, empty = np.ones((3, 2)), sparse.csr_matrix((40, 2))
    assert sparse.issparse(RankingData.concat([part([1] * 3, X=full), part([2] * 40, X=empty)]).X)
    few = sparse.csr_matrix((1, 2))
    assert isinstance(RankingData.concat([part([1] * 3, X=full), part([2], X=few)]).X, np.ndarray)


def test_one_global_ranking_stays_one():
    joined = RankingData.concat([part(None, X=np.ones((2, 2))), part(None, X=np.ones((3, 2)))])
    assert (joined.n_queries, joined.qid, joined.n_rows) == (1, None, 5)


@pytest.mark.parametrize(
    "others, sentence",
    [
        ([part([2], X=[[1.0]], names=["a"])], "The features differ: part 1 has no 'b', but part 0 has"),
        ([part([2], names=["a", "c"])], "The features differ: part 1 has no 'b', but part 0 has"),
        ([part([2], names=["b", "a"])], "The features differ: part 1 has them in another order"),
        ([part([2], names=None)], "those of part 0 have names, but those of part 1 do not"),
        (
            [part([2, 2]).scale_per_query()],
            "those of part 1 were scaled within each query, those of part 0 were not",
        ),
        ([part([2]), part(None, X=[[1.0, 2.0]])], "part 2 has no queries, but part 0 has"),
    ],
)
def test_parts_that_do_not_fit_are_refused(others, sentence):
    with pytest.raises(DataError, match=sentence):
        RankingData.concat([part([1]), *others])


@pytest.mark.parametrize("parts", [[], [np.ones((2, 2))]])
def test_only_data_sets_are_joined(parts):
    with pytest.raises(ParameterError, match="concat takes a list of at least one RankingData"):
        RankingData.concat(parts)


@pytest.fixture
def three_files(tmp_path):
    """Text in three files, and the same text in one; the widest row and index 0 are in the second."""
    texts = ["1 qid:a 1:1 2:2 #docid = d1\n0 qid:b 2:1\n", "2 qid:7 0:5 6:1 #docid = d2\n", "0 qid:c 3:1\n"]
    for number, content in enumerate(texts):
        (tmp_path / f"part{number}.txt").write_text(content, encoding="utf-8")
    (tmp_path / "all.txt").write_text("".join(texts), encoding="utf-8")
    return [tmp_path / f"part{number}.txt" for number in range(3)], tmp_path / "all.txt"


def test_several_text_files_are_read_as_one(three_files, tmp_path):
    parts, whole = three_files
    done = []
    found = rankwise.load_letor(parts, progress=lambda bytes_read, total: done.append((bytes_read, total)))
    assert_same_data(found, rankwise.load_letor(whole))
    assert done[-1] == (whole.stat().st_size, whole.stat().st_size)
    rankwise.convert_letor(parts, tmp_path / "parts.store")
    rankwise.convert_letor(whole, tmp_path / "whole.store")
    assert_same_data(*(rankwise.open_store(tmp_path / f"{name}.store") for name in ("parts", "whole")))


def test_text_files_that_share_a_query_are_refused_or_merged(three_files, tmp_path):
    (first, second, third), _ = three_files
    third.write_text("1 qid:c 1:1\n0 qid:b 1:2\n0 qid:b 1:3\n", encoding="utf-8")
    sentence = f"The query 'b' is both in {first} and in {third}; if it is the same query, set merge_que"
    for read in (rankwise.load_letor, lambda paths: rankwise.convert_letor(paths, tmp_path / "new.store")):
        with pytest.raises(DataError, match=sentence):
            read([first, second, third])
    assert not (tmp_path / "new.store").exists()
    merged = rankwise.load_letor([first, second, third], merge_queries=True)
    assert merged.select(queries=["b"]).n_rows == 3
    rankwise.convert_letor([first, second, third], tmp_path / "new.store", merge_queries=True)
    assert_same_data(rankwise.open_store(tmp_path / "new.store"), merged)


def test_errors_name_the_file_and_its_own_line(three_files):
    (first, second, _), _ = three_files
    second.write_text("# nothing here\n1 qid:x 2:1 1:1\n", encoding="utf-8")
    with pytest.raises(DataError, match=rf"{second}, line 2: feature index 1 comes after 2"):
        rankwise.load_letor([first, second])
    second.write_text("\n", encoding="utf-8")
    with pytest.raises(DataError, match=f"{second}: the file contains no rows"):
        rankwise.load_letor([first, second])
    with pytest.raises(ParameterError, match="at least one file"):
        rankwise.load_letor([])
    with pytest.raises(DataError, match=f"{first} and 1 more: features are numbered from 0 to"):
        second.write_text("1 qid:x 0:1 3:1\n", encoding="utf-8")
        rankwise.load_letor([first, second], n_features=3)


def test_text_numbered_from_0_and_from_1_is_not_joined(tmp_path):
    for first in (0, 1):
        (tmp_path / f"{first}.txt").write_text(f"1 qid:{first} {first}:0.5 {first + 1}:1\n", encoding="utf-8")
    parts = [rankwise.load_letor(tmp_path / f"{first}.txt") for first in (0, 1)]
    with pytest.raises(DataError, match="part 0 numbers them from 0, part 1 from 1; load the files together"):
        RankingData.concat(parts)
