"""The page of a session, served to this machine only.

The standard library's server, since all it has to do is serve four small files and answer one person's
requests: it is here wherever Python is. What a framework would add, this module refuses. Every address begins
with a secret token, so other users and programs of the machine cannot guess one; the Host header must be this
server's, so no foreign name can be made to lead here (DNS rebinding); requests of pages of other origins are
refused; and nothing but a fixed list of names is served.
"""

from __future__ import annotations

import json
import secrets
import socket
import sys
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from rankwise.errors import RankwiseError
from rankwise.files import FULL
from rankwise.judging.saving import TABLES
from rankwise.judging.session import Session

HOST = "127.0.0.1"
# A judgment takes a few hundred bytes.
LARGEST_BODY = 1 << 16
# Seconds that a client may stay silent.
PATIENCE = 60.0

_FILES = {
    "": ("judge.html", "text/html"),
    "judge.js": ("judge.js", "text/javascript"),
    "judge.css": ("judge.css", "text/css"),
    # Colors and the making of elements are those of reports.
    "page.css": ("../report/page.css", "text/css"),
    "elements.js": ("../report/elements.js", "text/javascript"),
}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",  # the address holds the token
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class RefusedRequestError(Exception):
    """A request that is answered with an error; `args` are the status and a sentence."""


class JudgingServer(ThreadingHTTPServer):
    """Serves one session on this machine, each connection in a thread of its own.

    Parameters
    ----------
    session : Session
    port : int
        0 for any that is free.
    token : str, optional
        A new one by default.
    """

    daemon_threads = True
    # Who else listens there would get half of the requests.
    allow_reuse_port = False

    def __init__(self, session: Session, port: int = 0, token: str | None = None) -> None:
        self.session = session
        self.token = secrets.token_urlsafe(24) if token is None else token
        super().__init__((HOST, port), _Handler)
        names = (f"{name}:{self.server_port}" for name in (HOST, "localhost"))
        self.hosts = frozenset(names)

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    def serve(self) -> None:
        """Serve until an interrupt, and measure the reserve in the background."""
        threading.Thread(target=self._measure, daemon=True).start()
        self.serve_forever()

    def _measure(self) -> None:
        while True:
            self.session.measure()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing where a client has gone; anything else is a defect, and shown on the terminal."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    def server_bind(self) -> None:
        # `HTTPServer` looks the name up, which can take seconds.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self.socket.bind(self.server_address)
        except OSError as error:
            error.filename = f"port {self.server_address[1]}"
            raise
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = HOST, int(self.server_address[1])


class _Handler(BaseHTTPRequestHandler):
    server: JudgingServer
    protocol_version = "HTTP/1.1"  # connections stay open, which saves a few milliseconds per judgment
    server_version, sys_version = "rankwise", ""
    timeout = PATIENCE
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def log_message(self, *_: Any) -> None:
        """Say nothing on the terminal: addresses hold the token."""

    def _answer(self, method: Callable[[str], tuple[bytes, str, dict[str, str]]]) -> None:
        status = HTTPStatus.OK
        more: dict[str, str] = {}
        try:
            content, kind, more = method(self._checked_name())
        except RefusedRequestError as refused:
            status, sentence = refused.args
            self.close_connection = True  # whatever follows was not read
            content, kind = _json({"error": sentence}), "application/json"
        except RankwiseError as error:
            status, content, kind = HTTPStatus.BAD_REQUEST, _json({"error": str(error)}), "application/json"
        except OSError as error:
            if isinstance(error, ConnectionError | TimeoutError):
                raise
            status, kind = HTTPStatus.INSUFFICIENT_STORAGE, "application/json"
            full = error.errno in FULL
            reason = "the disk is full" if full else error.strerror or str(error)
            content = _json({"error": f"Nothing was saved: {error.filename}: {reason}.", "full": full})
        self.send_response(status)
        for name, value in {**_HEADERS, **more, "Content-Type": f"{kind}; charset=utf-8"}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)

    def _checked_name(self) -> str:
        """What is asked for, below the token."""
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or hosts[0] not in self.server.hosts:
            raise RefusedRequestError(HTTPStatus.FORBIDDEN, "This host name is not accepted.")
        origin, site = self.headers.get("Origin"), self.headers.get("Sec-Fetch-Site")
        ours = {f"http://{host}" for host in self.server.hosts}
        if (origin is not None and origin not in ours) or site not in (None, "none", "same-origin"):
            raise RefusedRequestError(HTTPStatus.FORBIDDEN, "Requests from other pages are not accepted.")
        slash, token, *rest = self.path.split("/", 2)
        if slash or not rest or not secrets.compare_digest(token.encode(), self.server.token.encode()):
            raise RefusedRequestError(
                HTTPStatus.NOT_FOUND, "This address is incomplete; use the one that the terminal shows."
            )
        return rest[0]

    def _get(self, name: str) -> tuple[bytes, str, dict[str, str]]:
        if name in _FILES:
            file, kind = _FILES[name]
            return (Path(__file__).parent / file).read_bytes(), kind, {}
        session = self.server.session
        if name in session.files:
            kind = "text/csv" if name in TABLES else "application/octet-stream"
            return session.file(name), kind, {"Content-Disposition": f'attachment; filename="{name}"'}
        raise RefusedRequestError(HTTPStatus.NOT_FOUND, "There is no such page.")

    def _post(self, name: str) -> tuple[bytes, str, dict[str, str]]:
        session = self.server.session
        answers = {
            "about": lambda _: session.about(),
            "next": session.next,
            "judge": session.judge,
            "undo": session.undo,
            "state": session.state,
        }
        if name not in answers:
            raise RefusedRequestError(HTTPStatus.NOT_FOUND, "There is no such page.")
        return _json(answers[name](self._body())), "application/json", {}

    def _body(self) -> dict[str, Any]:
        length, kind = self.headers.get("Content-Length", ""), self.headers.get_content_type()
        if kind != "application/json" or "Transfer-Encoding" in self.headers:
            raise RefusedRequestError(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Expected JSON with a Content-Length."
            )
        if not (length.isascii() and length.isdigit()):
            raise RefusedRequestError(HTTPStatus.LENGTH_REQUIRED, "Expected JSON with a Content-Length.")
        if len(length) > 9 or int(length) > LARGEST_BODY:
            raise RefusedRequestError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"A judgment has at most {LARGEST_BODY:,} bytes."
            )
        try:
            body = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            raise RefusedRequestError(HTTPStatus.BAD_REQUEST, "Expected JSON.") from None
        if not isinstance(body, dict):
            raise RefusedRequestError(HTTPStatus.BAD_REQUEST, "Expected a JSON object.")
        return body


def _json(content: Any) -> bytes:
    # Half of a surrogate pair, which a name may hold, is escaped.
    return json.dumps(content, ensure_ascii=True, allow_nan=False).encode()
