"""A store with changed bytes gives an error or other numbers, never a crash.

Everything runs in another process, since a kernel that follows a wrong index would crash it.
"""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from rankwise import RankRLS, make_search_data, open_store, save_store
from warm import run_warm

USE = """
import json, sys, warnings
from pathlib import Path
import numpy as np, rankwise

warnings.simplefilter("ignore")
store, rng = Path(sys.argv[1]), np.random.default_rng(1)
model = rankwise.load_model(store.parent / "model")
uses = [
    lambda data: rankwise.RankRLS().fit(data.X, data.y, data.qid),
    lambda data: rankwise.RankRLS(solver="cg", max_iter=3).fit(data.X, data.y, data.qid),
    lambda data: rankwise.RankSVM(max_iter=3).fit(data.X, data.y, data.qid),
    lambda data: rankwise.KernelRankRLS(basis=5).fit(data.X, data.y, data.qid),
    lambda data: rankwise.metrics.evaluate(data.y, model.predict(data.X), data.queries),
    lambda data: data.scale_per_query(),
    lambda data: rankwise.scale_per_query(data.X, data.qid),
    lambda data: data.split(0.5)[0].select(rows=[0]),
    lambda data: rankwise.save_letor(data, store.parent / "rows.txt"),
]

def refusals(path):
    refused = 0
    whole = path.read_bytes()
    for _ in range(3):
        damaged = bytearray(whole)
        place = int(rng.integers(128, len(whole) - 4))
        damaged[place:place + 4] = rng.bytes(4)
        path.write_bytes(damaged)
        for use in uses:
            try:
                use(rankwise.open_store(store))
            except ValueError as error:
                refused += 1
                assert "\\n" not in str(error), error
    path.write_bytes(whole)
    return refused

print(json.dumps({path.stem: refusals(path) for path in store.glob("*.npy")}))
"""


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """A dense and a sparse store of queries with non-contiguous rows, and a model for these rows."""
    folder = tmp_path_factory.mktemp("damaged")
    data = make_search_data(8, random_state=0)
    data = data.select(np.random.default_rng(0).permutation(data.n_rows))
    RankRLS().fit(data.X, data.y, data.qid).save(folder / "model")
    save_store(data, folder / "dense.store")
    save_store(replace(data, X=sparse.csr_matrix(data.X)), folder / "sparse.store")
    return folder


@pytest.mark.parametrize("store", ["dense.store", "sparse.store"])
def test_changed_bytes_never_crash_anything(stores, store):
    run = run_warm(USE, stores / store)
    assert run.returncode == 0, f"exit code {run.returncode}\n{run.stderr}"
    refusals = json.loads(run.stdout)
    assert len(refusals) >= 7
    for name in {"offsets", "order", "indptr", "indices"}.intersection(refusals):
        assert refusals[name] > 0, name
    open_store(stores / store, verify=True)
