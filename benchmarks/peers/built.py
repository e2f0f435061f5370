"""Peers that users have to build themselves: RLScore and TreeTron, each run as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import timing
from benchmarks.peers import built_peers
from benchmarks.peers.comparing import MAX_ROUNDS, Best, Side, add_rows, alternate, comparison
from benchmarks.peers.shapes import Rows, all_pairs, ohsumed_shaped, web_shaped
from rankwise import RankingData, RankRLSCV, RankSVM, load_letor, save_letor
from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.queries import group_rows
from rankwise.svm.hinge import QueryHinge
from rankwise.types import Ties, Weighting

ALPHAS = 2.0 ** np.arange(-15, 16)
WORKER = Path(__file__).with_name("rlscore_worker.py")


def run() -> None:
    if built_peers.rlscore_python is None:
        print("RLScore is not compared: it has to be built, and named by --with-rlscore PATH.")
    else:
        against_rlscore(built_peers.rlscore_python)
    if built_peers.treetron_train is None:
        print("TreeTron is not compared: it has to be built, and named by --with-treetron PATH.")
    else:
        against_treetron(built_peers.treetron_train)


def output_of(command: list[str]) -> str:
    """What a peer prints; a peer that fails ends the benchmark with its own last words."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(command, capture_output=True, encoding="utf-8", env={**os.environ, **threads})
    if done.returncode != 0:
        words = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise SystemExit(f"{command[0]} ended with code {done.returncode}: {words[-1]}")
    return done.stdout


def against_rlscore(python: Path) -> None:
    """RLScore's leave-query-out over 31 values, without its import and without reading the data."""
    rows = ohsumed_shaped()
    table = comparison(
        "rlscore", "RankRLSCV, 31 alphas: the pairwise error of the chosen one on left-out queries"
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npz"
        np.savez(file, X=rows.X, y=rows.y, qid=rows.qid, alphas=ALPHAS)
        repeats = 1 if timing.quick else MAX_ROUNDS
        theirs = json.loads(output_of([str(python), str(WORKER), str(file), str(repeats)]))
    ours = Side("RankRLSCV", lambda: RankRLSCV(ALPHAS).fit(rows.X, rows.y, rows.qid).best_score_)
    (best,) = alternate([ours])
    peer = Side("RLScore, LeaveQueryOutRankRLS", lambda: None)
    job = f"dense {rows.shape}, {rows.qid[-1] + 1} queries"
    result = Best(theirs["seconds"], 1 - theirs["concordance"])
    add_rows(table, job, [ours, peer], [best, result], lambda error: f"{error:.4f}")


def against_treetron(train: Path) -> None:
    """The squared hinge from a text file to a model, reading included, at TreeTron's default tolerance."""
    rows = web_shaped()
    n_pairs = len(all_pairs(rows))
    cost = 1e3 / n_pairs
    alpha = 1 / (2 * cost * n_pairs)
    value = squared_objective(rows, alpha)
    table = comparison(
        "treetron", "RankSVM, squared hinge, from text file to model: the objective over all pairs"
    )
    with tempfile.TemporaryDirectory() as folder:
        text, model_file = Path(folder) / "rows.txt", Path(folder) / "model"
        save_letor(RankingData.from_arrays(rows.X, rows.y, rows.qid), text)

        def treetron() -> NDArray:
            command = [train, "-s", "8", "-c", f"{cost:.17g}", "-e", "0.001", text, model_file]
            output_of([str(word) for word in command])
            return weights_in(model_file)

        def ours() -> NDArray:
            data = load_letor(text)
            model = RankSVM(alpha, loss="squared_hinge", weighting="pair")
            return model.fit(data.X, data.y, data.qid).coef_

        sides = [Side("RankSVM", ours), Side("TreeTron, eps 0.001", treetron)]
        results = alternate(sides)
    add_rows(table, f"dense {rows.shape}", sides, results, lambda w: f"{value(w):.5f}")


def squared_objective(rows: Rows, alpha: float):
    queries = group_rows(rows.qid, len(rows.y))
    loss = QueryHinge(QueryDifferences(queries, rows.y, ties=Ties.DROP, weighting=Weighting.PAIR))
    return lambda w: loss.squared_value(loss.arranged(rows.X @ w)).risk + alpha * float(w @ w)


def weights_in(model_file: Path) -> NDArray[np.float64]:
    """The weights of a LIBLINEAR model: the numbers after the line "w"."""
    lines = model_file.read_text(encoding="ascii").split("\n")
    return np.array(" ".join(lines[lines.index("w") + 1 :]).split(), dtype=float)
