"""A data set as a folder of stores."""

import numpy as np
import pytest

from command_line import done, folder, refused
from rankwise import RankingData, load_letor, make_search_data, open_store, save_letor
from rankwise.errors import FileFormatError
from rankwise.readers.store import save_parts

__all__ = ["done", "folder", "refused"]  # fixtures


@pytest.fixture(scope="module")
def data():
    rows = make_search_data(20, random_state=0)
    return rows.select(np.random.default_rng(0).permutation(rows.n_rows))


def parts_in(path):
    return [open_store(part) for part in sorted(path.glob("part-*.store"))]


@pytest.mark.parametrize("n_parts", [1, 3, 100])
def test_parts_hold_whole_queries_and_all_rows(data, tmp_path, n_parts):
    save_parts(data, tmp_path / "parts", n_parts)
    parts = parts_in(tmp_path / "parts")
    assert len(parts) <= n_parts
    together = RankingData.concat(parts)  # which refuses queries in two parts
    assert together.n_rows == data.n_rows
    for query in data.queries.labels.tolist():
        np.testing.assert_array_equal(together.select(queries=[query]).X, data.select(queries=[query]).X)


def test_parts_are_about_equally_large(tmp_path):
    data = make_search_data(200, random_state=0)
    save_parts(data, tmp_path / "parts", 4)
    sizes = [part.n_rows for part in parts_in(tmp_path / "parts")]
    assert max(sizes) - min(sizes) <= data.queries.sizes.max()


def test_one_ranking_is_divided_by_rows(data, tmp_path):
    save_parts(RankingData.from_arrays(data.X, data.y), tmp_path / "parts", 3)
    np.testing.assert_array_equal(np.concatenate([p.X for p in parts_in(tmp_path / "parts")]), data.X)


def test_parts_replace_parts_and_nothing_else(data, tmp_path):
    save_parts(data, tmp_path / "parts", 5)
    save_parts(data, tmp_path / "parts", 2)
    assert len(parts_in(tmp_path / "parts")) == 2
    (tmp_path / "parts" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"contains notes\.txt, which is not a part"):
        save_parts(data, tmp_path / "parts", 2)


def test_text_is_converted_to_parts(data, tmp_path, done):
    save_letor(data, tmp_path / "rows.txt")
    done("convert", tmp_path / "rows.txt", tmp_path / "parts", "--parts", 3)
    parts = parts_in(tmp_path / "parts")
    assert len(parts) == 3
    assert sum(part.n_rows for part in parts) == load_letor(tmp_path / "rows.txt").n_rows
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts", "rows.txt"]
