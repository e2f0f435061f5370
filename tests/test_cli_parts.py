"""Small parts of the command line."""

import math
import re

import pytest

from rankwise.cli import screen
from rankwise.cli.learners import parse_choices, parse_numbers
from rankwise.errors import ParameterError
from rankwise.rendering import html_table, text_table


def test_numbers_powers_and_ranges_of_powers_are_read():
    assert parse_numbers("0.1, 1e3,2^-2") == [0.1, 1000.0, 0.25]
    assert parse_numbers("2^-1..2^2,5") == [0.5, 1.0, 2.0, 4.0, 5.0]
    assert parse_numbers("10^-2..10^-2") == [0.01]


@pytest.mark.parametrize("text", ["", "x", "1,,2", "2^1..3^2", "2^0.5..2^2", "2^3..2^1", "1..2..3", "2^^3"])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(ParameterError, match="got '"):
        parse_numbers(text)


@pytest.mark.parametrize("text", ["10^1000", "2^1..2^99999", "0^-1", "-8^0.5"])
def test_a_power_that_is_no_finite_number_is_refused(text):
    with pytest.raises(ParameterError, match="a finite value; got '"):
        parse_numbers(text)


def test_one_choice_stays_one_and_several_become_a_list():
    assert parse_choices(None) is None
    assert parse_choices("keep") == "keep"
    assert parse_choices("keep, drop") == ["keep", "drop"]


def test_text_html_and_screen_write_a_cell_alike(capsys):
    cells = {"text": "text", 3: "3", 0.25: "0.2500", -1e-5: "-1.00e-05", math.nan: "–", None: "–"}
    header = [f"c{k}" for k in range(len(cells))]
    html = html_table(header, [list(cells)])
    assert re.findall("<td[^>]*>([^<]*)</td>", html) == list(cells.values())
    assert text_table(header, [list(cells)]).splitlines()[1].split() == list(cells.values())
    screen.show_table("title", header, [list(cells)])
    assert capsys.readouterr().out.splitlines()[2].split() == list(cells.values())


def test_columns_of_text_stand_to_the_left_and_all_others_to_the_right():
    rows = [("a", 1.0, "x"), ("bcd", 12.5, None)]
    assert text_table(["n", "v", "w"], rows) == "n          v  w\na     1.0000  x\nbcd  12.5000  –"
    assert html_table(["n", "v"], [row[:2] for row in rows], best=1) == (
        '<table>\n<thead><tr><th class="text">n</th><th>v</th></tr></thead>\n<tbody>\n'
        '<tr><td class="text">a</td><td>1.0000</td></tr>\n'
        '<tr class="best"><td class="text">bcd</td><td>12.5000</td></tr>\n</tbody>\n</table>'
    )


def test_a_table_too_wide_for_the_terminal_folds_text_but_never_cuts_a_number(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    columns = ["name", "first long header", "second long header"]
    screen.show_table("Wide", columns, [("a" * 30, 0.1234, -5.6789), ("short", 1.0, 2.0)])
    shown = re.sub("\x1b\\[[0-9]*m", "", capsys.readouterr().out)
    assert {"0.1234", "-5.6789", "first", "header"} <= set(shown.split())
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= 40


def test_a_long_list_is_shown_by_its_ends(capsys):
    screen.show_facts("model", {"alphas": [float(k) for k in range(31)]})
    assert "0, 1, ..., 30 (31 in total)" in capsys.readouterr().out
