"""Training on a store is bit-identical to training in memory, and needs no memory for the store."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from rankwise import DataError, RankingData, RankRLS, open_store
from rankwise.mapped import blocks_of, is_on_disk
from rankwise.preferences.queries import group_rows
from rankwise.readers.store import save_store


def stored(folder, X, y, qid):
    save_store(RankingData(X=X, y=y, queries=group_rows(qid, len(y)), qid=qid), folder)
    return open_store(folder)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 20)) * (rng.random((600, 20)) < 0.3)
    return X, np.round(X @ rng.normal(size=20) + rng.normal(size=600)), np.arange(600) // 15


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize(
    "options", [{"ties": "drop"}, {"weighting": "pair"}, {"early_stopping": True, "alpha": 0}]
)
def test_a_store_gives_the_bits_of_memory(tmp_path, rows, kind, dtype, options):
    X, y, qid = rows
    X = sparse.csr_matrix(X.astype(dtype)) if kind == "csr" else X.astype(dtype)
    data = stored(tmp_path / "store", X, y, qid)
    assert is_on_disk(data.X)
    assert not is_on_disk(X)
    options = {"solver": "cg", "random_state": 0, **options}
    on_disk = RankRLS(**options).fit(data.X, data.y, data.qid)
    in_memory = RankRLS(**options).fit(X, y, qid)
    if "early_stopping" in options:  # sums in another order: rows with zero weight rather than no rows
        np.testing.assert_allclose(on_disk.coef_, in_memory.coef_, rtol=1e-9)
    else:
        assert on_disk.coef_.tobytes() == in_memory.coef_.tobytes()


def test_a_value_that_is_not_finite_is_found_on_disk(tmp_path, rows):
    X, y, qid = rows
    data = stored(tmp_path / "store", X, y, qid)
    values = np.lib.format.open_memmap(tmp_path / "store" / "X.npy", mode="r+")
    values[300, 4] = np.nan
    values.flush()
    with pytest.raises(DataError, match="NaN or infinity"):
        RankRLS(solver="cg").fit(data.X, data.y, data.qid)


def test_blocks_cover_an_array(monkeypatch):
    monkeypatch.setattr("rankwise.mapped.BLOCK_BYTES", 64)
    array = np.arange(21.0).reshape(3, 7)
    blocks = list(blocks_of(array))
    assert max(len(block) for block in blocks) == 8
    np.testing.assert_array_equal(np.concatenate(blocks), array.ravel())


def test_a_damaged_matrix_is_refused(rows):
    X, y, qid = rows
    wide, backwards = sparse.csr_matrix(X), sparse.csr_matrix(X)
    wide.indices[5] = 20
    backwards.indptr[3] = 0
    for damaged in (wide, backwards):
        with pytest.raises(DataError, match="damaged CSR matrix"):
            RankRLS(solver="cg").fit(damaged, y, qid)


PEAK = """
import sys
from rankwise import RankRLS, open_store

def kilobytes(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name))

data = open_store(sys.argv[1])
RankRLS(solver="cg").fit([[1.0], [2.0]], [0.0, 1.0])  # imports what a fit imports
before = kilobytes("VmHWM")
RankRLS(solver="cg", tol=0.3).fit(data.X, data.y, data.qid)
print(kilobytes("VmHWM") - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
@pytest.mark.parametrize("n_queries", [1, 2_000])
def test_peak_memory_does_not_grow_with_the_store(tmp_path, n_queries):
    rng = np.random.default_rng(0)
    m, n = 40_000, 512
    X = rng.random((m, n), dtype=np.float32)
    stored(tmp_path / "store", X, X[:, 0] + rng.random(m), np.arange(m) * n_queries // m)
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(tmp_path / "store")],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert int(done.stdout) * 1024 < X.nbytes / 2
