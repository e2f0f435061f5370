"""``rankwise judge``: the command from its start to files that other commands read."""

import re
import signal
import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest

import rankwise
from command_line import folder, refused
from judging import ask, request, start_of
from rankwise.cli import main
from rankwise.judging.journal import Journal
from rankwise.judging.session import Session

__all__ = ["folder", "refused"]  # fixtures

COLUMNS = ["--qid", "query", "--doc", "sku", "--label", "grade"]


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A table of products, with text to show."""
    monkeypatch.chdir(tmp_path)
    data = rankwise.make_search_data(8, random_state=0)
    lines = ["query,sku,title,price,brand,grade"]
    for k in range(data.n_rows):
        brand, price = ["Acme", "Nord", ""][k % 3], data.X[k, 1]
        lines.append(f"shoes {data.qid[k]},{data.docs[k]},Shoe & <b>{k}</b>,{price},{brand},{data.y[k]:g}")
    (tmp_path / "shop.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def session(*arguments):
    """A session in a process of its own, what it said first, and where it listens."""
    command = [sys.executable, "-u", "-m", "rankwise", "judge", *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace"
    )
    first, second = process.stdout.readline(), process.stdout.readline()
    found = re.search(r"http://127\.0\.0\.1:(\d+)/([\w-]{32})/ ", second)
    assert found, first + second + process.stdout.read()
    return process, first, SimpleNamespace(server_port=int(found[1]), token=found[2])


def test_a_session_from_the_first_judgment_to_files_that_commands_read(shop):
    given = ["shop.csv", *COLUMNS, "--show", "title", "--exclude", "title", "--journal", "j"]
    process, first, place = session(*given, "--rater", "ann")
    assert first == "Judging shop.csv; the journal is j.\n"
    for k in range(24):
        found = ask(place, "next", {"other": k % 6 == 0, "pairs": k % 4 == 3})
        docs = found["task"]["docs"]
        said = {"kind": "above"} if len(docs) == 2 else {"kind": "grade", "grade": (k * 7) % 5}
        found = ask(place, "judge", {**said, "query": found["query"], "docs": docs})
    assert found["docs"][0]["shown"]["title"].startswith("Shoe & <b>")
    assert {one["column"] for one in found["why"]} == {"price", "brand"}
    _, model, _ = request(place, "model.safetensors", method="GET")
    _, judgments, _ = request(place, "judgments.csv", method="GET")
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0
    (shop / "live").write_bytes(model)
    assert main(["judge", *given, "--export", "files"]) == 0
    assert (shop / "files" / "judgments.csv").read_bytes() == judgments
    assert main(["predict", "shop.csv", "live", *COLUMNS]) == 0
    trained = ["train", "shop.csv", "model", *COLUMNS, "--columns", "auto", "--exclude", "title"]
    assert main([*trained, "--judgments", "files/judgments.csv", "--alpha", "1"]) == 0
    assert main([*trained, "--pairs", "files/pairs.csv", "--alpha", "1", "--learner", "rankrls"]) == 0
    audited = ["audit", "shop.csv", *COLUMNS, "--columns", "auto", "--exclude", "title"]
    assert main([*audited, "--judgments", "files/judgments.csv"]) == 0
    assert main(["raters", "files/ratings.csv"]) == 1  # one rater alone agrees with nobody


def test_journals_of_two_raters_are_compared_and_pooled(shop, capsys):
    grades = {"ann": [4, 2, 0, 1, 3, 0], "bob": [3, 2, 0, 2, 3, 1]}
    lines = []
    for rater, given in grades.items():
        start = start_of()
        documents = [
            (start.collection.name(q), r) for q in range(3) for r in start.collection.queries.rows_of(q)[:2]
        ]
        with Journal.resume(shop / rater) as journal:
            session = Session(start, journal, rater)
            for (query, row), grade in zip(documents, given, strict=True):
                said = {"query": query, "docs": [start.collection.docs[row]]}
                session.judge(said | {"kind": "grade", "grade": grade})
        assert main(["judge", "shop.csv", "--journal", rater, "--export", f"of-{rater}"]) == 0
        lines.append((shop / f"of-{rater}" / "ratings.csv").read_text(encoding="utf-8").splitlines())
    (shop / "both.csv").write_text("\n".join(lines[0] + lines[1][1:]), encoding="utf-8")
    capsys.readouterr()
    assert main(["raters", "both.csv", "--grades", "0,4", "--out", "pooled.csv"]) == 0
    assert "12 judgments of 6 documents by 2 raters" in capsys.readouterr().out
    assert len((shop / "pooled.csv").read_text(encoding="utf-8").splitlines()) == 1 + 6


def test_a_model_judges_a_table_without_labels(shop):
    lines = (shop / "shop.csv").read_text(encoding="utf-8").splitlines()
    new = [line.rsplit(",", 1)[0].replace("shoes", "boots") for line in lines]
    (shop / "new.csv").write_text("\n".join(new) + "\n", encoding="utf-8")
    trained = ["train", "shop.csv", "model", *COLUMNS, "--exclude", "title", "--columns", "auto"]
    assert main([*trained, "--alpha", "1", "--learner", "rankrls", "--set", "solver=primal"]) == 0
    process, first, place = session("new.csv", "model", *COLUMNS)
    assert first.startswith("Judging new.csv")
    scores = [one["score"] for one in ask(place, "next")["docs"]]
    assert scores[0] > scores[-1]
    process.kill()
    process.wait()


def test_a_session_goes_on_with_the_model_that_was_trained(folder, monkeypatch):
    monkeypatch.chdir(folder)
    process, _, place = session("test.txt", "model", "--journal", "test.jsonl")
    found = ask(place, "next")
    assert found["docs"][0]["score"] > found["docs"][-1]["score"]
    ask(place, "judge", {"query": found["query"], "docs": found["task"]["docs"], "kind": "grade", "grade": 4})
    process.kill()
    process.wait()
    process, first, place = session("test.txt", "model", "--journal", "test.jsonl")
    assert first == "Judging test.txt after entry 1; the journal is test.jsonl.\n"
    assert ask(place, "state")["counts"]["grades"] == 1
    process.kill()
    process.wait()


@pytest.mark.parametrize(
    ("arguments", "reason", "code"),
    [
        (["test.txt", "model", "--alpha", "2"], "--alpha is for sessions without MODEL", 2),
        (["test.txt", "model", "--columns", "auto"], "--columns is for sessions without MODEL", 2),
        (["test.txt", "--alpha", "0"], "alpha", 2),
        (["test.txt", "--show", "title"], "--show needs a table", 2),
        (["test.txt", "--journal", "train.txt.gz"], "train.txt.gz, line 1: ", 1),
        (["test.txt", "--journal", "test.txt"], "refusing to overwrite", 2),
        (["test.txt", "train.txt.gz"], "train.txt.gz", 1),
        (["test.txt", "--journal", "no/where"], "does not exist", 2),
        (["test.txt", "--export", "files"], "journal.jsonl", 1),
        (["test.txt", "--grades", "0"], "grades", 2),
        (["test.txt", "--journal", "/dev/null"], "/dev/null: a journal must be an ordinary file", 1),
        (["test.txt", "--journal", "/dev/zero"], "/dev/zero: a journal must be an ordinary file", 1),
    ],
    ids=str,
)
def test_mistakes_end_in_one_sentence(refused, arguments, reason, code):
    assert reason in refused("judge", *arguments, code=code)


def test_a_port_that_is_taken_is_named(refused):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refused("judge", "test.txt", "--journal", "port.jsonl", "--port", port, code=1)
    assert said == f"port {port}: Address already in use.\n"


def test_a_user_without_a_name_is_asked_for_one(refused, monkeypatch):
    def nobody():
        raise KeyError("getpwuid(): uid not found: 12345")

    monkeypatch.setattr("getpass.getuser", nobody)
    assert "--rater" in refused("judge", "test.txt", "--journal", "nobody.jsonl", code=2)
