"""Outputs of commands: never one of their inputs, never the same file twice, whatever links lead there.

The cases are generated from what commands declare, so a new command or option is among them.
"""

import os
import re
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Annotated

import pytest
import typer

import rankwise
from rankwise.cli import main
from rankwise.cli.app import COMMANDS, application
from rankwise.cli.bundles import unbundled
from rankwise.cli.paths import Input, Output, checking_paths, declared_paths

DECLARED = {
    command: declared_paths(unbundled(import_module(f"rankwise.cli.{command}").run)) for command in COMMANDS
}
OUTPUTS = [
    (command, name)
    for command, declared in DECLARED.items()
    for name, kind in declared.items()
    if isinstance(kind, Output)
]
ROWS = "1 qid:1 1:0.5\n0 qid:1 1:0.25\n"


def parameters(command):
    return typer.main.get_command(application([command])).commands[command].params


def command_line(command, values, folder):
    """The arguments that give these values, and something to every other required argument."""
    line = [command]
    for parameter in parameters(command):
        value = values.get(parameter.name)
        if value is None and parameter.required:
            value = folder / f"other-{parameter.name}"
            if isinstance(DECLARED[command][parameter.name], Input):
                value = input_value(parameter, value)
        if value is not None:
            line += (
                [str(value)] if parameter.param_type_name == "argument" else [parameter.opts[0], str(value)]
            )
    return line


def input_value(parameter, place):
    """Something that the parameter can name: a file, or a folder of folds."""
    if parameter.metavar == "DIR":
        (place / "Fold1").mkdir(parents=True)
        for part in ("train", "vali", "test"):
            (place / "Fold1" / f"{part}.txt").write_text(ROWS, encoding="utf-8")
    else:
        place.write_text(ROWS, encoding="utf-8")
    return place


def leading_to(file, kind, link, place):
    """A value of an output that leads to a file, through a link beside it or in the folder that it names."""
    (written, *_) = kind.files(place)
    written.parent.mkdir(exist_ok=True)
    link(file, written)
    return place


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def check_refused(line, folder, capsys, says):
    before = contents(folder)
    assert main(line) == 2, line
    printed = capsys.readouterr()
    assert says in printed.err, line
    assert (printed.out, printed.err.count("\n"), contents(folder)) == ("", 1, before), line


@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize("command, output", OUTPUTS)
def test_no_output_is_an_input_through_a_link(command, output, link, tmp_path, capsys):
    for parameter in parameters(command):
        read = DECLARED[command].get(parameter.name)
        if not isinstance(read, Input) or read.replaced_by == output:
            continue
        folder = tmp_path / parameter.name
        folder.mkdir()
        value = input_value(parameter, folder / "read.txt")
        for number, file in enumerate(read.files([value] if parameter.nargs == -1 else value)):
            place = leading_to(file, DECLARED[command][output], link, folder / f"written-{number}")
            line = command_line(command, {parameter.name: value, output: place}, folder)
            check_refused(line, folder, capsys, "is an input of this command; refusing to overwrite it.")


@pytest.mark.parametrize("command, output", OUTPUTS)
def test_no_output_is_an_input_or_in_one(command, output, tmp_path, capsys):
    if list(DECLARED[command][output].files(tmp_path)) != [tmp_path]:
        return  # a folder to which files are added
    for name, read in DECLARED[command].items():
        if not isinstance(read, Input) or read.replaced_by == output or command == "folds":
            continue
        folder = tmp_path / name
        (folder / "read.store").mkdir(parents=True)
        (folder / "read.store" / "X.npy").write_text("stored", encoding="utf-8")
        (folder / "read.txt").write_text(ROWS, encoding="utf-8")
        for value, place in (
            ("read.txt", "read.txt"),
            ("read.store", "read.store"),
            ("read.store", "read.store/X.npy"),
            ("read.store", "read.store/new"),
        ):
            line = command_line(command, {name: folder / value, output: folder / place}, folder)
            check_refused(line, folder, capsys, "is an input of this command; refusing to overwrite it.")


@pytest.mark.parametrize("command", COMMANDS)
def test_no_two_outputs_are_the_same_file(command, tmp_path, capsys):
    for one, other in combinations([name for given, name in OUTPUTS if given == command], 2):
        folder = tmp_path / f"{one}-{other}"
        folder.mkdir()
        places = {name: folder / name for name in (one, other)}
        (written, *_), (linked, *_) = (DECLARED[command][name].files(place) for name, place in places.items())
        linked.parent.mkdir(exist_ok=True)
        linked.symlink_to(written)
        line = command_line(command, places, folder)
        check_refused(line, folder, capsys, "would be written twice; expected two different files.")


@pytest.mark.parametrize("command", COMMANDS)
def test_all_that_names_files_is_declared(command):
    files = re.compile("FILE|FOLDER|DIR|DATA|MODEL|RANKER|SCORES|LOG|OUT")
    named = {parameter.name for parameter in parameters(command) if files.search(parameter.metavar or "")}
    assert named <= set(DECLARED[command])


def test_a_command_with_an_undeclared_path_does_not_start():
    def run(path: Annotated[Path | None, typer.Option()] = None) -> None:
        raise AssertionError("it was run")

    with pytest.raises(TypeError, match="declare 'path' as an Input or an Output"):
        checking_paths(run)


def test_a_file_of_query_sizes_is_an_input(tmp_path, capsys):
    (tmp_path / "rows.txt").write_text(ROWS, encoding="utf-8")
    (tmp_path / "rows.txt.query").write_text("2\n", encoding="utf-8")
    line = ["audit", str(tmp_path / "rows.txt"), "--csv", str(tmp_path / "rows.txt.query")]
    check_refused(line, tmp_path, capsys, "rows.txt.query is an input of this command")


def test_a_folder_is_not_replaced_while_it_holds_an_input(tmp_path, capsys):
    (tmp_path / "parts").mkdir()
    rankwise.save_store(rankwise.make_search_data(4, random_state=0), tmp_path / "parts/part-0000.store")
    line = ["convert", str(tmp_path / "parts/part-0000.store"), str(tmp_path / "parts"), "--parts", "2"]
    check_refused(
        line, tmp_path, capsys, "part-0000.store, an input of this command; refusing to replace it."
    )


def test_a_model_is_updated_in_place(tmp_path):
    data = rankwise.make_search_data(20, random_state=0)
    for name, week in zip("ab", data.split(0.5), strict=True):
        rankwise.save_letor(week, tmp_path / f"{name}.txt")
    model = str(tmp_path / "model")
    assert main(["train", str(tmp_path / "a.txt"), model]) == 0
    assert main(["update", str(tmp_path / "b.txt"), model]) == 0
    assert rankwise.load_model(model).moments_.n_queries == data.n_queries
    assert (
        main(["update", str(tmp_path / "b.txt"), model, "--forget", str(tmp_path / "b.txt"), "--out", model])
        == 0
    )


def test_outputs_that_are_no_files_may_be_the_same(tmp_path):
    (tmp_path / "rows.txt").write_text(ROWS, encoding="utf-8")
    line = ["path", str(tmp_path / "rows.txt"), "--model", os.devnull, "--report", os.devnull]
    assert main(line) == 0
