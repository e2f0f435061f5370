"""Sessions of judging for tests: a server in this process, and clients that may be anything but a browser."""

import http.client
import json
import threading
from contextlib import contextmanager, suppress

import rankwise
from rankwise.judging.journal import Journal
from rankwise.judging.server import JudgingServer
from rankwise.judging.session import Session
from rankwise.judging.starting import start_without_model


def start_of(n_queries=12, seed=0, **more):
    """Rows to judge, with a column that raters see."""
    data = rankwise.make_search_data(n_queries, random_state=seed)
    titles = [f"title of {doc}" for doc in data.docs.tolist()]
    return start_without_model(data, **{"shown": {"title": titles}, **more})


@contextmanager
def judging(path, start=None, rater="ann", **more):
    """A session, and the server of its page."""
    with Journal.resume(path) as journal:
        session = Session(start or start_of(), journal, rater, random_state=0, **more)
        with JudgingServer(session) as server:
            thread = threading.Thread(target=server.serve)
            thread.start()
            try:
                yield session, server
            finally:
                server.shutdown()
                thread.join()


def request(server, name, body=None, *, method="POST", token=None, host=None, raw=None, headers=None):
    """The status and the content of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    connection.putrequest(
        method,
        f"/{server.token if token is None else token}/{name}",
        skip_host=True,
        skip_accept_encoding=True,
    )
    content = raw if raw is not None else json.dumps(body or {}).encode()
    given = {"Host": host or f"127.0.0.1:{server.server_port}", "Content-Type": "application/json"}
    given |= {} if method == "GET" else {"Content-Length": str(len(content))}
    for key, value in {**given, **(headers or {})}.items():
        if value is not None:
            connection.putheader(key, value)
    connection.endheaders()
    if method != "GET":
        with suppress(BrokenPipeError, ConnectionResetError):  # refused before all of it was read
            connection.send(content)
    try:
        response = connection.getresponse()
        return response.status, response.read(), dict(response.getheaders())
    finally:
        connection.close()


def ask(server, name, body=None, **more):
    """The answer to a request that must succeed."""
    status, content, _ = request(server, name, body, **more)
    assert status == 200, content
    return json.loads(content)
