"""Training goes on when workers are lost, and ends with a sentence where it cannot."""

import logging
import os
import signal
import subprocess
import sys
import time
from threading import Thread

import numpy as np
import pytest

from cluster import client, cluster, data, files, fitted, forked_workers, processes
from rankwise import DataError, RankRLS, RankSVM
from rankwise.errors import FileFormatError, ParameterError

distributed = pytest.importorskip("distributed")

from rankwise.dask import ClusterError, DistributedData, waiting, workers  # noqa: E402
from rankwise.dask.clusters import connected  # noqa: E402

__all__ = ["client", "cluster", "data", "files", "forked_workers"]  # fixtures

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def test_the_parts_of_a_killed_worker_are_read_again_with_the_same_bits(client, files):
    data = DistributedData.from_files(files, merge_queries=True)
    before = fitted(data).coef_
    os.kill(next(iter(processes(client).values())), signal.SIGKILL)
    np.testing.assert_array_equal(fitted(data).coef_, before)


@pytest.mark.parametrize(
    "source, model",
    [
        ("files", RankRLS(solver="cg", tol=1e-2)),
        ("memory", RankRLS(solver="cg", tol=1e-2)),
        ("files", RankSVM(0.1, tol=0.2)),
        ("memory", RankSVM(0.1, loss="squared_hinge", tol=0.2)),
    ],
)
def test_a_worker_killed_between_iterations_changes_nothing(client, data, files, source, model):
    parts = DistributedData.from_data(data, 4)
    if source == "files":
        parts = DistributedData.from_files(files, merge_queries=True)
    fit = model.fit
    before = fit(parts).coef_
    total, passes = workers.WorkerParts.total, []

    def killing(self, *arguments, **own):
        passes.append(arguments[0])
        if len(passes) == 9:
            os.kill(next(iter(processes(client).values())), signal.SIGKILL)
        return total(self, *arguments, **own)

    workers.WorkerParts.total = killing
    try:
        np.testing.assert_array_equal(fit(parts).coef_, before)
    finally:
        workers.WorkerParts.total = total
    assert len(passes) > 9


def test_training_goes_on_with_other_workers_after_all_were_lost(files):
    with connected("local:1") as client:
        data = DistributedData.from_files(files, merge_queries=True, client=client)
        before = fitted(data).coef_
        os.kill(next(iter(processes(client).values())), signal.SIGKILL)
        after = []
        fitting = Thread(target=lambda: after.append(fitted(data).coef_), daemon=True)
        fitting.start()
        fitting.join(60.0)
        np.testing.assert_array_equal(after, [before])


def test_a_bad_line_is_named_by_file_and_line(client, files, tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_text("1 qid:1 1:1\n0 qid:1 1:x\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"bad\.txt, line 2: ") as raised:
        DistributedData.from_files([*sorted(files.parent.glob(files.name)), bad])
    assert raised.value.__cause__ is None
    assert "attempt" not in [entry.name for entry in raised.traceback]


def test_files_that_do_not_fit_together_are_named(client, tmp_path):
    (tmp_path / "a.txt").write_text("1 qid:1 1:1\n0 qid:1 1:2\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("1 1:1\n0 1:2\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"b\.txt has no queries, but .*a\.txt has"):
        DistributedData.from_files(tmp_path / "*.txt")
    (tmp_path / "d.txt").write_text("1 qid:2 1:1\n0 qid:1 1:2\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"The query 1 is both in .*a\.txt and in .*d\.txt; if"):
        DistributedData.from_files([tmp_path / "a.txt", tmp_path / "d.txt"])
    with pytest.raises(FileFormatError, match=r"c\.txt: a worker could not read it: No such file"):
        DistributedData.from_files([tmp_path / "a.txt", tmp_path / "c.txt"])
    with pytest.raises(ParameterError, match="no file matches this pattern"):
        DistributedData.from_files(tmp_path / "*.letor")


def test_a_cluster_without_workers_is_an_error_after_the_stated_time(data, monkeypatch):
    monkeypatch.setattr(waiting, "WITHOUT_WORKERS", 1.0)
    with (
        distributed.LocalCluster(
            n_workers=1, processes=False, dashboard_address=":0", silence_logs=logging.CRITICAL
        ) as small,
        distributed.Client(small, set_as_default=False) as client,
    ):
        parts = DistributedData.from_data(data, 2, client=client)
        client.retire_workers(list(client.nthreads()), close_workers=True, remove=True)
        small.scale(0)
        with pytest.raises(ClusterError, match="no workers for 1 s; start some"):
            RankRLS().fit(parts)


SLOW_CLIENT = """
import sys, time
from distributed import Client
from rankwise.dask.workers import WorkerParts

def slow(part):
    time.sleep(0.2)
    return part

if __name__ == "__main__":
    client = Client(sys.argv[1])
    parts = WorkerParts(client, lambda part: client.submit(int, part, pure=False), ["a", "b", "c", "d"])
    print("started", flush=True)
    while True:
        parts.total(slow)
"""


def test_no_task_of_a_killed_client_keeps_running(cluster, client, tmp_path):
    script = tmp_path / "client.py"
    script.write_text(SLOW_CLIENT, encoding="utf-8")
    known = set(cluster.scheduler.tasks)
    child = subprocess.Popen([sys.executable, script, cluster.scheduler_address], stdout=subprocess.PIPE)
    assert child.stdout.readline().strip() == b"started"
    deadline = time.monotonic() + 60
    while not set(cluster.scheduler.tasks) - known and time.monotonic() < deadline:
        time.sleep(0.05)
    child.kill()
    child.wait()
    while set(cluster.scheduler.tasks) - known and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not set(cluster.scheduler.tasks) - known
