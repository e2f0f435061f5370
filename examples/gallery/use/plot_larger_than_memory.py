"""
Data larger than memory
=======================

A store is a folder of plain arrays, mapped from disk. Conjugate gradient reads it once per iteration and
keeps only the current block in memory, so a fit allocates only a few numbers per row and per feature.
"""

import tempfile
import tracemalloc
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import rankwise

folder = Path(tempfile.mkdtemp())
weights = np.random.default_rng(0).normal(size=200)


def write_store(n_rows):
    """Rows in queries of 20; in practice, ``rankwise convert`` writes a store from text of any size."""
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, 200)).astype(np.float32)
    data = rankwise.RankingData.from_arrays(X, np.round(X @ weights / 10), np.arange(n_rows) // 20)
    rankwise.save_store(data, folder / f"{n_rows}.store")
    return folder / f"{n_rows}.store"


def fit_from(store):
    """The most memory that was allocated at any time."""
    tracemalloc.start()
    rankwise.RankRLS(solver="cg").fit(rankwise.open_store(store))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


sizes = [2000, 4000, 8000, 16000]
stores = [write_store(size) for size in sizes]
rankwise.RankRLS(solver="cg").fit(rankwise.open_store(stores[0]))  # imports allocate memory, once
on_disk = [sum(file.stat().st_size for file in store.iterdir()) for store in stores]
allocated = [fit_from(store) for store in stores]

figure, axis = plt.subplots(figsize=(8, 4.5), layout="constrained")
axis.plot(sizes, np.divide(on_disk, 1e6), "o-", label="the store on disk")
axis.plot(sizes, np.divide(allocated, 1e6), "o-", label="allocated by open_store and fit")
axis.set(xlabel="rows of 200 features", ylabel="MB")
axis.legend()
plt.show()
