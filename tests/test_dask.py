"""Training on a real cluster: two worker processes that talk over TCP."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from cluster import client, cluster, data, files, fitted, forked_workers
from command_line import done, folder, refused
from rankwise import (
    DataError,
    RankingData,
    RankRLS,
    RankRLSCV,
    RankSVM,
    load_model,
    save_store,
)
from rankwise.metrics import evaluate
from warm import run_warm

distributed = pytest.importorskip("distributed")

from rankwise.dask import DistributedData, clusters, workers  # noqa: E402
from rankwise.dask.clusters import connected  # noqa: E402

__all__ = ["client", "cluster", "data", "done", "files", "folder", "forked_workers", "refused"]  # fixtures

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture
def expected(data):
    return RankRLS(ties="drop", solver="primal").fit(data.X, data.y, data.qid)


def test_each_worker_reads_its_own_files(client, files, expected):
    data = DistributedData.from_files(files, merge_queries=True)
    model = fitted(data)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-10, atol=1e-12)
    assert model.numbered_from_ == 1
    holders = client.who_has(data.parts.futures)
    assert len({holder for held in holders.values() for holder in held}) == 2
    assert all(len(held) == 1 for held in holders.values())


def test_stores_stay_on_disk(client, data, tmp_path, expected):
    for number, place in enumerate((slice(0, 100), slice(100, None))):
        save_store(data.select(place), tmp_path / f"{number}.store")
    stores = [tmp_path / "0.store", tmp_path / "1.store"]
    parts = DistributedData.from_files(stores, merge_queries=True)
    np.testing.assert_allclose(fitted(parts).coef_, expected.coef_, rtol=1e-10, atol=1e-12)
    stored = parts.parts.futures[0]
    # So small a part may have been copied to an idle worker; the one that read it has the map.
    holders = client.who_has([stored])[stored.key]
    looks = [
        client.submit(lambda part: type(part.X.base).__name__, stored, workers=one, pure=False)
        for one in holders
    ]
    assert "mmap" in client.gather(looks)


def test_frames_of_dask_are_taken_as_they_are(client, data, expected):
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    columns = [f"f{k}" for k in range(data.n_features)]
    frame = pandas.DataFrame(data.X, columns=columns).assign(label=data.y, query=data.qid, s=1.0)
    parts = DistributedData.from_frame(
        frames.from_pandas(frame, npartitions=3, sort=False), label="label", qid="query", weight="s"
    )
    model = fitted(parts)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-10, atol=1e-12)
    assert model.feature_names_in_.tolist() == columns


def test_arrays_of_dask_are_taken_by_their_row_chunks(client, data):
    arrays = pytest.importorskip("dask.array")
    weight = np.random.default_rng(1).integers(1, 4, data.n_rows).astype(float)
    X = arrays.from_array(data.X, chunks=(120, 5))
    y, qid, s = (arrays.from_array(column, chunks=77) for column in (data.y, data.qid, weight))
    expected = RankRLS(solver="primal").fit(data.X, data.y, data.qid, weight)
    model = RankRLS(solver="primal").fit(DistributedData.from_arrays(X, y, qid, s))
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-10, atol=1e-12)
    with pytest.raises(DataError, match=r"unknown sizes; call X\.compute_chunk_sizes"):
        DistributedData.from_arrays(X[X[:, 0] > 0], y, qid)


def test_the_bits_of_a_model_do_not_depend_on_workers_and_threads(client, data):
    models = [
        RankRLS(solver="primal", ties="drop"),
        RankRLS(solver="cg", ties="drop", tol=1e-2),
        RankSVM(1.0, tol=0.1),
        RankSVM(1.0, loss="squared_hinge", tol=0.1),
    ]

    def fitted_to(parts):
        return [clone(model).fit(parts).coef_ for model in models]

    on_two = fitted_to(DistributedData.from_data(data, 7))
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=3, processes=False, dashboard_address=":0"
        ) as other,
        distributed.Client(other, set_as_default=False) as alone,
    ):
        on_one = fitted_to(DistributedData.from_data(data, 7, client=alone))
    for one, two in zip(on_one, on_two, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_ranksvm_on_a_cluster_is_that_of_one_process(client, data, loss):
    weight = np.random.default_rng(1).integers(0, 3, data.n_rows).astype(float)
    parts = DistributedData.from_data(replace(data, sample_weight=weight), 4)
    svm = RankSVM(1.0, loss=loss, tol=1e-2)
    one = RankingData.from_arrays(data.X, data.y)
    pairs = np.array([[k, k + 1] for k in range(0, 60, 2)])
    cases = [
        (clone(svm).fit(parts), clone(svm).fit(data.X, data.y, data.qid, weight)),
        (clone(svm).fit(DistributedData.from_data(one, 3)), clone(svm).fit(one)),
        (clone(svm).fit_preferences(parts, pairs), clone(svm).fit_preferences(data, pairs)),
    ]
    for found, expected in cases:
        assert found.gap_ <= 1e-2
        assert found.objective_ == pytest.approx(expected.objective_, abs=1e-2)
        assert np.linalg.norm(found.coef_ - expected.coef_) <= 2.0 * np.sqrt(1e-2)


def test_choices_and_measures_are_those_of_one_process(client, data):
    parts = DistributedData.from_data(data, 5)
    options = {"solver": "primal", "measure": "ndcg@10", "ties": ("keep", "drop")}
    model, expected = RankRLSCV(**options).fit(parts), RankRLSCV(**options).fit(data)
    np.testing.assert_allclose(model.scores_, expected.scores_, rtol=0, atol=1e-12)
    assert model.best_ == pytest.approx(expected.best_)
    scores = model.predict(parts)
    assert evaluate(parts, scores).to_dict() == evaluate(data.y, model.predict(data), data.qid).to_dict()


def test_one_ranking_may_be_in_parts(client, data):
    one = RankingData.from_arrays(data.X, data.y)
    model = RankRLS(1e3, solver="cg", tol=1e-12).fit(DistributedData.from_data(one, 3))
    expected = RankRLS(1e3, solver="primal").fit(data.X, data.y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-8, atol=1e-10)
    assert not model.fitted_with_qid_


def test_a_pass_is_one_task_for_each_worker(client, data, monkeypatch):
    parts, tasks = DistributedData.from_data(data, 8), []
    submit = workers.WorkerParts._submit
    monkeypatch.setattr(
        workers.WorkerParts, "_submit", lambda *arguments: tasks.append(submit(*arguments)) or tasks[-1]
    )
    RankRLS(solver="cg", tol=1e-3).fit(parts)
    assert all(len(submitted) <= 2 for submitted in tasks)
    # A maximal subtree for each: the sums of four parts each, which are neighbours.
    assert [sorted(sums) for _, sums in client.gather(tasks[-1])] == [[(2, 0)], [(2, 1)]]


@pytest.mark.parametrize("model", [RankRLS(solver="cg", tol=1e-6), RankSVM(0.1, tol=0.1)])
def test_iterations_leave_no_tasks_behind_and_move_no_parts(client, cluster, files, model, monkeypatch):
    parts, counts = DistributedData.from_files(files, merge_queries=True), []
    total = workers.WorkerParts.total

    def counting(self, *arguments, **own):
        found = total(self, *arguments, **own)
        counts.append(len(cluster.scheduler.tasks))
        return found

    monkeypatch.setattr(workers.WorkerParts, "total", counting)
    model.fit(parts)
    assert len(counts) > 12
    # Tasks are forgotten as their results are; those of one pass may still be on their way.
    assert max(counts[6:]) <= max(counts[:6]) + 2
    keys = {future.key for future in parts.parts.futures}
    moved = client.run(lambda dask_worker: [log["keys"] for log in dask_worker.transfer_incoming_log])
    assert not [key for logs in moved.values() for one in logs for key in one if key in keys]


def test_the_library_does_not_need_dask_and_says_what_to_install():
    script = """
import sys
sys.modules["distributed"] = None
import rankwise
rankwise.RankRLS().fit([[1.0], [2.0]], [0, 1], [1, 1])
assert "dask" not in sys.modules
try:
    rankwise.dask
except ImportError as error:
    print(error)
"""
    run = run_warm(script)
    assert run.stdout == "rankwise.dask needs the 'dask' extra: pip install 'rankwise[dask]'.\n"


def test_the_command_line_trains_on_a_cluster(cluster, client, files, tmp_path, done, data):
    model = tmp_path / "model.safetensors"
    address = cluster.scheduler_address
    drop = ["--ties", "drop", "--json"]
    shown = done("train", files, model, "--dask", address, "--merge-queries", "--alpha", "1", *drop)
    expected = RankRLS(ties="drop").fit(data.X, data.y, data.qid)
    np.testing.assert_allclose(load_model(model).coef_, expected.coef_, rtol=1e-9, atol=1e-10)
    means = json.loads(shown)["training"]
    measured = evaluate(data.y, expected.predict(data), data.qid, list(means)).means
    assert means == pytest.approx(measured)
    svm = ["--learner", "ranksvm", "--alpha", "0.1", "--set", "tol=0.05", "--merge-queries"]
    done("train", files, model, "--dask", address, *svm)
    assert load_model(model).gap_ <= 0.05
    shown = json.loads(done("train", files, model, "--dask", address, "--merge-queries", "--json"))
    assert (shown["class"], shown["cv"]) == ("RankRLSCV", "leave-query-out")


def test_a_local_cluster_has_as_many_workers_as_asked_for_which_keep_memory():
    with connected("local:1") as client:
        (memory_kept,) = client.run(os.environ.get, "MALLOC_MMAP_THRESHOLD_").values()
    assert memory_kept is not None


def test_the_command_line_says_what_it_cannot_do_on_a_cluster(files, tmp_path, refused, monkeypatch):
    monkeypatch.setattr(clusters, "PATIENCE", 1)
    model = tmp_path / "model.safetensors"
    shown = refused("train", files, model, "--dask", "local:none", code=2)
    assert "Expected an address or local:N" in shown
    shown = refused("train", files, model, "--dask", "local:2", "--scale", code=2)
    assert "--scale cannot be used with --dask" in shown
    shown = refused("train", files, model, "--dask", "tcp://127.0.0.1:1", code=2)
    assert "No Dask scheduler answers" in shown
