"""A real cluster for tests, two worker processes that talk over TCP, and rows to train on."""

import logging
import os
from contextlib import contextmanager

import numpy as np
import pytest

from rankwise import RankingData, RankRLS, make_search_data, save_letor

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from distributed.utils import get_mp_context  # noqa: E402


@contextmanager
def forking(**settings):
    """Workers that are started here are forked from a process that has imported what they need."""
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"} | settings):
        get_mp_context().set_forkserver_preload(["distributed", "rankwise.dask", "rankwise.rankers.rankrls"])
        yield


@pytest.fixture(scope="module")
def forked_workers():
    """Workers that are started here keep what they read."""
    with forking(**{"distributed.scheduler.active-memory-manager.start": False}):
        yield


@pytest.fixture(scope="module")
def cluster(forked_workers):
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
    ) as made:
        yield made


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster) as made:
        yield made


@pytest.fixture(scope="module")
def data():
    rows = make_search_data(24, random_state=0)
    mixed = rows.select(np.random.default_rng(0).permutation(rows.n_rows))
    return RankingData.from_arrays(mixed.X, mixed.y, mixed.qid)


@pytest.fixture(scope="module")
def files(data, tmp_path_factory):
    """The rows in six files of text; the first has no rows with the last features."""
    folder = tmp_path_factory.mktemp("parts")
    ends = np.linspace(0, data.n_rows, 7).astype(int)
    for number in range(6):
        save_letor(data.select(slice(ends[number], ends[number + 1])), folder / f"part-{number}.txt")
    return folder / "part-*.txt"


def fitted(data, **options):
    return RankRLS(ties="drop", solver="primal", **options).fit(data)


def processes(client):
    """The process id of each worker, by address."""
    return client.run(os.getpid)
