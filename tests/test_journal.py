"""Journals: what is acknowledged is on the disk, what is undone does not count, what is torn is removed."""

import os
import random
import re
import resource
import signal
import time

import pytest

from killed import exit_code, in_child
from rankwise.errors import DataError, FileFormatError
from rankwise.judging.entries import LONGEST_LINE, Entry, Kind, Reason, now
from rankwise.judging.in_effect import Judgments
from rankwise.judging.journal import Journal, read_journal


def grade(number, doc="d1", value=1.0, rater="ann", query="q"):
    return Entry(number, now(), rater, Kind.GRADE, query, (doc,), grade=value)


def undo(number, undone, rater="ann"):
    return Entry(number, now(), rater, Kind.UNDO, undone=undone)


def grade_of(judgments, doc="d1", query="q"):
    return judgments.about((query, (doc,))).grade


def test_a_journal_returns_what_was_appended(tmp_path):
    above = Entry(2, now(), "bob", Kind.ABOVE, 'a "query"\n\u2028é', ("d2", "d1"), reason=Reason.RANDOM)
    with Journal.resume(tmp_path / "journal") as journal:
        for entry in (grade(1), above, undo(3, 2)):
            journal.append(entry)
        assert read_journal(tmp_path / "journal") == journal.entries
    with Journal.resume(tmp_path / "journal") as journal:
        assert journal.entries[1] == above
        journal.append(grade(4))
    assert [entry.number for entry in read_journal(tmp_path / "journal")] == [1, 2, 3, 4]


def test_a_torn_last_line_is_removed_and_any_other_is_refused(tmp_path):
    path = tmp_path / "journal"
    lines = [grade(1).line(), grade(2).line()]
    for end in range(len(lines[1])):
        path.write_bytes(lines[0] + lines[1][:end])
        with Journal.resume(path) as journal:
            assert len(journal.entries) == 1
        assert path.read_bytes() == lines[0]
    others = (b"qid,doc,label\n", b"a letter without an end", lines[1] + lines[0], b"{}\n", b"[[1]]\n")
    for wrong in (*others, bytes(2 * LONGEST_LINE), lines[0][:-1] + b" " * LONGEST_LINE):
        path.write_bytes(wrong)
        with pytest.raises(FileFormatError, match="journal, line 1: "):
            Journal.resume(path)
        assert path.read_bytes() == wrong


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "praise"},
        {"docs": []},
        {"docs": ["a", "a"], "kind": "same"},
        {"grade": 1e9},
        {"grade": True},
        {"grade": "1"},
        {"number": 7},
        {"query": 3},
        {"more": 1},
        {"undone": 1},
        {"rater": None},
    ],
    ids=str,
)
def test_a_line_that_is_no_entry_is_refused_with_its_number(tmp_path, change):
    import json

    path = tmp_path / "journal"
    fields = json.loads(grade(2).line())
    path.write_bytes(grade(1).line() + json.dumps({**fields, **change}).encode() + b"\n")
    with pytest.raises(FileFormatError, match="journal, line 2: "):
        read_journal(path)


def test_a_journal_is_open_in_one_session_only(tmp_path):
    path, words = tmp_path / "journal", "another session has this journal open"
    with Journal.resume(path), pytest.raises(DataError, match=words):
        Journal.resume(path)


def append_and_say(path, pipe):
    journal = Journal.resume(path)
    while True:
        journal.append(grade(len(journal.entries) + 1, f"d{len(journal.entries)}"))
        os.write(pipe, b"%d\n" % len(journal.entries))


def test_every_acknowledged_entry_survives_a_kill(tmp_path):
    path, dice = tmp_path / "journal", random.Random(1)
    for _ in range(20):
        reading, writing = os.pipe()
        child = in_child(append_and_say, path, writing)
        os.close(writing)
        os.read(reading, 8)  # it has begun
        time.sleep(dice.uniform(0.0, 0.02))
        os.kill(child, signal.SIGKILL)
        assert exit_code(child) == -signal.SIGKILL
        with os.fdopen(reading, "rb") as said:
            acknowledged = len(read_journal(path)), [int(line) for line in said.read().split()]
        written, numbers = acknowledged
        assert written - 1 <= (numbers or [written])[-1] <= written
    docs = [entry.docs for entry in read_journal(path)]
    assert docs == [(f"d{k}",) for k in range(len(docs))]


def fill(path):
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    journal = Journal.resume(path)
    with pytest.raises(OSError, match=re.escape(str(path))):
        while True:
            journal.append(grade(len(journal.entries) + 1))
    assert journal.entries == read_journal(path)
    assert path.read_bytes().endswith(b"\n")
    os._exit(3)


def test_a_full_disk_leaves_whole_entries_and_says_where(tmp_path):
    assert exit_code(in_child(fill, tmp_path / "journal")) == 3


def test_nothing_follows_half_a_line_that_cannot_be_removed(tmp_path, monkeypatch):
    def broken(*_):
        raise OSError(5, "Input/output error")

    with Journal.resume(tmp_path / "journal") as journal:
        journal.append(grade(1))
        with monkeypatch.context() as disk:
            disk.setattr(os, "fsync", broken)
            disk.setattr(os, "ftruncate", broken)
            with pytest.raises(OSError, match="Input/output error"):
                journal.append(grade(2))
        with pytest.raises(DataError, match="accepts no more judgments"):
            journal.append(grade(2))
        assert len(journal.entries) == 1


def test_a_later_grade_replaces_an_earlier_one_of_the_same_rater():
    judgments = Judgments([grade(1, value=1.0), grade(2, value=3.0), grade(3, value=2.0, rater="bob")])
    assert grade_of(judgments) == 2.5


def test_undoing_brings_back_what_was_before_and_can_be_undone():
    judgments = Judgments([grade(1, value=1.0), grade(2, value=3.0)])
    judgments.add(undo(3, 2))
    assert grade_of(judgments) == 1.0
    judgments.add(undo(4, 1))
    assert grade_of(judgments) is None
    judgments.add(undo(5, 3))
    assert grade_of(judgments) == 3.0
    for again in (1, 3, 5):
        with pytest.raises(DataError, match=f"Entry {again} cannot be undone"):
            judgments.check(undo(6, again))
    assert judgments.last.number == 2


def test_a_skip_takes_a_grade_back():
    skip = Entry(2, now(), "ann", Kind.SKIP, "q", ("d1",))
    judgments = Judgments([grade(1), skip])
    assert grade_of(judgments) is None
    assert judgments.about(("q", ("d1",))).entries == (skip,)
