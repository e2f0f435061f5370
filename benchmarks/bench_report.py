"""Reports of five rankers on 1,000 queries of 100 rows: seconds to make and to open, and size of the page."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from tests.browser import Browser, find_chromium

from benchmarks.peers.comparing import cpu_seconds, is_installed, one_thread
from benchmarks.timing import best_times, header, sized
from rankwise import RankingData, RankRLS, RankRLSCV, RankSVM, make_report, save_letor
from rankwise.rendering import text_table

N_QUERIES, N_TRAINING, N_ROWS, N_FEATURES, N_TREES = sized(1000), 200, 100, 46, 100


def run() -> None:
    header(f"Reports on five rankers, {N_QUERIES:,} queries of {N_ROWS} rows, {N_FEATURES} features")
    training, judged = simulated(0, N_TRAINING), simulated(1, N_QUERIES)
    rankers = five_rankers(training)
    with TemporaryDirectory() as folder:
        place = Path(folder)
        page = place / "report.html"
        files = [save(ranker, place / name) for name, ranker in rankers.items()]
        save_letor(judged, place / "judged.txt")
        command: list[str | Path] = [sys.executable, "-m", "rankwise", "report", *files]
        command += ["--data", place / "judged.txt", "--out", page]
        ways: dict[str, Callable[[], object]] = {
            "make_report": lambda: make_report(rankers, judged).save(page),
            "make_report with training": lambda: make_report(rankers, judged, training=training).save(page),
            "rankwise report": lambda: subprocess.run(command, check=True, capture_output=True),
        }
        lines = []
        for name, make in ways.items():
            with one_thread():
                made = best_times({name: make}, 1, cpu_seconds)[name]
            opened = seconds_to_open(page, place / "profile")
            lines.append((name, f"{made:.1f} s", f"{page.stat().st_size / 1e6:.1f} MB", f"{opened:.2f} s"))
    print(text_table(("report", "made in (CPU)", "page", "opened in"), lines))
    print(f"rankers: {', '.join(rankers)}")


def simulated(seed: int, n_queries: int) -> RankingData:
    """Grades from 0 to 4 that depend on a tenth of the features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * N_ROWS, N_FEATURES))
    relevance = X[:, : N_FEATURES // 10].sum(axis=1) + 2.0 * rng.normal(size=len(X))
    y = np.digitize(relevance, np.quantile(relevance, [0.6, 0.8, 0.92, 0.98]))
    return RankingData.from_arrays(X, y, np.repeat(np.arange(n_queries), N_ROWS))


def five_rankers(training: RankingData) -> dict[str, Any]:
    """Models of different kinds by the names of their files; fewer where a peer is not installed."""
    found: dict[str, Any] = {
        "rankrls.safetensors": RankRLS(1e4).fit(training),
        "chosen.safetensors": RankRLSCV().fit(training),
        "ranksvm.safetensors": RankSVM(1e-3).fit(training),
    }
    grades, queries = training.y.astype(int), training.queries
    if is_installed("lightgbm", "lightgbm"):
        from lightgbm import LGBMRanker

        trees = LGBMRanker(n_estimators=N_TREES, n_jobs=1, verbose=-1)
        found["lightgbm.txt"] = trees.fit(training.X, grades, group=queries.sizes).booster_
    if is_installed("xgboost", "xgboost-cpu"):
        from xgboost import XGBRanker

        boosted = XGBRanker(n_estimators=N_TREES, n_jobs=1)
        found["xgboost.json"] = boosted.fit(training.X, grades, qid=queries.query_of_row()).get_booster()
    return found


def save(ranker: Any, path: Path) -> Path:
    (ranker.save if hasattr(ranker, "save") else ranker.save_model)(path)
    return path


def seconds_to_open(page: Path, profile: Path) -> float:
    """Until the page has been loaded and drawn in Chromium; NaN where there is none."""
    executable = find_chromium()
    if executable is None:
        return float("nan")
    browser = Browser(executable, profile)
    try:
        return min(browser.open(page) for _ in range(3))
    finally:
        browser.close()
