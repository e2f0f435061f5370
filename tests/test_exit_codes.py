"""The exit codes that docs/commands.md lists are those that commands return."""

import re
from pathlib import Path

import pandas as pd
import pytest

import rankwise
from rankwise.cli import main
from rankwise.cli.app import COMMANDS
from rankwise.cli.exit_codes import ExitCode

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
LISTED = re.findall(r"^\| (\d) \| ([^|]+) \|", PAGE, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("codes")
    data = rankwise.make_search_data(40, random_state=0)
    for name, factor in (("rows", 1.0), ("shifted", 100.0)):
        table = pd.DataFrame(factor * data.X, columns=data.feature_names)
        table.assign(label=data.y, qid=data.qid).to_csv(folder / f"{name}.csv", index=False)
    broken = pd.read_csv(folder / "rows.csv").assign(
        label=lambda table: table["label"].where(table.index > 3)
    )
    broken.to_csv(folder / "broken.csv", index=False)
    for name, X in (("model", data.X), ("worse", -data.X)):
        rankwise.RankRLSCV().fit(
            rankwise.RankingData.from_arrays(X, data.y, data.qid, feature_names=data.feature_names)
        ).save(folder / name)
    return folder


RUNS = {
    (0, "every command"): [
        "evaluate rows.csv model",
        "compare model model2 --data rows.csv --fail-if-worse ndcg@10:0.2",
        "drift model rows.csv --fail-above 0.1",
        "drift model shifted.csv",
    ],
    (1, "every command"): ["evaluate absent.csv model", "audit broken.csv", "drift rows.csv rows.csv"],
    (2, "every command"): ["evaluate", "drift model rows.csv --fail-above many"],
    (3, "`compare --fail-if-worse`"): ["compare model worse --data rows.csv --fail-if-worse ndcg@10:0.01"],
    (3, "`drift --fail-above`"): ["drift model shifted.csv --fail-above 0.1"],
    (4, "`compare --fail-if-worse`"): ["compare model model2 --data rows.csv --fail-if-worse ndcg@10:0.001"],
}


@pytest.mark.parametrize(
    ("code", "line"), [(code, line) for (code, _), lines in RUNS.items() for line in lines]
)
def test_commands_leave_with_the_codes_of_the_table(files, monkeypatch, code, line):
    monkeypatch.chdir(files)
    (files / "model2").write_bytes((files / "model").read_bytes())
    assert main(line.split()) == code


def test_every_code_is_listed_and_every_line_of_the_table_is_tested():
    assert {(int(code), of) for code, of in LISTED} == RUNS.keys()
    assert {int(code) for code, _ in LISTED} == set(ExitCode)


def test_codes_have_names_where_commands_leave():
    for path in (ROOT / "src" / "rankwise" / "cli").glob("*.py"):
        for value in re.findall(r"typer\.Exit\((.+?)\)", path.read_text(encoding="utf-8")):
            assert value.startswith("ExitCode.") or value == "code", path


def test_options_that_decide_the_code_exist():
    for _, of in LISTED:
        for command, option in re.findall(r"`(\w+) (--[\w-]+)`", of):
            assert command in COMMANDS
            assert f"{option[2:].replace('-', '_')}:" in (
                ROOT / "src" / "rankwise" / "cli" / f"{command}.py"
            ).read_text(encoding="utf-8")
