"""The audit of a dirty table of a million rows and 40 columns: processor time, memory, and what it finds."""

from __future__ import annotations

import resource
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from benchmarks.timing import header, sized
from rankwise.auditing.raw_table import RawTable
from rankwise.auditing.table_audit import audit_table
from rankwise.readers.arrow_tables import open_columns


def run() -> None:
    n_rows = sized(1_000_000)
    header(f"Audit of a table of {n_rows:,} rows and 40 columns")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "raw.parquet"
        write_raw(path, n_rows)
        start = time.process_time()
        names, n_rows, column = open_columns(path, ["query"])
        found = audit_table(RawTable.of_columns(names, n_rows, column, label="grade", qid="query"))
        seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{seconds:.1f} s of processor time; the process, which wrote it too, took at most {peak:.1f} GB")
    for fault in found.faults:
        print(f"{fault.severity}: {fault.kind}, {fault.column or 'rows'}, {fault.count:,}")


def write_raw(path: Path, n_rows: int) -> None:
    """Text queries in any order, and columns with a fault of most kinds; others are numbers without one."""
    rng = np.random.default_rng(0)
    grade = rng.choice(5, n_rows, p=[0.5, 0.2, 0.15, 0.1, 0.05]).astype(float)
    columns = {
        "query": rng.integers(0, n_rows // 20, n_rows).astype(str),
        "grade": np.where(rng.random(n_rows) < 0.01, np.nan, grade),
        "leak": grade + rng.normal(0.0, 0.05, n_rows),
        "price": np.exp(rng.normal(3.0, 1.0, n_rows)) * np.where(rng.random(n_rows) < 0.003, -1.0, 1.0),
        "brand": np.char.add("brand ", (rng.pareto(1.0, n_rows) * 10 % 5000).astype(int).astype(str)),
        "page": np.char.add("page ", np.arange(n_rows).astype(str)),
        "stock": np.where(rng.random(n_rows) < 0.02, 999.0, rng.integers(0, 50, n_rows)),
        "limit": np.where(rng.random(n_rows) < 1e-5, np.inf, rng.normal(size=n_rows)),
    }
    columns |= {f"signal{k}": rng.normal(0.2 * grade, 1.0) for k in range(42 - len(columns))}
    parquet.write_table(pa.table(columns), path)
