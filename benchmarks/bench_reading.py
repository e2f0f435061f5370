"""Reading LETOR text: load_letor vs. scikit-learn's load_svmlight_file, and its memory use."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import sklearn
from sklearn.datasets import load_svmlight_file

from benchmarks.tables import headline
from benchmarks.timing import best_times, header, sized
from rankwise import config_context, convert_letor, load_letor, open_store

N_THREADS = 2

# Run in a separate process: peak memory beyond the interpreter and the imports, and the size of the result.
MEASURE_MEMORY = """
import re, sys
from pathlib import Path
import numpy, scipy.sparse
from rankwise import load_letor, set_config

def kilobytes(field):
    return int(re.search(field + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])

before = kilobytes("VmRSS")
set_config(n_threads=int(sys.argv[2]))
data = load_letor(sys.argv[1])
parts = [data.X.data, data.X.indices, data.X.indptr, data.y, data.qid, data.queries.offsets]
print((kilobytes("VmHWM") - before) * 1024, sum(part.nbytes for part in parts))
"""


def write_sparse_letor(path: Path, n_bytes: int = sized(60_000_000), seed: int = 0) -> None:
    """Queries of 5 to 60 rows, each with 10 to 120 of 20,000 features."""
    rng = np.random.default_rng(seed)
    written, query = 0, 0
    with path.open("w", encoding="ascii") as file:
        while written < n_bytes:
            query += 1
            for _ in range(rng.integers(5, 60)):
                indices = np.unique(rng.integers(1, 20_000, rng.integers(10, 120))).tolist()
                values = rng.random(len(indices)).tolist()
                entries = " ".join(f"{i}:{value:.6g}" for i, value in zip(indices, values, strict=True))
                written += file.write(f"{rng.integers(0, 5)} qid:{query} {entries}\n")


def check_identical(path: Path) -> None:
    X, y, qid = load_svmlight_file(str(path), query_id=True)
    data = load_letor(path)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(data.X, name), getattr(X, name))
    assert data.X.shape == X.shape
    np.testing.assert_array_equal(data.y, y)
    np.testing.assert_array_equal(data.qid, qid)


@config_context(n_threads=N_THREADS)
def run() -> None:
    header(f"Reading LETOR text  ({N_THREADS} threads, scikit-learn {sklearn.__version__})")
    with tempfile.TemporaryDirectory() as folder:
        path, store = Path(folder) / "rows.letor", Path(folder) / "rows.store"
        write_sparse_letor(path)
        megabytes = path.stat().st_size / 1e6
        check_identical(path)
        times = best_times(
            {
                "load_svmlight_file": lambda: load_svmlight_file(str(path), query_id=True),
                "load_letor, 1 thread": lambda: config_context(n_threads=1)(load_letor)(path),
                "load_letor": lambda: load_letor(path),
                "convert_letor": lambda: convert_letor(path, store),
                "open_store": lambda: open_store(store),
                "open_store, verified": lambda: open_store(store, verify=True),
            },
            repeats=3,
        )
        for name, seconds in times.items():
            ratio = times["load_svmlight_file"] / seconds
            print(f"{name:22} {seconds * 1e3:9.1f} ms {megabytes / seconds:9.0f} MB/s {ratio:8.1f}x")
        ratio = times["load_svmlight_file"] / times["load_letor"]
        headline(
            f"reading {megabytes:.0f} MB of LETOR text",
            f"{times['load_letor']:.2f} s",
            f"scikit-learn's `load_svmlight_file` takes {ratio:.0f} times as long",
        )
        command = [sys.executable, "-c", MEASURE_MEMORY, str(path), str(N_THREADS)]
        output = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout
        peak, returned = map(int, output.split())
        memory = f"peak memory {peak / returned:.2f}x the arrays returned"
        print(f"{megabytes:.0f} MB of text; X, y and qid identical; {memory}")
