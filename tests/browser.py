"""A headless Chromium for tests, driven through a pipe by the DevTools protocol, without any package."""

import base64
import json
import os
import select
import shutil
import subprocess
import time

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SECONDS = 60


def find_chromium():
    """The path of a Chromium on this machine, or None."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One tab. Every console message, exception and request is kept in `events`."""

    def __init__(self, executable, profile):
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        options += ["--no-first-run", "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]

        def as_three_and_four():  # where Chromium expects the ends of the pipes
            read, write = os.dup(to_read), os.dup(to_write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self._process = subprocess.Popen(
            [executable, *options],
            preexec_fn=as_three_and_four,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # Chromium does not start with the sanitizers of `make sanitize` in its process.
            env={name: value for name, value in os.environ.items() if name != "LD_PRELOAD"},
        )
        os.close(to_read)
        os.close(to_write)
        self._buffer, self._number, self._session, self.events = b"", 0, None, []
        tabs = self("Target.getTargets")["targetInfos"]
        tab = next(one["targetId"] for one in tabs if one["type"] == "page")
        self._session = self("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self(f"{domain}.enable")

    def __call__(self, method, **parameters):
        """The result of a command of the protocol."""
        self._number += 1
        command = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            command["sessionId"] = self._session
        os.write(self._to, json.dumps(command).encode() + b"\0")
        while True:
            message = self._next()
            if message.get("id") == self._number:
                assert "error" not in message, message["error"]
                return message["result"]

    def _next(self):
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from], [], [], SECONDS)
            if not ready:
                self._process.kill()
                raise AssertionError("Chromium does not answer")
            received = os.read(self._from, 1 << 20)
            assert received, "Chromium ended"
            self._buffer += received
        line, self._buffer = self._buffer.split(b"\0", 1)
        message = json.loads(line)
        if "method" in message:
            self.events.append(message)
        return message

    def open(self, path):
        """Load a file, and wait until it is drawn; returns the seconds that took in the browser."""
        self.events.clear()
        self("Page.navigate", url=path.as_uri())
        end = time.monotonic() + SECONDS
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            assert time.monotonic() < end, "the page does not load"
            self._next()
        return self.js("performance.getEntriesByType('navigation')[0].loadEventEnd / 1000")

    def js(self, expression):
        """The value of an expression in the page."""
        found = self("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def press(self, key, code=None, text=None):
        for kind in ("keyDown", "keyUp"):
            more = {"text": text} if text and kind == "keyDown" else {}
            self("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, **more)

    def complaints(self):
        """Errors and warnings of the console, and exceptions."""
        kinds = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [event["params"] for event in self.events if event["method"] in kinds]

    def requests(self):
        """The addresses of everything that was requested."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def resize(self, width, height, *, mobile=False):
        size = {"width": width, "height": height, "deviceScaleFactor": 1}
        self("Emulation.setDeviceMetricsOverride", **size, mobile=mobile)

    def picture(self, path, width=1000, *, dark=False, mobile=False):
        """Save a picture of the whole page."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self("Emulation.setEmulatedMedia", features=scheme)
        self.resize(width, 900, mobile=mobile)
        self.resize(width, self.js("document.documentElement.scrollHeight"), mobile=mobile)
        path.write_bytes(base64.b64decode(self("Page.captureScreenshot")["data"]))

    def close(self):
        self._process.terminate()
        self._process.wait(SECONDS)
        os.close(self._to)
        os.close(self._from)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    executable = find_chromium()
    if executable is None:
        pytest.skip("there is no Chromium on this machine")
    started = Browser(executable, tmp_path_factory.mktemp("profile"))
    yield started
    started.close()


def count(browser, selector):
    return browser.js(f"document.querySelectorAll({json.dumps(selector)}).length")


def shown(browser, selector):
    return browser.js(f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.textContent)")


def number(text):
    return float(text.replace("−", "-"))
