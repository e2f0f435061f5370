"""Measures: pairwise error vs. one sort of the same array, prepared measures vs. repeated preparation."""

import numpy as np
from scipy.stats import kendalltau
from sklearn.metrics import ndcg_score

from benchmarks.timing import best_times, header, sized
from rankwise.config import config_context
from rankwise.metrics import get_measure, pairwise_error

N_THREADS = 2


def bench_pairwise_error() -> None:
    """Target: one million rows with real-valued labels in at most six times np.argsort of the scores."""
    header(f"pairwise_error of one global ranking, {N_THREADS} threads; times in ms")
    columns = ("np.argsort", "error", "ratio", "prepared", "ratio", "scipy τ")
    print(f"{'rows':>9}  " + "  ".join(f"{column:>10}" for column in columns))
    rng = np.random.default_rng(0)
    sizes, times = [sized(m) for m in (10_000, 100_000, 1_000_000)], []
    for m in sizes:
        y = rng.normal(size=m)
        scores = y + rng.normal(size=m)
        prepared = get_measure("pairwise_error").prepare(y)
        time = best_times(
            {
                "sort": lambda scores=scores: np.argsort(scores),
                "error": lambda y=y, scores=scores: pairwise_error(y, scores),
                "prepared": lambda prepared=prepared, scores=scores: prepared(scores),
                "scipy": lambda y=y, scores=scores: kendalltau(y, scores),
            },
            repeats=7,
        )
        # Without ties, τ = 1 − 2 · error, which shows that both sides did the same work.
        assert abs(1.0 - 2.0 * prepared(scores) - kendalltau(y, scores).statistic) < 1e-9
        ms = {name: 1e3 * seconds for name, seconds in time.items()}
        cells = (ms["sort"], ms["error"], ms["error"] / ms["sort"])
        more = (ms["prepared"], ms["prepared"] / ms["sort"], ms["scipy"])
        print(f"{m:9,}  " + "  ".join(f"{cell:10.2f}" for cell in (*cells, *more)))
        times.append(time["error"])
    slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    print(f"time grows as rows^{slope:.2f}")


def bench_selection() -> None:
    """A criterion evaluated repeatedly on the same labels, as in model selection."""
    rng = np.random.default_rng(1)
    sizes = rng.integers(50, 250, 106)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    y = rng.integers(0, 3, len(qid)).astype(float)
    scores = rng.normal(size=len(qid))
    header(f"one score vector, {len(qid):,} rows, {len(sizes)} queries, {N_THREADS} threads")
    print(f"{'measure':<16}  {'prepared':>10}  {'from scratch':>12}  {'ratio':>5}")
    for name in ("pairwise_error", "ndcg@10", "map", "p@10", "rr", "err@10"):
        measure = get_measure(name)
        prepared = measure.prepare(y, qid)
        time = best_times(
            {
                "prepared": lambda prepared=prepared: prepared(scores),
                "scratch": lambda measure=measure: measure(y, scores, qid),
            },
            repeats=30,
        )
        ratio = time["scratch"] / time["prepared"]
        print(f"{name:<16}  {1e3 * time['prepared']:7.2f} ms  {1e3 * time['scratch']:9.2f} ms  {ratio:5.1f}")
    ours = get_measure("ndcg@10", preset="sklearn")
    rows = [np.flatnonzero(qid == q) for q in range(len(sizes))]
    time = best_times(
        {
            "ours": lambda: ours(y, scores, qid),
            "sklearn": lambda: np.mean([ndcg_score([y[r]], [scores[r]], k=10) for r in rows]),
        }
    )
    print(
        f"ndcg@10 like scikit-learn's: {1e3 * time['ours']:.2f} ms, ndcg_score query by query: "
        f"{1e3 * time['sklearn']:.1f} ms, {time['sklearn'] / time['ours']:.0f} times as long"
    )


@config_context(n_threads=N_THREADS)
def run() -> None:
    bench_pairwise_error()
    bench_selection()
