"""Judged rows on disk: a folder of plain ``.npy`` arrays and a manifest, opened without reading the data."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from rankwise.errors import DataError, FileFormatError
from rankwise.features import Features
from rankwise.files import as_path, replacing_folder
from rankwise.preferences.queries import Queries
from rankwise.readers.manifest import (
    LABEL_KINDS,
    Manifest,
    check_is_store,
    open_array,
    read_manifest,
    verify_checksums,
    which_store,
    write_manifest,
)
from rankwise.readers.npy import ArrayFile, write_array
from rankwise.readers.store_checks import check_shapes, check_structure, check_text
from rankwise.rows.ranking import RankingData
from rankwise.rows.storage import csr_around
from rankwise.types import AnyArray, Ints, Matrix
from rankwise.validation import check_count, check_flag, check_kind

# Text has a fixed width on disk, so a single long label would widen them all.
MAX_LABEL_LENGTH = 1000
ENDS_IN_NUL = "ends in a NUL character, which a store cannot keep"


def open_store(path: str | os.PathLike[str], *, verify: bool = False) -> RankingData:
    """Open a store written by `save_store` or `convert_letor`.

    Every array stays on disk and is paged in on use, so opening takes little time and no memory, whatever the
    size of the store. Sizes, types, the version, the row structure (a few bytes per row) and text labels are
    always checked; the columns of a sparse X are checked when they are used. The files must not change while
    in use: one that is truncated is rejected before each pass over X, but during a pass it ends the process
    (SIGBUS).

    Parameters
    ----------
    path : path
        The folder of the store.
    verify : bool
        Also read everything once to check the checksums and the structure of X, in O(bytes) time and bounded
        memory.

    Returns
    -------
    RankingData
        As returned by `load_letor`, but with read-only arrays and without comments, which stores drop.

    Examples
    --------
    >>> from rankwise import RankRLS, make_search_data, open_store, save_store
    >>> save_store(make_search_data(20, random_state=0), "train.store")
    >>> data = open_store("train.store", verify=True)
    >>> RankRLS().fit(data).coef_.shape
    (22,)
    """
    folder, verify = as_path(path), check_flag("verify", verify)
    while True:
        opened = which_store(folder)
        try:
            data = _open(folder, verify=verify)
        except (FileFormatError, OSError):
            if which_store(folder) == opened:
                raise
        else:
            if which_store(folder) == opened:
                return data
        # The store was replaced meanwhile, so the arrays may come from both versions.


def _open(folder: Path, *, verify: bool) -> RankingData:
    manifest = read_manifest(folder)
    check_shapes(folder, manifest)
    if verify:
        verify_checksums(folder, manifest)
    arrays = {name: open_array(folder, entry) for name, entry in manifest.arrays.items()}
    X = _matrix(arrays, (manifest.n_rows, manifest.n_features))
    queries = Queries(arrays["offsets"], arrays.get("order"), arrays.get("query_labels"))
    check_structure(folder, X, queries, deep=verify)
    check_text(folder, arrays)
    return RankingData(
        X=X,
        y=arrays["y"],
        queries=queries,
        qid=arrays.get("qid"),
        docs=arrays.get("docs"),
        sample_weight=arrays.get("sample_weight"),
        features=Features(
            manifest.feature_names, manifest.numbered_from, scaled_per_query=manifest.scaled_per_query
        ),
    )


def save_store(data: RankingData, path: str | os.PathLike[str]) -> None:
    """Write a store. An existing store is replaced once the new one is complete.

    Rows keep their order; if the rows of a query are not contiguous, ``order`` lists them query by query.
    Document labels and weights are kept, comments are not. O(bytes); data on disk need not fit in memory.

    Parameters
    ----------
    data : RankingData
        The data to write.
    path : path
        The folder to write; a folder that contains anything but a store is not overwritten.

    Examples
    --------
    >>> from rankwise import make_search_data, open_store, save_store
    >>> save_store(make_search_data(20, random_state=0), "train.store")
    >>> open_store("train.store")
    RankingData(291 rows, 20 queries, 22 features (float64))
    """
    data = check_kind("data", data, RankingData)
    with replacing_folder(path, check=check_is_store) as folder:

        def write(name: str, array: AnyArray) -> None:
            arrays[name] = write_array(folder / f"{name}.npy", array.dtype, [array], array.shape)

        arrays: dict[str, ArrayFile] = {}
        write("y", data.y)
        if isinstance(data.X, np.ndarray):
            write("X", data.X)
        else:
            X = data.X if data.X.has_canonical_format else data.X.copy()
            X.sum_duplicates()
            for name in ("data", "indices", "indptr"):
                write(name, getattr(X, name))
        write("offsets", data.queries.offsets)
        if data.queries.order is not None:
            write("order", data.queries.order)
        if data.queries.labels is not None:
            write("query_labels", storable("qid", data.queries.labels))
        if data.qid is not None:
            write("qid", storable("qid", data.qid))
        if data.docs is not None:
            write("docs", storable("docs", data.docs))
        if data.sample_weight is not None:
            write("sample_weight", data.sample_weight)
        manifest = Manifest(
            n_rows=data.n_rows,
            n_features=data.n_features,
            n_queries=data.n_queries,
            feature_names=data.feature_names,
            scaled_per_query=data.scaled_per_query,
            arrays=arrays,
            numbered_from=data.numbered_from,
        )
        write_manifest(folder, manifest)


def storable(name: str, labels: AnyArray) -> AnyArray:
    """Labels as an array of numbers, dates or text that can be stored without pickle."""
    if labels.dtype.kind in LABEL_KINDS:
        return labels
    if labels.dtype.kind != "O":
        raise DataError(
            f"A store holds labels that are numbers, dates or text; {name} contains {labels.dtype}."
        )
    entries = labels.tolist()
    kinds = {type(label) for label in entries}
    if kinds == {str} and (longest := max(map(len, entries))) > MAX_LABEL_LENGTH:
        limit = f"a store holds labels of at most {MAX_LABEL_LENGTH:,} characters"
        raise DataError(f"{name} has a label of {longest:,} characters; {limit}.")
    if kinds in ({str}, {int}, {float}):
        array = np.array(entries)
        if kinds == {str} and array.tolist() != entries:
            raise DataError(f"{name} has a label that {ENDS_IN_NUL}.")
        if array.dtype.kind != "O":
            return array
    found = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise DataError(f"A store holds labels of a single type, text or numbers; {name} contains {found}.")


def _matrix(arrays: dict[str, AnyArray], shape: tuple[int, int]) -> Matrix:
    if "X" in arrays:
        return arrays["X"]
    return csr_around(arrays["data"], arrays["indices"], arrays["indptr"], shape)


def save_parts(data: RankingData, path: str | os.PathLike[str], n_parts: int) -> None:
    """Write stores ``part-0000.store``, ... of whole queries with about equally many rows.

    An existing folder of such stores is replaced once the new one is complete. Rows of one global ranking are
    divided as they come. Memory is that of one part.

    Parameters
    ----------
    data : RankingData
    path : path
        The folder to write.
    n_parts : int
        The number of stores; fewer if there are fewer queries.
    """
    with replacing_folder(path, check=_check_is_parts) as folder:
        for number, rows in enumerate(_divided(data, check_count("n_parts", n_parts))):
            save_store(data.select(rows), folder / f"part-{number:04d}.store")


def _divided(data: RankingData, n_parts: int) -> list[Ints]:
    """The rows of each part, in ascending order."""
    if data.queries.labels is None:
        return np.array_split(np.arange(data.n_rows), min(n_parts, data.n_rows))
    # A query belongs to the part in which its middle row would be.
    middle = (data.queries.offsets[:-1] + data.queries.offsets[1:]) / 2.0
    part = np.minimum((middle * n_parts / data.n_rows).astype(np.int64), n_parts - 1)
    of_row = part[data.queries.query_of_row()]
    return [np.flatnonzero(of_row == number) for number in np.unique(part)]


def _check_is_parts(folder: Path) -> None:
    for entry in folder.iterdir():
        if not (entry.is_dir() and entry.match("part-*.store")):
            message = f"the folder contains {entry.name}, which is not a part; refusing to overwrite it."
            raise FileFormatError(folder, message)
        check_is_store(entry)
