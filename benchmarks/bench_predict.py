"""Prediction: predict vs. its kernel, one row vs. NumPy, requests in every form, the start of commands."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

from benchmarks import tables
from benchmarks.timing import best_times, header, sized
from rankwise import KernelRankRLS, RankingData, RankRLS, RankSVMPath, make_search_data, save_letor

N_FEATURES = 136
COMMAND_ROWS = 3_000
# Repeated because one call is too short for the clock.
CALLS = 200
# The candidates of a request.
N_CANDIDATES = 100
REPEATED = 5


def bench_kernel() -> None:
    """Target: predict in at most 1.3 times its kernel, ``Xw`` with nothing checked."""
    from rankwise.operators.native_rows import NativeRows

    rng = np.random.default_rng(0)
    X = rng.normal(size=(sized(1_000_000), N_FEATURES))
    header(f"predict, {len(X):,} x {N_FEATURES}, against its kernel; ms")
    model = RankRLS().fit(X[:1000], X[:1000, 0])
    forms = {
        "float64": X,
        "float32": X.astype(np.float32),
        "CSR, 10 % stored": sparse.random(*X.shape, density=0.1, format="csr", random_state=rng),
    }
    for name, rows in forms.items():
        kernel = NativeRows(rows)
        calls = {"kernel": lambda k=kernel: k.scores(model.coef_), "predict": lambda r=rows: model.predict(r)}
        times = best_times(calls, repeats=25)
        shown = "  ".join(f"{side} {1e3 * seconds:6.1f}" for side, seconds in times.items())
        print(f"{name:18} {shown}  ratio {times['predict'] / times['kernel']:.2f}")


def bench_one_row() -> None:
    header(f"One row of {N_FEATURES} features; µs per call")
    X = np.random.default_rng(0).normal(size=(1000, N_FEATURES))
    model, row = RankRLS().fit(X, X[:, 0]), X[:1].copy()
    calls = {
        "X @ w": lambda: [row @ model.coef_ for _ in range(CALLS)],
        "predict": lambda: [model.predict(row) for _ in range(CALLS)],
    }
    times = best_times(calls, repeats=50)
    print("  ".join(f"{side} {1e6 * seconds / CALLS:.1f}" for side, seconds in times.items()))


def bench_requests() -> None:
    """Targets: 0.25 ms for a frame of numbers, 0.4 ms for a mixed table.

    In processor time, because a request is shorter than what other processes take at a time. The first one
    follows a fit, so processor caches are cold; beyond that and imports, nothing may be left for it to do.
    """
    header(f"A request: predict of {N_CANDIDATES} rows; ms of processor time")
    table = tables.Table("requests", "model", "rows", "the first, ms", "later ones, ms")
    for model, form, ranker, rows in requests():
        start = time.process_time()
        ranker.predict(rows)
        first = time.process_time() - start
        again = partial(repeated, ranker, rows)
        later = best_times({form: again}, repeats=50, clock=time.process_time)[form] / REPEATED
        table.add(model, form, f"{1e3 * first:.2f}", f"{1e3 * later:.3f}")


def repeated(ranker: Any, rows: Any) -> None:
    for _ in range(REPEATED):
        ranker.predict(rows)


def requests() -> Iterator[tuple[str, str, Any, Any]]:
    """The model, in words, the form of its rows, the ranker, freshly fitted, and the candidates."""
    rng = np.random.default_rng(0)
    n = sized(60_000)
    X, queries = rng.normal(size=(n, N_FEATURES)), np.arange(n) // 20
    frame, y = pd.DataFrame(X, columns=[f"f{c}" for c in range(N_FEATURES)]), X[:, 0]
    few, linear = slice(N_CANDIDATES), f"linear, {N_FEATURES} numbers"
    yield linear, "array", RankRLS().fit(X, y, queries), X[few].copy()
    yield linear, "pandas", RankRLS().fit(frame, y, queries), frame[few].copy()
    yield linear, "polars", RankRLS().fit(frame, y, queries), pl.from_pandas(frame[few])
    table = mixed_table(n, rng)
    splines = f"splines, categories, a flag and a date, {table.shape[1]} columns"
    for library, rows in {"pandas": table[few].copy(), "polars": pl.from_pandas(table[few])}.items():
        yield splines, library, RankRLS(columns="spline").fit(table, y, queries), rows
    shops = pd.DataFrame({"shop": [f"shop {k}" for k in np.arange(n) % 5_000], "price": y})
    ranker = RankRLS(columns={"shop": "category:5000", "price": "spline"}, solver="cg")
    yield "5,000 categories", "pandas", ranker.fit(shops, y, queries), shops[few].copy()
    ranker = KernelRankRLS(basis=min(500, n // 2))
    yield "rbf kernel, 500 basis rows", "array", ranker.fit(X[:2000], y[:2000], queries[:2000]), X[few].copy()


def mixed_table(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Numbers, some of them missing, texts, flags and dates."""
    numbers = {f"n{c}": rng.normal(size=n) for c in range(10)}
    table = pd.DataFrame(
        {
            "price": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(size=n)),
            "brand": rng.choice([f"brand {k}" for k in range(50)], n),
            "color": rng.choice(["red", "green", "blue"], n),
            "sold": rng.integers(0, 1000, n),
            "new": rng.choice([True, False], n),
            "added": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 10_000, n), "h"),
            **numbers,
        }
    )
    table.loc[rng.random(n) < 0.1, "brand"] = None
    return table


def bench_start() -> None:
    """Target: predict takes at most 2 times ``import numpy`` plus 0.3 s.

    In processor time, because a busy machine stretches the first summand and not the second.
    """
    header(f"Commands on {COMMAND_ROWS:,} rows of text; s of processor time, and modules imported")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        data = make_search_data(COMMAND_ROWS // 18, random_state=0).scale_per_query()
        data = RankingData.from_arrays(data.X[:COMMAND_ROWS], data.y[:COMMAND_ROWS], data.qid[:COMMAND_ROWS])
        rows, out = folder / "rows.txt", folder / "out"
        save_letor(data, rows)
        few = data.select(queries=data.queries.labels[:20].tolist())
        rankers = {"linear": RankRLS(), "rbf": KernelRankRLS(), "path": RankSVMPath(graph="reduced")}
        for name, ranker in rankers.items():
            ranker.fit(few.X, few.y, few.qid).save(folder / name)
        commands = {
            f"predict, {name}": ["predict", str(rows), str(folder / name), "--out", str(out)]
            for name in rankers
        }
        commands |= {
            "evaluate": ["evaluate", str(rows), str(folder / "linear")],
            "info": ["info", str(folder / "linear")],
            "convert": ["convert", str(rows), str(folder / "rows.store")],
            "export": ["export", str(folder / "linear"), str(out), "--to", "svmrank"],
        }
        programs = {"import numpy": "import numpy", "import sklearn.base": "import sklearn.base"}
        programs |= {
            name: f"from rankwise.cli import main; main({arguments})" for name, arguments in commands.items()
        }
        calls = {name: lambda p=program: output_of(p) for name, program in programs.items()}
        times = best_times(calls, repeats=7, clock=seconds_of_children)
        numpy_alone = times["import numpy"]
        print(f"2 times import numpy plus 0.3: {2 * numpy_alone + 0.3:.2f}")
        for name, program in programs.items():
            n_modules = int(output_of(f"{program}\nimport sys; print(len(sys.modules))").split()[-1])
            ratio = times[name] / numpy_alone
            print(f"{name:20} {times[name]:.2f}  {ratio:4.1f} times import numpy  {n_modules:5} modules")


def seconds_of_children() -> float:
    """The processor time of the processes that this one has waited for."""
    spent = os.times()
    return spent.children_user + spent.children_system


def output_of(program: str) -> str:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout


def run() -> None:
    bench_kernel()
    bench_one_row()
    bench_requests()
    bench_start()
