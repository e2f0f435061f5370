"""Training and test rows from the command line share no query, no text of a query, and no time."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import done, folder, refused
from dirty_tables import clean_table
from rankwise import DataError, load_letor
from rankwise.cli import main
from rankwise.preferences.queries import group_rows
from rankwise.selection.splitting import plain_text, split_rows

__all__ = ["done", "folder", "refused"]  # fixtures

ROLES = ["--label", "grade", "--qid", "query", "--doc", "product"]


@given(
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["a", "A ", "b", "c", "d"])), min_size=2),
    st.integers(0, 99),
    st.booleans(),
)
def test_sides_share_no_query_no_text_and_no_time(rows, seed, by_time):
    query, text = (np.array(column) for column in zip(*rows, strict=True))
    times = np.random.default_rng(seed).integers(0, 30, len(rows)).astype(float) if by_time else None
    try:
        sides = split_rows(
            group_rows(query, len(rows)), 0.3, texts=text.astype(object), times=times, random_state=seed
        )
    except DataError:
        return
    assert sides.training.any()
    assert sides.test.any()
    assert not (sides.training & sides.test).any()
    assert not set(query[sides.training]) & set(query[sides.test])
    assert not set(map(plain_text, text[sides.training])) & set(map(plain_text, text[sides.test]))
    if by_time:
        assert times[sides.training].max() < times[sides.test].min()
    else:
        assert (sides.training | sides.test).all()


def test_about_the_fraction_is_in_the_test():
    queries = group_rows(np.repeat(np.arange(200), 10), 2000)
    assert split_rows(queries, 0.2).test.mean() == pytest.approx(0.2, abs=0.01)
    one, same, other = (split_rows(queries, 0.2, random_state=seed).test for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()


def test_the_command_splits_tables_by_text_and_by_time(tmp_path, capsys):
    frame = clean_table()
    shouted = np.random.default_rng(0).random(len(frame)) < 0.3
    frame["query"] = frame["query"].where(~shouted, frame["query"].str.upper() + " ")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    names = [str(tmp_path / name) for name in ("rows.csv", "train.csv", "test.csv")]
    assert main(["split", *names, *ROLES]) == 0
    train, test = (pd.read_csv(name) for name in names[1:])
    assert len(train) + len(test) == len(frame)
    assert list(train.columns) == list(frame.columns)
    assert not set(train["query"].map(plain_text)) & set(test["query"].map(plain_text))
    day = frame.groupby(frame["query"].map(plain_text))["added"].transform("min")
    frame.assign(seen=day).to_csv(tmp_path / "rows.csv", index=False)
    assert main(["split", *names, *ROLES, "--time", "seen"]) == 0
    train, test = (pd.read_csv(name) for name in names[1:])
    assert train["seen"].max() < test["seen"].min()


def test_the_command_splits_text_by_query(done, folder, refused, tmp_path):
    done("split", "train.txt.gz", tmp_path / "train.txt", tmp_path / "test.txt", "--fraction", "0.5")
    train, test = (load_letor(tmp_path / f"{name}.txt") for name in ("train", "test"))
    assert not set(train.qid) & set(test.qid)
    assert train.n_rows + test.n_rows == load_letor(folder / "train.txt.gz").n_rows
    out = tmp_path / "out.txt"
    assert "--time" in refused("split", "train.txt.gz", out, tmp_path / "b.txt", "--time", "day", code=2)
    assert "--fraction" in refused(
        "split", "train.txt.gz", out, tmp_path / "b.txt", "--fraction", "2", code=2
    )
