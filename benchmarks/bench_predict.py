"""Prediction: predict vs. its kernel, one row vs. NumPy, and how long commands take to start."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.timing import best_times, header, sized
from rankwise import KernelRankRLS, RankingData, RankRLS, RankSVMPath, make_search_data, save_letor
from rankwise.operators.rows import NativeRows

N_FEATURES = 136
COMMAND_ROWS = 3_000
# Repeated because one call is too short for the clock.
CALLS = 200


def bench_kernel() -> None:
    """Target: predict in at most 1.3 times its kernel, ``Xw`` with nothing checked."""
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
    bench_start()
