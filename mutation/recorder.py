"""A pytest plugin that either records which lines each test runs, or runs chosen tests under a time limit.

The environment says which, because worker processes inherit it: MUTATION_RECORD names the folder for the
records, MUTATION_CHOSEN a JSON file of tests with their limits in seconds.
"""

from __future__ import annotations

import faulthandler
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

SECONDS_TO_COLLECT = 300.0


def pytest_configure(config: pytest.Config) -> None:
    hypothesis.settings.register_profile("mutation", derandomize=True, database=None, deadline=None)
    hypothesis.settings.load_profile("mutation")
    if "MUTATION_RECORD" in os.environ:
        config.pluginmanager.register(Recorder(Path(os.environ["MUTATION_RECORD"]), config.rootpath))
    if "MUTATION_CHOSEN" in os.environ:
        config.pluginmanager.register(Chosen(json.loads(Path(os.environ["MUTATION_CHOSEN"]).read_text())))


class Recorder:
    """Writes a line of JSON per test: its name, seconds, whether it passed, and the source lines it ran."""

    def __init__(self, folder: Path, root: Path) -> None:
        import coverage

        self._root = root
        self._file = (folder / f"{os.getpid()}.jsonl").open("a", encoding="utf-8")
        self._coverage = coverage.Coverage(data_file=None, source=[str(root / "src")], config_file=False)
        self._coverage.set_option("run:disable_warnings", ["no-data-collected"])
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Iterator[None]:
        # What a test file runs on import counts for all its tests.
        result = yield
        if isinstance(collector, pytest.Module):
            self._write(collector.nodeid)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: pytest.FixtureRequest) -> Iterator[None]:
        if fixturedef.scope == "function":
            return (yield)
        # A test further down may look at what the first one set up.
        test = request._pyfuncitem.nodeid
        self._write(test)
        result = yield
        self._write(test.partition("::")[0])
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._write("")
        start = sum(os.times()[:4])  # of the processor, also in processes that the test starts
        result = yield
        self._write(item.nodeid, sum(os.times()[:4]) - start)
        return result

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._file.write(json.dumps({"failed": report.nodeid}) + "\n")

    def pytest_unconfigure(self) -> None:
        self._coverage.stop()
        self._file.close()

    def _write(self, name: str, seconds: float = 0.0) -> None:
        """Attribute all lines since the last call to `name`."""
        # Started anew each time, because a test may have installed a tracer of its own.
        self._coverage.stop()
        data = self._coverage.get_data()
        lines = {
            Path(path).relative_to(self._root).as_posix(): sorted(data.lines(path) or [])
            for path in data.measured_files()
        }
        lines = {path: numbers for path, numbers in lines.items() if numbers}
        if name and (lines or seconds):
            self._file.write(json.dumps({"test": name, "seconds": seconds, "lines": lines}) + "\n")
            self._file.flush()
        self._coverage.erase()
        self._coverage.start()


class Chosen:
    """Runs the chosen tests in their order, and ends the process when one takes longer than its limit."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self._seconds = seconds
        self._limit(SECONDS_TO_COLLECT)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        found = {item.nodeid: item for item in items}
        items[:] = [found[test] for test in self._seconds]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._limit(self._seconds[item.nodeid])
        result = yield
        self._limit(SECONDS_TO_COLLECT)
        return result

    def _limit(self, seconds: float) -> None:
        # Unlike a signal, this also ends a kernel that never returns.
        faulthandler.dump_traceback_later(seconds, exit=True)
