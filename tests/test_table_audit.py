"""What `rankwise audit` finds in a table: faults of every kind, planted, and none in clean tables."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from command_line import folder, refused
from dirty_tables import FAULTS, LEAKS, ROLES, SENTINELS, clean_table
from rankwise import RankingData, load_table, make_search_data, save_letor
from rankwise.auditing.raw_table import RawTable
from rankwise.auditing.table_audit import audit_table
from rankwise.cli import main
from rankwise.columns.choosing_codes import fit_encoding
from rankwise.errors import DataError
from rankwise.rows.table import table_of

__all__ = ["folder", "refused"]  # fixtures

DRAWS = 20
OPTIONS = ["--label", "grade", "--qid", "query", "--doc", "product"]


def faults_of(frame, **roles):
    return audit_table(RawTable.of_frame(frame, **(ROLES | roles))).faults


def planted(plant, seed):
    frame, rng = clean_table(seed=seed), np.random.default_rng(seed)
    found = plant(frame, rng)
    return (found, None) if isinstance(found, pd.DataFrame) else (frame, found)


def test_a_clean_table_has_no_faults_but_that_its_columns_must_be_encoded():
    for seed in range(DRAWS):
        assert [fault.kind for fault in faults_of(clean_table(seed=seed))] == ["columns to encode"]


@pytest.mark.parametrize("kind", FAULTS)
def test_a_planted_fault_is_found_with_its_column_and_little_else(kind):
    for seed in range(DRAWS):
        frame, column = planted(FAULTS[kind], seed)
        found = [fault for fault in faults_of(frame) if fault.kind != "columns to encode"]
        assert [fault for fault in found if fault.kind == kind and fault.column in (column, None)], found
        allowed = {kind, "documents twice in a query", "queries without pairs", "duplicate rows"}
        assert len([fault for fault in found if fault.kind not in allowed]) <= 1, found


@pytest.mark.parametrize("shown", SENTINELS)
def test_a_number_that_stands_for_a_missing_one_is_found(shown):
    for seed in range(DRAWS):
        frame, column = planted(SENTINELS[shown], seed)
        (fault,) = [fault for fault in faults_of(frame) if fault.kind == "sentinel"]
        assert fault.column == column
        assert f": {shown} in " in fault.found
        missing = frame[column] == (pd.Timestamp(shown) if "70" in shown else float(shown))
        assert set(fault.rows) == set(np.flatnonzero(missing))


@pytest.mark.parametrize("leak", LEAKS)
def test_a_column_that_gives_the_label_away_is_found(leak):
    for seed in range(DRAWS):
        frame = clean_table(seed=seed)
        frame["leak"] = LEAKS[leak](frame, np.random.default_rng(seed))
        (fault,) = [fault for fault in faults_of(frame) if fault.kind == "leak"]
        assert fault.column == "leak"
        assert "--exclude leak" in fault.remedy


def test_two_leaks_together_are_ahead_of_all_others():
    frame, rng = clean_table(), np.random.default_rng(0)
    for name in ("clicks", "orders"):
        frame[name] = frame["grade"] + rng.normal(0.0, 0.35, len(frame))
    assert {fault.column for fault in faults_of(frame) if fault.kind == "leak"} == {"clicks", "orders"}


def test_all_faults_of_a_table_are_said_at_once():
    frame, rng = clean_table(), np.random.default_rng(1)
    kinds = ["missing labels", "infinite values", "text in a column of numbers", "constant", "identifier"]
    for kind in kinds:
        FAULTS[kind](frame, rng)
    found = faults_of(frame)
    assert set(kinds) <= {fault.kind for fault in found}
    severities = [fault.severity for fault in found]
    assert severities == sorted(severities, key=["must fix", "look", "note"].index)


@pytest.mark.parametrize("kind", [*FAULTS, None])
def test_a_column_must_be_fixed_if_and_only_if_training_refuses_it(kind):
    frame = clean_table(seed=3)
    if kind is not None:
        found = FAULTS[kind](frame, np.random.default_rng(3))
        frame = found if isinstance(found, pd.DataFrame) else frame
    features = frame.drop(columns=[*ROLES.values()])
    found = audit_table(RawTable.of_frame(frame, **ROLES))
    broken = {fault.column for fault in found.must_fix if fault.kind not in ("leak", "no pairs")}
    for name in features:
        try:
            table = table_of(features[[name]])
            table.read(name, table.columns[name].reading) if table.columns[name].reading else None
            fit_encoding(table, "auto")
            refused = False
        except DataError as error:
            refused = "nothing to learn" not in str(error)
        assert refused == (name in broken), name


def test_queries_and_documents_that_are_not_given_are_not_missed():
    frame = clean_table().drop(columns=["product", "query"])
    assert not [f for f in faults_of(frame, qid=None, doc=None) if f.severity == "must fix"]


def test_equal_rows_are_dropped_only_if_they_must_be_the_same_row_twice():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"query": np.repeat(np.arange(20), 10), "grade": rng.integers(0, 3, 200)})
    frame["size"] = rng.integers(0, 3, 200)
    (coarse,) = [f for f in faults_of(frame, doc=None) if f.kind == "duplicate rows"]
    assert coarse.repair is None
    frame["match"] = rng.normal(size=200)
    again = pd.concat([frame, frame.iloc[:5]])
    (fine,) = [f for f in faults_of(again, doc=None) if f.kind == "duplicate rows"]
    assert (fine.repair, fine.count) == ("rows dropped", 5)


def test_rows_of_a_matrix_are_audited_like_those_of_a_table():
    data = make_search_data(60, random_state=0)
    X = np.column_stack([data.X, data.y + 0.01 * np.random.default_rng(0).normal(size=data.n_rows)])
    found = audit_table(RawTable.of_data(RankingData.from_arrays(X, data.y, data.qid)))
    leaks = [fault.column for fault in found.faults if fault.kind == "leak"]
    assert leaks == [f"x{data.n_features}"]


@pytest.mark.parametrize("name", ["raw.parquet", "raw.csv"])
def test_the_fixed_table_has_nothing_left_to_fix_and_can_be_trained(name, tmp_path, capsys):
    frame, rng = clean_table(), np.random.default_rng(2)
    for kind in ("missing labels", "missing queries", "infinite values", "negative values", "constant"):
        FAULTS[kind](frame, rng)
    frame["leak"] = frame["grade"].fillna(0.0)
    SENTINELS["-1"](frame, rng)
    FAULTS["text in a column of numbers"](frame, rng)
    path, clean = tmp_path / name, tmp_path / f"clean{name[3:]}"
    if name.endswith("csv"):
        frame.to_csv(path, index=False)
    else:  # a writer of pandas refuses columns of several kinds
        texts = {"price": frame["price"].astype(str)}
        parquet.write_table(pa.Table.from_pandas(frame.assign(**texts), preserve_index=False), path)
    assert main(["audit", str(path), *OPTIONS]) == 1
    assert "'leak' alone orders 100.0%" in capsys.readouterr().out
    assert main(["audit", str(path), *OPTIONS, "--exclude", "leak", "--fix", str(clean)]) == 0
    said = capsys.readouterr().out
    assert "Excluded, as requested: 'leak'." in said
    assert "(sentinel)" in said
    assert main(["audit", str(clean), *OPTIONS, "--count", "0"]) == 0
    capsys.readouterr()
    table = load_table(clean, label="grade", qid="query", doc="product", as_table=True).X
    assert "shop" not in table.columns
    assert "leak" not in table.columns
    assert table.columns["price"].reading == "number"
    assert np.nanmin(table.columns["price"].values) > 0.0
    assert np.nanmin(table.columns["sales"].values) > 0.0
    assert main(["train", str(clean), str(tmp_path / "model"), *OPTIONS, "--columns", "auto"]) == 0


def test_the_command_says_faults_as_json_and_refuses_what_it_cannot_fix(folder, refused, tmp_path, capsys):
    clean_table().assign(grade=None).to_csv(tmp_path / "raw.csv", index=False)
    assert main(["audit", str(tmp_path / "raw.csv"), *OPTIONS, "--json"]) == 1
    (fault, *_) = json.loads(capsys.readouterr().out)["faults"]
    assert (fault["kind"], fault["repair"]) == ("missing labels", "rows dropped")
    assert "--fix" in refused("audit", "train.txt.gz", "--fix", tmp_path / "out.csv", code=2)
    assert ".parquet" in refused("audit", tmp_path / "raw.csv", "--fix", tmp_path / "out.txt", code=2)
    message = refused("audit", tmp_path / "raw.csv", code=1)
    assert "no columns 'label' and 'qid'; its columns are 'query', 'product'" in message


def test_training_names_the_option_for_text_and_missing_values(refused, tmp_path):
    frame = clean_table().drop(columns=["product", "added"])
    frame.to_csv(tmp_path / "text.csv", index=False)
    frame.drop(columns="brand").assign(match=np.nan).to_csv(tmp_path / "missing.csv", index=False)
    for name in ("text.csv", "missing.csv"):
        message = refused("train", tmp_path / name, tmp_path / "model", *OPTIONS[:4], code=1)
        assert "--columns auto" in message


def test_training_warns_of_a_leak_and_says_how_to_leave_it_out(tmp_path, capsys):
    frame = clean_table().assign(orders=lambda table: table["grade"] ** 2)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    arguments = ["train", str(tmp_path / "rows.csv"), str(tmp_path / "model"), *OPTIONS, "--columns", "auto"]
    assert main(arguments) == 0
    assert "'orders' alone orders 100.0% of the pairs" in capsys.readouterr().err
    assert main([*arguments, "--exclude", "orders"]) == 0
    assert not capsys.readouterr().err


def test_only_named_columns_are_to_be_excluded_by_an_option():
    rng = np.random.default_rng(0)
    y, qid = rng.integers(0, 3, 400), np.repeat(np.arange(40), 10)
    X = np.column_stack([y, rng.random((400, 2))])
    for names, says in (
        (None, "Leave it out of the data, unless"),
        (["a", "b", "c"], "Use --exclude a, unless"),
    ):
        rows = RankingData.from_arrays(X, y, qid, feature_names=names)
        (fault,) = (fault for fault in audit_table(RawTable.of_data(rows)).faults if fault.kind == "leak")
        assert says in fault.remedy


@pytest.mark.parametrize("name", ["rows.txt", "rows.store"])
def test_no_option_is_named_that_text_and_stores_do_not_take(name, tmp_path, capsys):
    rng = np.random.default_rng(0)
    y, qid = rng.integers(0, 3, 400), np.repeat(np.arange(40), 10)
    X = np.column_stack([rng.permutation(400) + 70_000, y + 0.0, rng.integers(0, 2, 400)])
    X[1:31:10] = X[:30:10]  # some rows twice
    y[1:31:10] = y[:30:10]
    save_letor(RankingData.from_arrays(X, y, qid), tmp_path / "rows.txt")
    if name.endswith("store"):
        assert main(["convert", str(tmp_path / "rows.txt"), str(tmp_path / name)]) == 0
    assert main(["audit", str(tmp_path / name)]) == 1
    printed = capsys.readouterr().out
    for found in ("seems to name things", "alone orders", "equal an earlier row"):
        assert found in printed
    assert not {"--exclude", "--doc", "--fix"} & set(printed.replace(",", " ").split())


def test_many_columns_with_the_same_fault_are_shown_together(tmp_path, capsys):
    constants = {f"shop {k}": "main" for k in range(40)}
    clean_table().assign(**constants).to_csv(tmp_path / "rows.csv", index=False)
    assert main(["audit", str(tmp_path / "rows.csv"), *OPTIONS, "--count", "0"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("has the same value in all rows") == 2
    assert "constant: the same of 38 more columns, 'shop 2', 'shop 3'" in printed
    assert main(["audit", str(tmp_path / "rows.csv"), *OPTIONS, "--count", "0", "--json"]) == 0
    faults = json.loads(capsys.readouterr().out)["faults"]
    assert sum(fault["kind"] == "constant" for fault in faults) == 40


def test_categories_are_quoted_so_that_an_empty_one_is_seen():
    frame = clean_table()
    frame["maker"] = [f"maker {k % 300}" if k % 3 else "" for k in range(len(frame))]
    (fault,) = (fault for fault in faults_of(frame) if fault.kind == "many categories")
    assert fault.examples[0] == "''"


def test_labels_that_are_text_are_said_to_be_read_not_made_missing():
    frame = clean_table(seed=0)
    frame["grade"] = frame["grade"].map("{:g}".format)
    frame.loc[3, "grade"] = "good"
    (fault,) = (fault for fault in faults_of(frame) if fault.kind == "text labels")
    assert fault.repair == "text read as numbers"
