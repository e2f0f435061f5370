"""Fixtures shared by all tests."""

import os
from pathlib import Path

import pytest


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
def little_memory():
    """The test may take no more than half a gigabyte beyond what is taken already."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 29), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)
