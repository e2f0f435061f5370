"""How long fits and predictions take: what a user waits for, on few rows and on many.

Run as a module, with a folder that `checkout` made, it prints the seconds of each as JSON: those that passed,
and those of processor time, which other work on the machine hardly changes.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from house.checkout import import_from

# Something is repeated for so long, and at least so often; the fastest time counts.
SECONDS, LEAST = 0.5, 3


def main() -> None:
    import_from(Path(sys.argv[1]))
    warnings.simplefilter("ignore")
    print(json.dumps({name: shortest(work) for name, work in works().items()}))


def works() -> dict[str, Callable[[], Any]]:
    """What is timed, by name."""
    import numpy as np
    from benchmarks.rcv1_shaped import generate

    import rankwise

    few, rng = rankwise.make_search_data(30, random_state=0), np.random.default_rng(0)
    X = rng.normal(size=(20_000, 60))
    y = np.floor(X[:, :5].sum(axis=1) + rng.normal(size=len(X)))
    qid = np.repeat(np.arange(len(X) // 20), 20)
    sizes = {"few rows": (few.X, few.y, few.qid), "20,000 x 60": (X, y, qid)}
    found: dict[str, Callable[[], Any]] = {}
    for size, rows in sizes.items():
        for name in ("RankRLS", "RankRLSCV", "RankSVM", "RankSVMCV"):
            found[f"{name}.fit, {size}"] = partial(fit, getattr(rankwise, name)(), rows)
    one = rng.normal(size=(200_000, 46))
    ranking = one, one[:, 0] + rng.normal(size=len(one))
    found["RankRLS.fit, one ranking, 200,000 x 46"] = partial(fit, rankwise.RankRLS(), ranking)
    text, by_cg = generate(20_000), rankwise.RankRLS(solver="cg", tol=1e-2)
    found["RankRLS.fit, text, 20,000 x 47,152"] = partial(fit, by_cg, (text.X, text.utility))
    kernel = rankwise.KernelRankRLS(kernel="rbf")
    found["KernelRankRLS.fit, few rows"] = partial(fit, kernel, sizes["few rows"])
    fitted = rankwise.RankRLS().fit(X, y, qid)
    found["predict, one row"] = lambda: fitted.predict(X[:1])
    found["predict, 20,000 x 60"] = lambda: fitted.predict(X)
    found["rank, 20,000 x 60"] = lambda: fitted.rank(X, qid)
    return found


def fit(ranker: Any, rows: tuple[Any, ...]) -> None:
    ranker.fit(*rows)


def shortest(work: Callable[[], Any]) -> tuple[float, float]:
    """Both times of the fastest of several runs, after one that imports what is needed."""
    work()
    times: list[tuple[float, float]] = []
    started = time.perf_counter()
    while len(times) < LEAST or time.perf_counter() - started < SECONDS:
        before, used = time.perf_counter(), time.process_time()
        work()
        times.append((time.perf_counter() - before, time.process_time() - used))
    passed, processor = zip(*times, strict=True)
    return min(passed), min(processor)


if __name__ == "__main__":
    main()
