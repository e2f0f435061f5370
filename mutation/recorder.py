"""A pytest plugin that either records which lines each test runs, or runs chosen tests under a time limit.

The environment says which, because worker processes inherit it: MUTATION_RECORD names the folder for the
records, MUTATION_CHOSEN a JSON file of tests with their limits in seconds.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

SECONDS_TO_COLLECT = 100.0
WAITS = 10.0


def pytest_configure(config: pytest.Config) -> None:
    hypothesis.settings.register_profile("mutation", derandomize=True, database=None, deadline=None)
    hypothesis.settings.load_profile("mutation")
    if "MUTATION_RECORD" in os.environ:
        config.pluginmanager.register(Recorder(Path(os.environ["MUTATION_RECORD"]), config.rootpath))
    if "MUTATION_CHOSEN" in os.environ:
        config.pluginmanager.register(
            Chosen(json.loads(Path(os.environ["MUTATION_CHOSEN"]).read_text(encoding="utf-8")))
        )


class Recorder:
    """Writes a line of JSON per test: its name, processor seconds, and the source lines it ran."""

    def __init__(self, folder: Path, root: Path) -> None:
        import coverage

        self._path, self._root = folder / f"{os.getpid()}.jsonl", root
        self._seconds: dict[str, float] = {}
        self._failed: list[str] = []
        self._coverage = coverage.Coverage(data_file=None, include=[f"{root}/src/*"], config_file=False)
        self._coverage.start()
        self._tracer = sys.gettrace()

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Iterator[None]:
        # What a test file runs on import counts for all its tests.
        if isinstance(collector, pytest.Module):
            self._coverage.switch_context(collector.nodeid)
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: pytest.FixtureRequest) -> Iterator[None]:
        if fixturedef.scope == "function":
            return (yield)
        # A test further down may look at what the first one set up.
        test = request._pyfuncitem.nodeid
        self._coverage.switch_context(test.partition("::")[0])
        result = yield
        self._coverage.switch_context(test)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._coverage.switch_context(item.nodeid)
        start = sum(os.times()[:4])  # also in processes that the test starts
        result = yield
        self._seconds[item.nodeid] = sum(os.times()[:4]) - start
        if sys.gettrace() is not self._tracer:
            sys.settrace(self._tracer)  # the test had installed its own
        return result

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        # Any later, and a worker that takes long to write would be ended before it has.
        self._coverage.stop()
        data = self._coverage.get_data()
        lines: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for path in data.measured_files():
            name = Path(path).relative_to(self._root).as_posix()
            for line, tests in data.contexts_by_lineno(path).items():
                for test in tests:
                    lines[test][name].append(line)
        with self._path.open("w", encoding="utf-8") as file:
            for test in lines.keys() | self._seconds.keys():
                record = {"test": test, "seconds": self._seconds.get(test, 0.0), "lines": lines[test]}
                file.write(json.dumps(record) + "\n")
            for test in self._failed:
                file.write(json.dumps({"failed": test}) + "\n")


class Chosen:
    """Runs the chosen tests in their order, and ends the process when one exceeds its limit."""

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
        # In processor time, whatever else the machine does; SIGPROF ends even a kernel that never returns.
        signal.setitimer(signal.ITIMER_PROF, seconds)
        # A test that only waits uses none.
        faulthandler.dump_traceback_later(WAITS * seconds, exit=True)
