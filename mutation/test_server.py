"""Runs pytest in forks of a process that has large packages imported: JSON lines in, exit statuses out.

The tests that notice a mutant often take less time than these imports. Neither rankwise nor the tests are
imported here, because a fork must read them with its mutant.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys

import pytest

# They import NumPy, SciPy, pandas and scikit-learn.
PRELOADED = ["hypothesis", "lightgbm", "sklearn.utils.estimator_checks", "typer"]


def main() -> None:
    # A process in the background ignores interrupts, and so would those that tests start to interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in PRELOADED:
        importlib.import_module(name)
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            _run(request["arguments"], request["environment"], request["log"])
        _, status = os.waitpid(child, 0)
        _kill_group(child)
        print(status, flush=True)


def _run(arguments: list[str], environment: dict[str, str], log: str) -> None:
    """Run tests in this process and end it, whatever happens."""
    os.setsid()
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.update(environment)
    status = 1
    try:
        status = int(pytest.main(arguments))
    finally:
        os._exit(status)


def _kill_group(leader: int) -> None:
    """End the processes that a test which was ended may have left behind."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return


if __name__ == "__main__":
    main()
