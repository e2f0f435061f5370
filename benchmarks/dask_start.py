"""How long it takes until rankers can start on rows in random order, and what is moved for it."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import numpy as np
from distributed import Client, wait

from benchmarks.peers.comparing import is_installed
from benchmarks.tables import Table
from benchmarks.timing import header, sized
from rankwise import RankRLS
from rankwise.dask import DistributedData
from rankwise.dask.clusters import connected

N_FEATURES, ROWS_PER_QUERY, N_PARTS = 136, 100, 8
N_ROWS = 1_000_000
# XGBoost makes a partition of every query, which takes a time in proportion to their number: an hour and more
# for all rows.
XGBOOST_REGROUPED, XGBOOST_TRAINED = "DaskXGBRanker: queries regrouped", "DaskXGBRanker: trained, 1 tree"
SLOW, FEW_ROWS = {XGBOOST_REGROUPED, XGBOOST_TRAINED}, 50_000


def bench_start() -> None:
    """No target: XGBoost and LightGBM need the rows of a query in one partition."""
    if not is_installed("dask.dataframe", "dask[dataframe]"):
        return
    header(f"rows x {N_FEATURES} in random order, {N_PARTS} partitions on 2 workers")
    table = Table("dask-start", "", "rows", "s", "MB moved")
    with connected("local:2") as client:
        for name, call in ways_to_start(client).items():
            m = sized(FEW_ROWS if name in SLOW else N_ROWS)
            few, frame = random_frame(sized(20_000)), random_frame(m)
            wait([few, frame])
            try:
                call(few)  # so that workers have imported what they need
                before, start = bytes_on_loopback(), time.perf_counter()
                call(frame)
            except Exception as error:  # noqa: BLE001 - whatever a peer raises, the others go on
                table.add(name, f"{m:,}", f"failed: {type(error).__name__}", "")
                continue
            seconds, moved = time.perf_counter() - start, (bytes_on_loopback() - before) / 1e6
            table.add(name, f"{m:,}", f"{seconds:.1f}", f"{moved:.0f}")


def ways_to_start(client: Client) -> dict[str, Callable[[Any], object]]:
    """What is timed: until training can start, and until there is a model."""
    ways: dict[str, Callable[[Any], object]] = {
        "rankwise: which queries are split": split_queries,
        "rankwise: RankRLS, trained": lambda frame: RankRLS(solver="primal").fit(distributed(frame)),
    }
    if is_installed("xgboost", "xgboost-cpu"):
        ways[XGBOOST_REGROUPED] = regrouped_for_xgboost
        ways[XGBOOST_TRAINED] = lambda frame: one_xgboost_tree(client, frame)
    if is_installed("lightgbm", "lightgbm"):
        ways["DaskLGBMRanker: queries regrouped (shuffle)"] = regrouped_for_lightgbm
        ways["DaskLGBMRanker: trained, 1 tree"] = lambda frame: one_lightgbm_tree(client, frame)
    return ways


def random_frame(n_rows: int) -> Any:
    """Rows that workers draw themselves; every query has rows in every partition."""
    import dask.dataframe as frames

    sizes = np.diff(np.linspace(0, n_rows, N_PARTS + 1).astype(int)).tolist()
    pieces = [
        dask.delayed(random_piece)(size, seed, n_rows // ROWS_PER_QUERY) for seed, size in enumerate(sizes)
    ]
    return frames.from_delayed(pieces, meta=random_piece(2, 0, 2)).persist()


def random_piece(n_rows: int, seed: int, n_queries: int) -> Any:
    import pandas

    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, N_FEATURES), dtype=np.float32)
    label = np.digitize(X[:, :5].sum(axis=1), [-1.0, 1.0, 3.0]).astype(np.float32)
    table = pandas.DataFrame(X, columns=[f"f{k}" for k in range(N_FEATURES)])
    return table.assign(label=label, qid=rng.integers(0, n_queries, n_rows))


def distributed(frame: Any) -> DistributedData:
    return DistributedData.from_frame(frame, label="label", qid="qid")


def split_queries(frame: Any) -> int:
    return len(distributed(frame).problem().queries.split)


def parts_of(frame: Any) -> tuple[Any, Any, Any]:
    return frame[[f"f{k}" for k in range(N_FEATURES)]], frame["label"], frame["qid"]


def regrouped_for_xgboost(frame: Any) -> object:
    """What `DaskXGBRanker.fit` does first."""
    from xgboost.dask.data import no_group_split

    X, y, qid = parts_of(frame)
    found = [one for one in no_group_split("cpu", X, qid, y, None, None) if one is not None]
    return wait(dask.persist(*found))


def one_xgboost_tree(client: Client, frame: Any) -> object:
    from xgboost.dask import DaskXGBRanker

    X, y, qid = parts_of(frame)
    model = DaskXGBRanker(n_estimators=1, tree_method="hist")
    model.client = client
    return model.fit(X, y, qid=qid)


def regrouped_for_lightgbm(frame: Any) -> Any:
    """LightGBM leaves it to the user to bring the rows of a query together, and to sort them."""
    grouped = frame.shuffle("qid").map_partitions(lambda part: part.sort_values("qid")).persist()
    wait(grouped)
    return grouped


def one_lightgbm_tree(client: Client, frame: Any) -> object:
    from lightgbm import DaskLGBMRanker

    grouped = regrouped_for_lightgbm(frame)
    X, y, qid = parts_of(grouped)
    sizes = qid.map_partitions(lambda part: part.groupby(part, sort=True).size(), meta=("size", "int64"))
    model = DaskLGBMRanker(client=client, n_estimators=1, verbose=-1)
    return model.fit(
        X.to_dask_array(lengths=True), y.to_dask_array(lengths=True), group=sizes.to_dask_array(lengths=True)
    )


def bytes_on_loopback() -> int:
    """All bytes that processes of this machine have sent each other; 0 where the system does not tell."""
    try:
        lines = Path("/proc/net/dev").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[9]) for line in lines if line.split()[:1] == ["lo:"])
