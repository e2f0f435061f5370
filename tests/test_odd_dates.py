"""Values that are no dates, in a column of dates."""

import warnings

import numpy as np
import pandas as pd
import pytest

from dirty_tables import ROLES, clean_table
from rankwise import load_table
from rankwise.auditing.raw_table import RawTable
from rankwise.auditing.table_audit import audit_table
from rankwise.cli import main
from rankwise.columns.choosing_codes import fit_encoding
from rankwise.rows.table import table_of

OPTIONS = ["--label", "grade", "--qid", "query", "--doc", "product"]


def spoiled(**odd):
    """A clean table, with dates as text, some of which are something else; rows by number."""
    frame = clean_table(seed=1)
    frame["added"] = frame["added"].dt.strftime("%Y-%m-%d").astype(object)
    for row, value in odd.items():
        frame.loc[int(row[1:]), "added"] = value
    return frame


def date_faults(frame):
    return [f for f in audit_table(RawTable.of_frame(frame, **ROLES)).faults if f.column == "added"]


def test_one_odd_date_is_named_with_its_row():
    (fault,) = date_faults(spoiled(r7="2024-02-30"))
    assert (fault.kind, fault.severity, fault.count) == ("text in a column of dates", "look", 1)
    assert str(fault) == (
        "'added' holds dates, but 1 value is none ('2024-02-30' in row 7). Training treats all of them as "
        "categories."
    )


def test_missing_dates_times_and_zones_are_dates_and_numbers_are_not():
    assert [f.kind for f in date_faults(spoiled(r3=None, r5="2024-05-31T12:00:00+02:00"))] == [
        "dates as text"
    ]
    numbers = clean_table().assign(added=np.arange(20240101, 20240101 + len(clean_table())).astype(str))
    assert not [f for f in date_faults(numbers) if "dates" in f.kind]


def test_text_that_is_mostly_no_date_is_text():
    frame = clean_table().assign(added=lambda table: "made " + table["brand"])
    frame.loc[:100, "added"] = "2024-05-31"
    assert not date_faults(frame)


def test_a_date_that_stands_for_a_missing_one_is_found_beside_an_odd_one():
    frame = spoiled(r7="soon", **{f"r{row}": "1970-01-01" for row in range(20, 30)})
    assert [fault.kind for fault in date_faults(frame)] == ["text in a column of dates", "sentinel"]


@pytest.mark.parametrize("name", ["raw.csv", "raw.parquet"])
@pytest.mark.parametrize("time", ["", " 12:30:00"])
def test_fixing_makes_the_odd_one_missing_and_the_others_dates(name, time, tmp_path, capsys):
    frame, path, clean = spoiled(r7="soon"), tmp_path / name, tmp_path / f"clean{name[3:]}"
    frame.loc[8, "added"] += time
    frame.to_csv(path, index=False) if name.endswith("csv") else frame.to_parquet(path)
    assert main(["audit", str(path), *OPTIONS, "--fix", str(clean)]) == 0
    assert "Made 1 value of 'added' missing (text in a column of dates)." in capsys.readouterr().out
    added = load_table(clean, label="grade", qid="query", doc="product", as_table=True).X.columns["added"]
    assert added.reading == "date"
    assert np.isnat(added.values[7])
    expected = pd.to_datetime(frame["added"].drop(index=7), format="ISO8601").to_numpy("datetime64[us]")
    assert (np.delete(added.values, 7) == expected).all()


def test_training_says_what_becomes_of_the_column(tmp_path, capsys):
    spoiled(r7="soon", r9="never").to_csv(tmp_path / "rows.csv", index=False)
    assert (
        main(["train", str(tmp_path / "rows.csv"), str(tmp_path / "model"), *OPTIONS, "--columns", "auto"])
        == 0
    )
    assert capsys.readouterr().err == (
        "rankwise: warning: Column 'added' holds dates, but 'soon' in row 7 and 1 other value cannot be read "
        "as a date, so the column is treated as a category; make such values missing.\n"
    )


def test_training_says_nothing_of_a_column_whose_code_is_named():
    table = table_of(spoiled(r7="soon")[["added", "price"]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit_encoding(table, {"added": "category", "*": "auto"})
