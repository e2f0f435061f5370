"""Connecting to a cluster by address, or starting one here."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import dask
from distributed import Client, LocalCluster

from rankwise.errors import ParameterError
from rankwise.numerals import is_whole

LOCAL = "local:"
MOST_WORKERS = 1024
# How long to wait for an answer of the scheduler, in seconds.
PATIENCE = 10
# By default, Dask's workers return freed memory at once, so that every vector of a pass takes new pages.
_ENVIRONMENT = "distributed.nanny.pre-spawn-environ"
KEEP_MEMORY = {
    f"{_ENVIRONMENT}.MALLOC_TRIM_THRESHOLD_": 1 << 28,
    f"{_ENVIRONMENT}.MALLOC_MMAP_THRESHOLD_": 1 << 25,
}


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """Connect to a scheduler or, for ``local:N``, start N workers here for the time of the block."""
    # What matters of what happens to workers is told by errors.
    with dask.config.set({"logging.distributed": "critical"} | KEEP_MEMORY):
        if address.startswith(LOCAL):
            number = address.removeprefix(LOCAL)
            if not is_whole(number) or not 1 <= int(number) <= MOST_WORKERS:
                raise ParameterError(
                    f"Expected an address or local:N with N from 1 to {MOST_WORKERS}; got {address!r}."
                )
            with (
                LocalCluster(
                    n_workers=int(number),
                    threads_per_worker=1,
                    dashboard_address=":0",
                    silence_logs=logging.CRITICAL,
                ) as made,
                Client(made) as client,
            ):
                yield client
            return
        try:
            client = Client(address, timeout=PATIENCE)
        except (OSError, ValueError):
            raise ParameterError(f"No Dask scheduler answers at {address!r}.") from None
        with client:
            yield client
