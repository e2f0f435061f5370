"""Training on the workers of a Dask cluster (``--dask``)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwise.cli.card import CardOptions, saving, used_rows
from rankwise.cli.data_files import ReadOptions, data_files, is_log, is_table
from rankwise.cli.fitting import criterion_and_usual, evaluate_parts, fit, show_result
from rankwise.cli.reading import read_with_features
from rankwise.errors import ParameterError
from rankwise.long_tasks import step, task
from rankwise.readers.group_files import find_group_sizes

if TYPE_CHECKING:
    from distributed import Client

    from rankwise.dask import DistributedData


def refuse_with_dask(**given: Any) -> None:
    """Reject options that need the rows in this process."""
    for name, value in given.items():
        if value not in (None, False):
            raise ParameterError(f"--{name.replace('_', '-')} cannot be used with --dask.")


def read_on_cluster(path: Path, how: ReadOptions, client: Client) -> DistributedData:
    """Have workers read the files that an argument names."""
    from rankwise.dask import DistributedData

    files = data_files(path)
    for file in files:
        if is_table(file) or is_log(file) or find_group_sizes(file) is not None:
            raise ParameterError(f"{file}: --dask needs LETOR text with qid, or stores (rankwise convert).")
    with task(f"Reading {len(files)} files on workers"):
        return DistributedData.from_files(
            files,
            zero_based="auto" if how.zero_based is None else how.zero_based,
            merge_queries=how.merge_queries,
            client=client,
            progress=lambda done, total: step(done=done / total),
        )


def train_on_cluster(
    ranker: Any,
    data: Path,
    model: Path,
    address: str,
    how: ReadOptions,
    validation: Path | None,
    card: CardOptions,
    json: bool,
) -> None:
    """Train as `rankwise train` does, on rows that workers hold; validation data is read here."""
    from rankwise.dask.clusters import connected
    from rankwise.metrics import evaluate

    with connected(address) as client:
        training = read_on_cluster(data, how, client)
        held = None if validation is None else read_with_features(validation, how, training.features)
        used = [*used_rows("training", data, training), *used_rows("validation", validation, held)]
        start = time.perf_counter()
        fit(ranker, training, held)
        seconds = time.perf_counter() - start
        with saving(ranker, model, card, used) as found:
            measures = criterion_and_usual(ranker, training)
            found["training"] = evaluate(training, ranker.predict(training), measures=measures)
            if held is not None:
                found |= evaluate_parts(ranker, {"validation": held}, measures)
    show_result(ranker, training, model, seconds, found, json)
