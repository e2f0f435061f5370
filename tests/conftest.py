"""Fixtures shared by all tests."""

import gc
import os
import random
import signal
from importlib.util import find_spec
from pathlib import Path

import hypothesis
import pytest

from rankwise.columns.context import warn_of_context

# However slow the machine is, a time decides no test.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

# A shell that starts the tests in the background has them, and all they start, ignore interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption(
        "--random-order",
        type=int,
        metavar="SEED",
        help="run the test files, and the tests of each, in an order that the seed decides",
    )


def pytest_terminal_summary(terminalreporter, config):
    seed = config.getoption("random_order")
    if seed is not None:
        terminalreporter.write_line(f"The same order again: --random-order {seed}")


@pytest.hookimpl(trylast=True)  # pytest orders them as well, by fixtures
def pytest_collection_modifyitems(config, items):
    seed = config.getoption("random_order")
    if seed is not None:
        items[:] = shuffled(items, seed, lambda item: item.path)


def shuffled(items, seed, file_of):
    """In another order, but file by file, whose fixtures would be made again and again."""
    draw, of_file = random.Random(seed), {}
    for item in items:
        of_file.setdefault(file_of(item), []).append(item)
    files = [draw.sample(tests, len(tests)) for tests in of_file.values()]
    return [item for tests in draw.sample(files, len(files)) for item in tests]


def pytest_collection_finish():
    """Do not look for garbage among thousands of tests again and again."""
    gc.freeze()


@pytest.hookimpl(tryfirst=True)  # before the fixtures of the test
def pytest_runtest_setup():
    """Forget which context columns were warned of, because they are named once in a process."""
    warn_of_context.cache_clear()


@pytest.fixture(scope="session")
def shared_data():
    """The folder of real data sets, which is absent from a user's clone."""
    default = Path(__file__).parent.parent.parent / "shared" / "data"
    folder = Path(os.environ.get("RANKWISE_SHARED", default))
    if not folder.is_dir():
        pytest.skip("the real data sets are not here")
    return folder


@pytest.fixture
def text(tmp_path):
    """Write text (or bytes) to a file and return its path."""

    def write(content, name="rows.letor"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture
def arrow_is_running(tmp_path_factory):
    """pyarrow has its memory pool and threads, for which it aborts the process if there is no memory."""
    if find_spec("pyarrow") is None:
        return
    import pyarrow
    from pyarrow import csv, parquet

    pyarrow.set_io_thread_count(1)
    pyarrow.set_cpu_count(1)
    folder = tmp_path_factory.mktemp("arrow")
    (folder / "rows.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    table = csv.read_csv(folder / "rows.csv")
    parquet.write_table(table, folder / "rows.parquet")
    parquet.read_table(folder / "rows.parquet")


@pytest.fixture
def little_memory(arrow_is_running):
    """The test may take no more than half a gigabyte beyond what is taken already."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 29), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)
