"""`make elsewhere`: the surroundings that are declared, and how they are chosen, run and counted."""

import platform
import sys
from pathlib import Path

import pytest
from elsewhere import __main__ as command
from elsewhere import places, surroundings
from elsewhere.places import Place, UnavailableError

from conftest import shuffled

TESTS = Path(__file__).parent
PASSED = command.Outcome("", passed=1)


@pytest.fixture
def declared(monkeypatch):
    """All surroundings, without those of newer interpreters that this machine may have."""
    monkeypatch.setattr(surroundings, "find_interpreters", list)
    return surroundings.declared()


@pytest.fixture
def chosen(monkeypatch, declared):
    """Runs the command without tests; returns its code, the surroundings it was in, and their rows."""

    def run(*arguments, outcome=PASSED):
        names, rows = [], {}
        monkeypatch.setattr(command, "run", lambda surrounding, *_: names.append(surrounding.name) or outcome)
        monkeypatch.setattr(command.tables, "row", lambda table, name, *cells: rows.update({name: cells}))
        monkeypatch.setattr(command.tables, "write", lambda command: None)
        monkeypatch.setattr("sys.argv", ["elsewhere", *arguments])
        return command.main(), names, rows

    return run


def test_every_test_file_that_is_named_exists(declared):
    named = set(surroundings.NOT_COMPUTING | surroundings.NOT_WITH_OTHER_PACKAGES)
    named.update(*(surrounding.short for surrounding in declared.values()))
    assert named <= {path.name for path in TESTS.glob("test_*.py")}


def test_processors_leave_out_what_computes_nothing_and_others_run_everything(declared):
    everything = {str(path) for path in TESTS.glob("test_*.py")}
    assert set(declared["locale"].files()) == everything
    computing = set(declared["cpu-Prescott-1"].files())
    assert computing == {path for path in everything if Path(path).name not in surroundings.NOT_COMPUTING}


def test_all_surroundings_are_chosen_by_default_and_names_select(chosen, declared):
    assert chosen()[:2] == (0, list(declared))
    code, names, rows = chosen("locale", "cpu-Zen-4")
    assert (code, names) == (0, ["locale", "cpu-Zen-4"])
    assert rows.keys() == {"`locale`", "`cpu-Zen-4`"}


def test_the_short_form_has_a_foreign_processor_and_the_locale_and_writes_nothing(chosen):
    code, names, rows = chosen("--short")
    assert (code, rows) == (0, {})
    assert {name.partition("-")[0] for name in names} == {"cpu", "locale"}


def test_an_unknown_name_is_refused_with_those_that_are_known(chosen, capsys):
    with pytest.raises(SystemExit) as ended:
        chosen("locale", "mars")
    assert ended.value.code == 2
    assert "unknown surrounding mars; must be one of cpu-Haswell-1, " in capsys.readouterr().err


def test_failures_fail_the_command_and_a_missing_surrounding_does_not(chosen):
    assert chosen("locale", outcome=command.Outcome("", passed=5, failed=1))[0] == 1
    code, _, rows = chosen("locale", outcome=command.Outcome("not run: why"))
    assert (code, rows["`locale`"][-5:]) == (0, ("–", "–", "–", "–", "not run: why"))


def test_a_processor_that_openblas_does_not_know_is_not_mistaken_for_another():
    with pytest.raises(UnavailableError, match=r"instead|lacks"):
        places.processor("Abacus", 1)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="needs a processor with its instructions")
def test_the_processor_of_the_short_form_can_be_had():
    assert places.processor("Prescott", 1).variables["OPENBLAS_CORETYPE"] == "Prescott"


def test_tests_are_counted_by_how_they_end(tmp_path):
    (tmp_path / "test_some.py").write_text(
        "import os, pytest\n"
        "def test_passes(): assert os.environ['PLACE'] == 'elsewhere'\n"
        "def test_fails(): assert False\n"
        "def test_skips(): pytest.skip()\n"
        "def test_errs(nothing): pass\n",
        encoding="utf-8",
    )
    place = Place(Path(sys.executable), tmp_path, {"PLACE": "elsewhere"}, note="a note")
    outcome = command.run_in(place, ["test_some.py"], jobs=0)
    assert outcome == command.Outcome("a note", passed=1, failed=2, skipped=1)


def test_a_run_that_breaks_off_has_failed(tmp_path):
    outcome = command.run_in(Place(folder=tmp_path, options=("--no-such-option",)), [], jobs=0)
    assert (outcome.failed, outcome.note) == (1, "pytest did not finish")


def test_the_same_seed_gives_the_same_order_and_another_seed_another():
    names = [("a.py", number) for number in range(9)] + [("b.py", number) for number in range(9)]
    first, again, other = (shuffled(names, seed, lambda name: name[0]) for seed in (1, 1, 2))
    assert first == again != other
    assert sorted(first) == sorted(other) == names
    assert len({name[0] for name in first[:9]}) == 1
