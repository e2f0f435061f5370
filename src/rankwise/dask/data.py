"""Judged rows on the workers of a Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from dask.sizeof import sizeof
from distributed import Client, Future, default_client

from rankwise.cluster.parted_data import PartedData, common_features, description_of, problem_of
from rankwise.dask.waiting import LostWorkError, living_workers
from rankwise.dask.workers import WorkerParts, attempt
from rankwise.errors import DataError, FileFormatError, ParameterError
from rankwise.files import matching_files
from rankwise.mapped import is_mapped
from rankwise.readers.group_files import find_group_sizes
from rankwise.readers.letor import load_letor
from rankwise.readers.store import open_store
from rankwise.rows.ranking import RankingData
from rankwise.types import AnyArray, Auto
from rankwise.validation import Problem, check_count, check_flag, check_flag_or_auto

PathLike = str | os.PathLike[str]


class DistributedData(PartedData):
    """Judged rows in parts, each held in memory by a worker of a Dask cluster.

    `RankRLS`, `RankRLSCV`, `RankSVM` and `RankSVMCV` take it in place of X, y and qid, and so do `predict`
    and `rankwise.metrics.evaluate`. The rows of a query may be in any number of parts: a label means the same
    query everywhere (in files, only with `merge_queries`), and no rows are moved. The division into parts
    changes the last digits of results; the number of workers and threads does not.

    Create one with `from_files`, `from_frame`, `from_arrays` or `from_data`. The workers hold the rows for as
    long as this object exists.

    Attributes
    ----------
    n_rows, n_features : int
        The size of the data.
    features : Features
        Names or numbers of the features, and how they were scaled.
    has_queries : bool
        Whether the data has a qid; otherwise, all rows form one ranking.

    See Also
    --------
    rankwise.RankingData : Rows in the memory of one machine.
    ClusterError : Raised if the cluster cannot finish the work.

    Examples
    --------
    >>> from distributed import Client
    >>> from rankwise import RankRLS, make_search_data
    >>> from rankwise.dask import DistributedData
    >>> client = Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0")
    >>> data = DistributedData.from_data(make_search_data(20, random_state=0), n_parts=3)
    >>> data
    DistributedData(291 rows in 3 parts, with queries, 22 features)
    >>> RankRLS().fit(data).coef_.shape
    (22,)
    >>> client.close()
    """

    @classmethod
    def from_files(
        cls,
        paths: PathLike | Sequence[PathLike],
        *,
        zero_based: bool | Auto = "auto",
        n_features: int | None = None,
        merge_queries: bool = False,
        client: Client | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> Self:
        """Let each worker read its own files, which must have the same names on all workers.

        Parameters
        ----------
        paths : path, pattern or list of them
            LETOR text or stores, one part each. A pattern such as ``"part-*.txt"`` is expanded here, in
            alphabetical order.
        zero_based, n_features
            As in `load_letor`; by default, they are determined from all files together.
        merge_queries : bool
            Whether files may share queries; see `RankingData.concat`.
        client : Client, optional
            The current one by default.
        progress : callable, optional
            Called with the number of files read so far and the number of all files.
        """
        files, client = _expanded(paths), client or default_client()
        zero_based = check_flag_or_auto("zero_based", zero_based)
        n_features = None if n_features is None else check_count("n_features", n_features)

        def read(part: int) -> Future:
            how, where = (files[part], zero_based, n_features), _near(client, part, len(files))
            return client.submit(attempt, read_part, *how, pure=False, **where)

        merge_queries = check_flag("merge_queries", merge_queries)
        raw = WorkerParts(client, read, files)
        if progress is not None:
            raw.count(progress)
        data = cls._put_together(raw)
        if not merge_queries and data.has_queries:
            data.problem().check_queries_are_whole(files)
        return data

    @classmethod
    def from_frame(
        cls,
        df: Any,
        *,
        label: str,
        qid: str | None = None,
        features: Sequence[str] | None = None,
        weight: str | None = None,
        exclude: Sequence[str] | None = None,
        client: Client | None = None,
    ) -> Self:
        """Use the partitions of a dask DataFrame as parts.

        Parameters
        ----------
        df : dask DataFrame
            The table, one part per partition.
        label, qid, features, weight, exclude
            As in `RankingData.from_frame`.
        client : Client, optional
            The current one by default.
        """
        client = client or default_client()
        frames = client.compute(df.to_delayed())
        columns = {"label": label, "qid": qid, "features": features, "weight": weight, "exclude": exclude}

        def convert(part: int) -> Future:
            return client.submit(attempt, frame_part, frames[part], columns, pure=False)

        return cls._put_together(WorkerParts(client, convert, _numbered(len(frames))))

    @classmethod
    def from_arrays(
        cls, X: Any, y: Any, qid: Any = None, sample_weight: Any = None, *, client: Client | None = None
    ) -> Self:
        """Use the row chunks of dask Arrays as parts.

        Parameters
        ----------
        X : dask Array, shape (m, n)
            The chunks of its rows are the parts; the other arrays must have the same chunks.
        y, qid, sample_weight : dask Array, shape (m,)
            As in `RankRLS.fit`; the last two are optional.
        client : Client, optional
            The current one by default.
        """
        client = client or default_client()
        if np.isnan(X.shape[0]):
            raise DataError("The chunks of X have unknown sizes; call X.compute_chunk_sizes() first.")
        blocks = client.compute(X.rechunk({1: -1}).to_delayed().ravel().tolist())
        columns = [
            None if one is None else client.compute(one.rechunk((X.chunks[0],)).to_delayed().tolist())
            for one in (y, qid, sample_weight)
        ]

        def convert(part: int) -> Future:
            own = [None if column is None else column[part] for column in columns]
            return client.submit(attempt, array_part, blocks[part], *own, pure=False)

        return cls._put_together(WorkerParts(client, convert, _numbered(len(blocks))))

    @classmethod
    def from_data(
        cls,
        data: RankingData,
        n_parts: int | None = None,
        *,
        client: Client | None = None,
    ) -> Self:
        """Send consecutive rows of a data set to the workers.

        Parameters
        ----------
        data : RankingData
            Kept by the client, too, in case workers are lost.
        n_parts : int, optional
            As many as workers by default.
        client : Client, optional
            The current one by default.
        """
        client = client or default_client()
        n_parts = len(living_workers(client)) if n_parts is None else check_count("n_parts", n_parts)
        ends = np.linspace(0, data.n_rows, min(n_parts, data.n_rows) + 1).astype(np.int64)

        def send(part: int) -> Future:
            piece = data.select(slice(ends[part], ends[part + 1]))
            workers = _near(client, part, len(ends) - 1)["workers"]
            try:
                return client.scatter(piece, hash=False, workers=workers)
            except KeyError:  # how the scheduler says that it does not know a worker any more
                raise LostWorkError() from None

        return cls._put_together(WorkerParts(client, send, _numbered(len(ends) - 1)))

    @classmethod
    def _put_together(cls, raw: WorkerParts) -> Self:
        filled = {part: one for part, one in enumerate(raw.each(description_of)) if one is not None}
        if not filled:
            raise DataError("The data has no rows.")
        descriptions = list(filled.values())
        features = common_features(descriptions, [raw.names[part] for part in filled])
        return cls(raw.chosen(list(filled)).derived(problem_of, features), descriptions, features)


def _expanded(paths: PathLike | Sequence[PathLike]) -> list[str]:
    """Absolute file names."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files = [str(file.absolute()) for path in given for file in matching_files(Path(path))]
    if not files:
        raise ParameterError("The 'paths' parameter must name at least one file.")
    return files


def _numbered(n_parts: int) -> list[str]:
    """The names of parts that have none of their own."""
    return [f"part {part}" for part in range(n_parts)]


def _near(client: Client, part: int, n_parts: int) -> dict[str, Any]:
    """Where to put a part: neighbours in the tree of sums belong on the same worker."""
    workers = living_workers(client)
    return {"workers": [workers[part * len(workers) // n_parts]], "allow_other_workers": True}


@sizeof.register(Problem)  # type: ignore[untyped-decorator]
def _(problem: Problem) -> int:
    """The bytes of a part in memory, by which the scheduler decides where work goes."""
    X: Any = problem.X
    arrays: list[AnyArray] = [X.data, X.indices, X.indptr] if hasattr(X, "indptr") else [X]
    return sum(array.nbytes for array in [*arrays, problem.y] if not is_mapped(array))


def read_part(path: str, zero_based: bool | Auto, n_features: int | None) -> RankingData:
    """A store, which stays on disk, or LETOR text; runs on a worker, as do the functions below."""
    try:
        if Path(path).is_dir():
            return open_store(path)
        sizes = find_group_sizes(Path(path))
        if sizes is not None:  # every part would number its queries from 0
            raise FileFormatError(sizes, "parts need query labels rather than sizes; see 'rankwise convert'.")
        return load_letor(path, zero_based=zero_based, n_features=n_features)
    except OSError as error:
        raise FileFormatError(path, f"a worker could not read it: {error.strerror}.") from None


def frame_part(frame: Any, columns: Mapping[str, Any]) -> RankingData | None:
    """The rows of a frame; None if there are none."""
    return None if len(frame) == 0 else RankingData.from_frame(frame, **columns)


def array_part(X: Any, y: Any, qid: Any, sample_weight: Any) -> RankingData | None:
    """The rows of a chunk; None if there are none."""
    return None if X.shape[0] == 0 else RankingData.from_arrays(X, y, qid, sample_weight=sample_weight)
