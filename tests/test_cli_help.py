"""What the command line says of itself: help with examples, suggestions, completion and confirmations."""

import os
import re
import shlex
import shutil
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import rankwise
from command_line import done, folder, refused
from rankwise.cli import main
from rankwise.cli.app import COMMANDS, command_line
from rankwise.cli.examples import EXAMPLES, GROUPS

__all__ = ["done", "folder", "refused"]  # fixtures


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_examples_that_parse_and_no_type_for_flags(command, done):
    shown = done(command, "--help")
    assert "Examples:" in shown
    assert "<bool>" not in shown
    group = command_line([command])
    for example in EXAMPLES[command]:
        assert example.partition("--")[0].strip() in " ".join(shown.split())
        program, name, *arguments = shlex.split(example.partition(" > ")[0])
        assert (program, name) == ("rankwise", command)
        group.commands[name].make_context(name, arguments)


def test_every_command_is_in_one_group(done):
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(COMMANDS) == sorted(EXAMPLES)
    shown = done("--help")
    assert all(group in shown for group in GROUPS)


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["evaluate", "test.txt", "model", "--measures", "ndgc@10"], "'ndcg'"),
        (["evaluate", "test.txt", "model", "--preset", "lightgmb"], "'lightgbm'"),
        (["train", "train.txt.gz", "OUT", "--learner", "rankrsl"], "'rankrls'"),
        (["train", "table.csv", "OUT", "--columns", "atuo"], "'auto'"),
        (["train", "train.txt.gz", "OUT", "--set", "slover=cg"], "'solver'"),
        (["export", "model", "OUT", "--to", "elasticsaerch"], "'elasticsearch'"),
        (["train", "table.csv", "OUT", "--qid", "Query"], "'query'"),
        (["info", "model", "--verfy"], "--verify"),
    ],
)
def test_a_name_that_was_nearly_right_is_suggested(arguments, meant, folder, refused, tmp_path):
    (tmp_path / "table.csv").write_text("query,label,x\na,1,2\n", encoding="utf-8")
    place = {"OUT": tmp_path / "out", "table.csv": tmp_path / "table.csv"}
    code = 1 if "Query" in arguments else 2
    said = refused(*(place.get(one, one) for one in arguments), code=code)
    assert re.search(rf"(did|Did) you mean:? {meant}|options?: {meant}", said), said


def test_the_ending_of_a_file_decides_the_format_of_an_export(done, refused, folder, tmp_path):
    names = ",".join(f"f{k}" for k in range(rankwise.load_model(folder / "model").n_features_in_))
    done("export", "model", tmp_path / "model.sql", "--features", names)
    assert '"f0"' in (tmp_path / "model.sql").read_text(encoding="utf-8")
    said = refused("export", "model", tmp_path / "model.json", code=2)
    assert said.startswith("The name 'model.json' does not imply a format; the option --to must be one of ")


def test_a_name_and_a_format_that_contradict_each_other_are_refused(done, refused, folder, tmp_path):
    names = ",".join(f"f{k}" for k in range(rankwise.load_model(folder / "model").n_features_in_))
    said = refused("export", "model", tmp_path / "model.sql", "--to", "onnx", code=2)
    assert said.startswith("The name 'model.sql' implies the format 'sql', but the option --to is 'onnx'")
    assert not (tmp_path / "model.sql").exists()
    done("export", "model", tmp_path / "model.sql", "--to", "sqlite", "--features", names)


def test_a_table_with_other_column_names_is_told_which_options_name_them(refused, tmp_path):
    (tmp_path / "shop.csv").write_text("search,grade,x\na,1,2\n", encoding="utf-8")
    said = refused("train", tmp_path / "shop.csv", tmp_path / "model", code=1)
    assert said.endswith("'grade', 'x'. Name yours with --label and --qid.\n")
    said = refused("train", tmp_path / "shop.csv", tmp_path / "model", "--qid", "search", code=1)
    assert said.endswith("'grade', 'x'. Name it with --label.\n")
    said = refused("interleave", tmp_path / "shop.csv", code=1)
    assert said.endswith("Name yours with --unit, --team and --clicked.\n")


def test_names_that_text_cannot_hold_are_said_to_fit_into_a_store(refused, done, tmp_path):
    table = tmp_path / "shop.csv"
    table.write_text("qid,label,x\nred shoes,1,2\nred shoes,0,1\n", encoding="utf-8")
    said = refused("convert", table, tmp_path / "shop.txt", code=1)
    assert "qid is 'red shoes' in row 0" in said
    assert "but a store (.store) does not" in said
    done("convert", table, tmp_path / "shop.store")


def test_scores_can_be_compared_on_a_table_of_any_columns(done, tmp_path):
    rows = "".join(f"a,{grade},word {grade}\n" for grade in range(4))
    (tmp_path / "shop.csv").write_text(f"qid,label,title\n{rows}", encoding="utf-8")
    for name, scores in (("up", "1\n2\n3\n4\n"), ("down", "4\n3\n2\n1\n")):
        (tmp_path / name).write_text(scores, encoding="utf-8")
    files = [tmp_path / "up", tmp_path / "down", "--data", tmp_path / "shop.csv"]
    assert "1.0000" in done("compare", *files)
    done("report", *files, "--out", tmp_path / "report.html")


def test_commands_that_write_say_what_and_where(done, folder, tmp_path):
    test = rankwise.load_letor(folder / "test.txt")
    for arguments, written in (
        (["predict", "test.txt", "model", "--out", tmp_path / "scores"], f"{test.n_rows} scores"),
        (
            ["predict", "test.txt", "model", "--trec", "--out", tmp_path / "run"],
            f"{test.n_rows} rows of a run",
        ),
        (["convert", "test.txt", tmp_path / "a.store"], f"{test.n_rows} rows, {test.n_queries} queries"),
        (["convert", "test.txt", tmp_path / "a.txt"], f"{test.n_rows} rows, {test.n_queries} queries"),
        (["export", "model", "--to", "svmrank", tmp_path / "a"], "RankRLS, 22 features"),
    ):
        assert re.match(rf"Written to {re.escape(str(arguments[-1]))}: .*{written}", done(*arguments))


COMPLETED = (
    ("rankwise conv", "convert"),
    ("rankwise evaluate a b --measures map,nd", "map,ndcg"),
    ("rankwise evaluate a b --measures ndcg@10,letor:ndcg@5,ma", "ndcg@10,letor:ndcg@5,map"),
    ("rankwise evaluate a b --measures map,success@2", "map,success@20"),
    ("rankwise train a b --vali", "--validation"),
    ("rankwise train a b --learner k", "kernel-rankrls"),
    ("rankwise export a b --to elasticsearch-s", "elasticsearch-script"),
    ("rankwise train a b --columns sp", "spline"),
)


# How each shell starts without files of the user, and what keeps its screen plain.
SHELLS = {
    "bash": ("bash --norc --noprofile -i", "bind 'set enable-bracketed-paste off'; PS1='rea''dy> '"),
    "zsh": ("zsh -f -i", "unset zle_bracketed_paste; autoload -U compinit; compinit -u -D; PS1='rea''dy> '"),
    "fish": ("fish --no-config -i", "function fish_prompt; echo -n 'rea''dy> '; end"),
}


@pytest.mark.parametrize("name", SHELLS)
def test_a_shell_completes_commands_options_choices_and_files(name, tmp_path):
    pexpect = pytest.importorskip("pexpect")  # which the kernels of notebooks need
    if shutil.which(name) is None:
        pytest.skip(f"needs {name}")
    (tmp_path / "judged.csv").touch()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    surroundings = {**os.environ, "PATH": path, "HOME": str(tmp_path), "TERM": "dumb", "PS1": "$ "}
    start, prepare = SHELLS[name]
    shell = pexpect.spawn(start, env=surroundings, cwd=tmp_path, encoding="utf-8", dimensions=(50, 200))
    shell.sendline(prepare)
    shell.expect("ready> ")
    shell.sendline("rankwise --show-completion > script; source ./script")
    shell.expect("ready> ")
    for words, expected in (*COMPLETED, ("rankwise train jud", "judged.csv")):
        shell.send(f"{words}\t")
        shell.sendcontrol("a")
        shell.sendline("echo :")  # prints the line: how screens show it differs
        shell.expect_exact(f"\n:{words.rpartition(' ')[0]} {expected}", timeout=60)
        shell.expect("ready> ")
    shell.close()


@pytest.mark.parametrize("shell", ["zsh", "fish"])
@pytest.mark.parametrize(("words", "expected"), COMPLETED)
def test_other_shells_are_told_the_same(shell, words, expected, monkeypatch, capsys):
    monkeypatch.setenv("_RANKWISE_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", words)
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    with suppress(SystemExit):
        main([])
    printed = capsys.readouterr()
    assert printed.err == ""
    said = printed.out.replace("\\", "")  # zsh wants colons escaped
    assert re.search(rf"(^|\W){re.escape(expected)}(\W|$)", said), said
