"""The server of live judging: who may ask, what it takes, and what is left when it is killed."""

import http.client
import json
import os
import random
import resource
import signal
import socket
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import rankwise
from judging import ask, judging, request, start_of
from killed import exit_code, in_child
from rankwise.errors import DataError
from rankwise.judging.entries import Kind
from rankwise.judging.journal import Journal, read_journal
from rankwise.judging.server import LARGEST_BODY, JudgingServer
from rankwise.judging.session import Session
from rankwise.judging.starting import start_with_model, start_without_model
from stressed import KINDS, dense, stressed
from test_live_model import refit


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with judging(tmp_path_factory.mktemp("judging") / "journal") as (session, server):
        yield session, server


def first_task(server, **more):
    """A judgment of what the server asks for."""
    found = ask(server, "next", more)
    return {"query": found["query"], "docs": found["task"]["docs"], "kind": "grade", "grade": 2}


@pytest.mark.parametrize(
    ("refused", "status"),
    [
        ({"token": ""}, 404),
        ({"token": "x" * 32}, 404),
        ({"host": "evil.example"}, 403),
        ({"host": "127.0.0.1"}, 403),
        ({"host": "localhost.evil.example:80"}, 403),
        ({"headers": {"Origin": "http://evil.example"}}, 403),
        ({"headers": {"Origin": "null"}}, 403),
        ({"headers": {"Sec-Fetch-Site": "cross-site"}}, 403),
        ({"headers": {"Sec-Fetch-Site": "same-site"}}, 403),
        ({"headers": {"Content-Type": "text/plain"}}, 415),
        ({"headers": {"Content-Length": None}}, 411),
        ({"headers": {"Content-Length": "-1"}}, 411),
        ({"headers": {"Content-Length": "9" * 30}}, 413),
        ({"headers": {"Content-Length": None, "Transfer-Encoding": "chunked"}}, 415),
        ({"raw": b"x" * (LARGEST_BODY + 1)}, 413),
        ({"raw": b"x" * 10_000_000}, 413),
        ({"raw": b"{"}, 400),
        ({"raw": b"[1]"}, 400),
        ({"raw": b"[" * 60_000}, 400),
        ({"raw": b"\xff\xfe"}, 400),
    ],
    ids=str,
)
def test_requests_of_others_are_refused_and_change_nothing(served, refused, status):
    session, server = served
    before = session.version
    found, content, headers = request(server, "judge", first_task(server), **refused)
    assert found == status
    assert json.loads(content)["error"].endswith(".")
    assert session.version == before
    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize(
    "name",
    [
        *("../server.py", "..%2fserver.py", "%2e%2e/server.py", "..\\server.py", "server.py"),
        *("/etc/passwd", "../../../../etc/passwd", "\0", "journal", "judge"),
        *("judge.js/", "judge.js?x", "JUDGE.JS"),
    ],
)
def test_nothing_but_the_files_of_the_page_is_served(served, name):
    _, server = served
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as connection:
        lines = f"GET /{server.token}/{name} HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n"
        connection.sendall(f"{lines}Connection: close\r\n\r\n".encode())
        answer = connection.makefile("rb").read()
    assert answer.split()[1] in (b"404", b"400")
    assert b"class JudgingServer" not in answer
    assert b"root:" not in answer


def test_files_come_with_a_policy_that_allows_no_inline_script(served):
    _, server = served
    for name in ("", "judge.js", "judge.css", "page.css", "elements.js"):
        status, content, headers = request(server, name, method="GET")
        assert status == 200
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert server.token.encode() not in content
    assert b"<style" not in content
    assert server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "undo"},
        {"kind": None},
        {"kind": ["grade"]},
        {"query": "no such query"},
        {"query": 3},
        {"query": "\ud800"},
        {"docs": []},
        {"docs": ["no such document"]},
        {"docs": "d1"},
        {"docs": [1]},
        {"docs": ["a", "b", "c"]},
        {"grade": 5},
        {"grade": 1.5},
        {"grade": True},
        {"grade": "1"},
        {"grade": None},
        {"grade": [1]},
        {"kind": "above"},
    ],
    ids=str,
)
def test_what_is_no_judgment_is_refused_in_a_sentence(served, change):
    session, server = served
    before = session.version
    status, content, _ = request(server, "judge", first_task(server) | change)
    assert status == 400, content
    assert json.loads(content)["error"].strip()
    assert session.version == before
    for entry in (0, 10**9, "1", 1.0, True, -1):
        status, content, _ = request(server, "undo", {"entry": entry})
        assert status == 400, entry


def test_two_tabs_at_once_lose_nothing(tmp_path):
    path = tmp_path / "journal"

    def tab(server, seed):
        dice = random.Random(seed)
        for _ in range(30):
            found = ask(server, "next", {"other": dice.random() < 0.2, "pairs": seed == 1})
            docs = found["task"]["docs"]
            said = {"kind": "grade", "grade": dice.randrange(5)} if len(docs) == 1 else {"kind": "above"}
            ask(server, "judge", {**said, "query": found["query"], "docs": docs, "pairs": seed == 1})

    with judging(path, start_of(30)) as (session, server):
        tabs = [threading.Thread(target=tab, args=(server, seed)) for seed in range(2)]
        for one in tabs:
            one.start()
        for one in tabs:
            one.join()
        assert session.version == 60
        queries = session.collection.queries.query_of_row()
        expected = refit(session.collection.X, queries, session.model.said, session.model.alpha)
        np.testing.assert_allclose(session.model.coef, expected, atol=1e-9)
        kinds = [entry.kind for entry in read_journal(path)]
        assert kinds.count(Kind.GRADE) == kinds.count(Kind.ABOVE) == 30


def test_a_full_disk_is_said_and_judgments_go_on_once_there_is_room(tmp_path, monkeypatch):
    with judging(tmp_path / "journal") as (session, server):
        said = first_task(server)
        ask(server, "judge", said)
        write = os.write
        monkeypatch.setattr(os, "write", lambda handle, line: write(handle, line[:7]))
        status, content, _ = request(server, "judge", said | {"grade": 4})
        assert status == 507
        assert "Nothing was saved" in json.loads(content)["error"]
        assert "the disk is full" in json.loads(content)["error"]
        assert json.loads(content)["full"]
        monkeypatch.undo()
        assert len(read_journal(tmp_path / "journal")) == session.version == 1
        assert ask(server, "judge", said | {"grade": 4})["version"] == 2


def test_a_resumed_session_has_the_same_model(tmp_path):
    path = tmp_path / "journal"
    with judging(path) as (session, server):
        for _ in range(30):
            ask(server, "judge", first_task(server))
        ask(server, "undo", {})
        coef, counts = session.model.coef, ask(server, "next")["counts"]
    with judging(path) as (session, server):
        np.testing.assert_allclose(session.model.coef, coef, rtol=1e-10)
        assert ask(server, "next")["counts"] == counts
    path.write_bytes(path.read_bytes().replace(b'"docs": ["', b'"docs": ["x'))
    with pytest.raises(DataError, match=r"journal, line 1: the query .* has no document"), judging(path):
        pass


def test_a_skip_is_no_random_judgment(tmp_path):
    with judging(tmp_path / "journal") as (session, server):
        query = session.collection.name(min(session.chooser.reserve))
        docs = ask(server, "next", {"query": query})["task"]["docs"]
        found = ask(server, "judge", {"query": query, "docs": docs, "kind": "skip"})
        assert found["counts"] == {"grades": 0, "pairs": 0, "skips": 1, "random": 0}
        said = {"query": query, "docs": found["task"]["docs"], "kind": "grade", "grade": 1}
        assert ask(server, "judge", said)["counts"]["random"] == 1
        # Judged again, it was still drawn at random, so the estimate keeps it.
        ask(server, "judge", said | {"grade": 2})
        assert session.judgments.about((query, tuple(said["docs"]))).is_random


def test_past_judgments_come_in_parts(tmp_path):
    with judging(tmp_path / "journal") as (session, server):
        for _ in range(60):
            ask(server, "judge", first_task(server))
        first = ask(server, "state")
        assert [entry["number"] for entry in first["entries"]] == list(range(60, 10, -1))
        rest = ask(server, "state", {"before": 11})
        assert [entry["number"] for entry in rest["entries"]] == list(range(10, 0, -1))
        assert (first["more"], rest["more"]) == (True, False)
        assert session.version == 60


def test_blind_answers_hold_no_scores_and_the_same_order_whatever_the_model_is(tmp_path):
    with judging(tmp_path / "journal") as (_, server):
        said = first_task(server)
        orders = []
        for grade in (0, 4):
            found = ask(server, "judge", said | {"grade": grade, "blind": True})
            orders.append([one["doc"] for one in found["docs"]])
            assert "why" not in found
            assert not {"score", "rank", "moved"} & {key for one in found["docs"] for key in one}
        assert orders[0] == orders[1]


@pytest.mark.parametrize("learned", [True, False], ids=["queries it learned", "other queries"])
def test_judging_begins_with_what_a_model_learned(tmp_path, learned):
    data = rankwise.make_search_data(20, random_state=2)
    known, others = (data.select(queries=some) for some in np.split(data.queries.labels, [8]))
    judged = known if learned else others
    ranker = rankwise.RankRLS(0.5, solver="primal").fit(known)
    start = start_with_model(judged, ranker.model_, shown={})
    assert len(start.grades) == (known.n_rows if learned else 0)
    with Journal.resume(tmp_path / "journal") as journal:
        session = Session(start, journal, "ann", random_state=0)
        np.testing.assert_allclose(session.model.coef, ranker.coef_, atol=1e-10)
        rows, grades = judged.queries.rows_of(1)[:3], [1.0, 0.0, 2.0]
        for row, grade in zip(rows.tolist(), grades, strict=True):
            names = {"query": str(judged.qid[row]), "docs": [str(judged.docs[row])]}
            session.judge({"kind": "grade", "grade": grade, **names})
    X, y, qid = known.X, known.y.copy(), known.qid
    if learned:  # replaced are these grades, and no others
        y[rows] = grades
    else:
        X, y = np.vstack([X, others.X[rows]]), np.append(y, grades)
        qid = np.append(qid, others.qid[rows])
    expected = rankwise.RankRLS(0.5).fit(X, y, qid).coef_
    np.testing.assert_allclose(session.model.coef, expected, atol=1e-9)


def test_a_model_that_cannot_be_judged_is_refused_with_the_reason():
    data = rankwise.make_search_data(12, random_state=2)
    refused = {
        "has no moments": rankwise.RankSVM().fit(data),
        "monotonic_cst": rankwise.RankRLS(monotonic_cst=[1] * data.n_features, solver="primal").fit(data),
        "learned the query": rankwise.RankRLS(solver="primal").fit(data.X, data.y + 1.0, data.qid),
    }
    for reason, ranker in refused.items():
        with pytest.raises(DataError, match=reason):
            start_with_model(data, ranker.model_, shown={})
    unnamed = rankwise.RankingData.from_arrays(data.X, data.y, data.qid)
    with pytest.raises(DataError, match="no document labels"):
        start_without_model(unnamed, shown={})
    constant = rankwise.RankingData.from_arrays(np.ones((4, 2)), [0] * 4, [0, 0, 1, 1], ["a", "b"] * 2)
    with pytest.raises(DataError, match="No two documents of a query differ"):
        start_without_model(constant, shown={})


def serve_and_say_where(path, pipe):
    with Journal.resume(path) as journal, JudgingServer(Session(start_of(), journal, "ann")) as server:
        os.write(pipe, f"{server.server_port} {server.token}\n".encode())
        server.serve()


def judge_until_killed(place, documents, dice, acknowledged):
    """Judge documents, some twice, and note what was acknowledged, until the server does not answer."""
    try:
        while True:
            query, doc = dice.choice(documents)
            body = {"query": query, "docs": [doc], "kind": "grade", "grade": dice.randrange(5)}
            acknowledged.append((ask(place, "judge", body)["version"], body))
    except (OSError, http.client.HTTPException):
        return


def test_a_session_killed_at_any_moment_has_all_that_it_acknowledged(tmp_path):
    path, dice, acknowledged = tmp_path / "journal", random.Random(4), []
    data = rankwise.make_search_data(12, random_state=0)
    documents = [*zip(map(str, data.qid), data.docs.tolist(), strict=True)]
    for _ in range(20):
        reading, writing = os.pipe()
        child = in_child(serve_and_say_where, path, writing)
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as said:
            port, token = said.readline().split()
        kill = threading.Timer(dice.uniform(0.02, 0.3), os.kill, (child, signal.SIGKILL))
        kill.start()
        judge_until_killed(SimpleNamespace(server_port=int(port), token=token), documents, dice, acknowledged)
        assert exit_code(child) == -signal.SIGKILL
    entries = read_journal(path)
    assert len(acknowledged) > 10
    for version, body in acknowledged:
        entry = entries[version - 1]
        assert (entry.query, entry.docs, entry.grade) == (body["query"], tuple(body["docs"]), body["grade"])
    # At most one judgment of each session was written, but not acknowledged.
    assert len(entries) <= len(acknowledged) + 20
    with Journal.resume(path) as journal:
        model = Session(start_of(), journal, "ann").model
    X, queries = model.loss.X, start_of().collection.queries
    expected = refit(X, queries.query_of_row(), model.said, model.alpha)
    np.testing.assert_allclose(model.coef, expected, atol=1e-9)


def resident():
    """The megabytes that this process has in memory."""
    return (
        int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * resource.getpagesize() / 2**20
    )


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
def test_memory_is_steady(tmp_path):
    with Journal.resume(tmp_path / "journal") as journal:
        session, sizes = Session(start_of(), journal, "ann", random_state=0), []
        said = {"query": session.next({})["query"], "kind": "grade"}
        docs = [one["doc"] for one in session.next(said)["docs"]]
        for _ in range(3):
            for k in range(100):
                session.judge(said | {"docs": [docs[k % len(docs)]], "grade": k % 5})
            session.measure(0.0)
            sizes.append(resident())
    assert sizes[2] - sizes[1] < 2.0


@pytest.mark.parametrize("kind", [*KINDS])
def test_rows_that_are_not_nice_are_shown_in_the_order_of_a_refit(tmp_path, kind):
    X, y, qid = stressed(kind)
    data = rankwise.RankingData.from_arrays(X, y, qid, docs=np.arange(len(y)))
    dice = random.Random(1)
    with Journal.resume(tmp_path / "journal") as journal:
        session = Session(start_without_model(data, shown={}), journal, "ann", random_state=0)
        for k in range(24):
            view = session.next({"pairs": k % 4 == 3, "other": dice.random() < 0.4})
            if view["done"] or view["task"] is None:
                continue
            docs = view["task"]["docs"]
            said = {"kind": "above"} if len(docs) == 2 else {"kind": "grade", "grade": dice.randrange(5)}
            view = session.judge({**said, "query": view["query"], "docs": docs})
            rows = data.queries.rows_of(session.collection.query(view["query"]))
            expected = refit(X, data.queries.query_of_row(), session.model.said, session.model.alpha)
            if expected is not None:
                scores = dict(zip(map(str, rows.tolist()), dense(X)[rows] @ expected, strict=True))
                shown = [scores[one["doc"]] for one in view["docs"]]
                assert (np.diff(shown) <= 1e-6 * max(np.ptp(shown), 1e-9)).all()
        assert session.measure(0.0)
