"""Training on the workers of a Dask cluster (``--dask``)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwise.cli.data_files import ReadOptions, data_files, find_group_sizes, is_log, is_table
from rankwise.cli.screen import progress
from rankwise.errors import ParameterError

if TYPE_CHECKING:
    from distributed import Client

    from rankwise.dask import DistributedData


def refuse_with_dask(given: Mapping[str, Any]) -> None:
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
    with progress(f"Reading {len(files)} files on workers") as advance:
        return DistributedData.from_files(
            files,
            zero_based="auto" if how.zero_based is None else how.zero_based,
            merge_queries=how.merge_queries,
            client=client,
            progress=lambda done, total: advance(done / total),
        )
