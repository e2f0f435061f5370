"""Conversion of LETOR text to a store, in one pass and bounded memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import DTypeLike

from rankwise.errors import FileFormatError
from rankwise.files import replacing_folder
from rankwise.preferences.queries import group_codes, one_query
from rankwise.readers.letor_file import LetorFile, LetorRows
from rankwise.readers.manifest import Manifest, check_is_store, write_manifest
from rankwise.readers.npy import HEADER_BYTES, PIECE_BYTES, ArrayFile, ArrayWriter, read_pieces, write_array
from rankwise.readers.store import ENDS_IN_NUL, MAX_LABEL_LENGTH, storable
from rankwise.readers.text import OnBytesRead, decoded
from rankwise.rows.storage import is_dense
from rankwise.types import AnyArray, Auto
from rankwise.validation import check_flag, check_flag_or_auto

_ROWS_PER_PIECE = 1 << 14


def convert_letor(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    store: str | os.PathLike[str],
    *,
    dtype: str = "float64",
    dense: bool | Auto = "auto",
    zero_based: bool | Auto = "auto",
    n_features: int | None = None,
    merge_queries: bool = False,
    progress: OnBytesRead | None = None,
) -> None:
    """Convert LETOR/SVMlight text to a store that `open_store` opens.

    The text is read once, block by block, and each block's arrays are written before the next block is read.
    This takes O(file) time and bounded memory, whatever the size of the file (except for 16 bytes per row if
    the rows of a query are not contiguous). After a failure, including a full disk, no partial store remains.

    Parameters
    ----------
    path : path or list of paths
        The text file, or several that are read as if they were one.
    store : path
        The folder to write. An existing store is replaced once the new one is complete.
    dtype, dense, zero_based, n_features, merge_queries, progress
        As in `load_letor`. The data is the same as `load_letor` returns, except that comments are dropped.

    Raises
    ------
    FileFormatError
        If the text is malformed; the message names the file and the line.

    Examples
    --------
    >>> from rankwise import convert_letor, make_search_data, open_store, save_letor
    >>> save_letor(make_search_data(20, random_state=0), "train.txt.gz")
    >>> convert_letor("train.txt.gz", "train.store", dtype="float32")
    >>> open_store("train.store")
    RankingData(291 rows, 20 queries, 22 features (float32))
    """
    dense, merge_queries = check_flag_or_auto("dense", dense), check_flag("merge_queries", merge_queries)
    reader = LetorFile(path, dtype=dtype, zero_based=zero_based, n_features=n_features)
    with replacing_folder(store, check=check_is_store) as folder, _Spool(folder, dtype) as spool:
        for _ in reader.blocks(progress):
            spool.append(reader.take())
        spool.rewind()
        if not merge_queries and len(reader.query_labels()):
            reader.check_queries_differ(spool.query_codes())
        shape, first_index = (spool.y.size, reader.n_features()), reader.first_index()
        arrays = {"y": spool.y.finish(), **_query_arrays(folder, spool, reader)}
        if spool.longest_doc > 0:
            arrays["docs"] = _doc_array(folder, spool, reader.source)
        if is_dense(dense, spool.data.size, *shape):
            arrays["X"] = _dense_array(folder, spool, shape, first_index)
        else:
            arrays |= _sparse_arrays(folder, spool, shape, first_index)
        spool.remove()
        manifest = Manifest(
            n_rows=shape[0],
            n_features=shape[1],
            n_queries=arrays["offsets"].shape[0] - 1,
            feature_names=None,
            scaled_per_query=False,
            arrays=arrays,
            numbered_from=first_index,
        )
        write_manifest(folder, manifest)


class _Spool:
    """Rows written to disk as they arrive: labels and values in final form, the rest raw until the end."""

    def __init__(self, folder: Path, dtype: DTypeLike) -> None:
        self.y = ArrayWriter(folder / "y.npy", np.float64)
        self.data = ArrayWriter(folder / "data.npy", dtype)
        self.row_ends, self.indices, self.queries, self.docs = (
            (folder / f"raw_{name}").open("w+b") for name in ("row_ends", "indices", "queries", "docs")
        )
        self.longest_doc = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for file in (self.y, self.data, self.row_ends, self.indices, self.queries, self.docs):
            file.close()

    def append(self, rows: LetorRows) -> None:
        self.row_ends.write((rows.row_ends + self.data.size).data)
        self.indices.write(rows.indices.astype(np.int64).data)
        if rows.queries is not None:
            self.queries.write(rows.queries.data)
        docs = rows.docs if rows.docs is not None else b"\n" * len(rows.labels)
        self.docs.write(docs)
        self.longest_doc = max(self.longest_doc, *map(len, docs.split(b"\n")))
        self.y.append(rows.labels)
        self.data.append(rows.values)

    def rewind(self) -> None:
        """Switch from writing to reading."""
        for file in (self.row_ends, self.indices, self.queries, self.docs):
            file.seek(0)

    def query_codes(self) -> AnyArray:
        """The query number of each row, on disk."""
        return np.memmap(Path(self.queries.name), dtype=np.int64, mode="r")

    def remove(self) -> None:
        for file in (self.row_ends, self.indices, self.queries, self.docs):
            file.close()
            Path(file.name).unlink()


def _query_arrays(folder: Path, spool: _Spool, reader: LetorFile) -> dict[str, ArrayFile]:
    def write(name: str, dtype: DTypeLike, parts: Iterable[AnyArray]) -> None:
        arrays[name] = write_array(folder / f"{name}.npy", dtype, parts)

    arrays: dict[str, ArrayFile] = {}
    labels = storable("qid", reader.query_labels())
    if len(labels) == 0:
        sizes = reader.group_sizes()
        if sizes is None:
            write("offsets", np.int64, [one_query(spool.y.size).offsets])
            return arrays
        labels = np.arange(len(sizes))
        write("offsets", np.int64, [np.cumsum([0, *sizes])])
        write("query_labels", np.int64, [labels])
        starts = range(0, len(sizes), _ROWS_PER_PIECE)
        pieces = (slice(start, start + _ROWS_PER_PIECE) for start in starts)
        write("qid", np.int64, (np.repeat(labels[piece], sizes[piece]) for piece in pieces))
        return arrays
    path = Path(spool.queries.name)
    queries = group_codes(spool.query_codes(), labels)
    write("offsets", np.int64, [queries.offsets])
    write("query_labels", labels.dtype, [labels])
    write("qid", labels.dtype, (labels[codes] for codes in read_pieces(path, np.int64)))
    if queries.order is not None:
        write("order", np.int64, [queries.order])
    return arrays


def _doc_array(folder: Path, spool: _Spool, source: str) -> ArrayFile:
    if spool.longest_doc > MAX_LABEL_LENGTH:
        message = (
            f"a document label has {spool.longest_doc:,} bytes; a store holds at most {MAX_LABEL_LENGTH:,}."
        )
        raise FileFormatError(source, message)

    def parts() -> Iterator[AnyArray]:
        while lines := list(islice(spool.docs, _ROWS_PER_PIECE)):
            if any(line.endswith(b"\0\n") for line in lines):
                raise FileFormatError(source, f"a document label {ENDS_IN_NUL}.")
            yield np.array(decoded(b"".join(lines)).split("\n")[:-1])

    width = max(part.dtype.itemsize // 4 for part in parts())
    spool.docs.seek(0)
    return write_array(folder / "docs.npy", f"<U{width}", parts())


def _sparse_arrays(
    folder: Path, spool: _Spool, shape: tuple[int, int], first_index: int
) -> dict[str, ArrayFile]:
    dtype = np.int32 if max(shape[1], spool.data.size) <= np.iinfo(np.int32).max else np.int64
    indices = (piece - first_index for piece in read_pieces(Path(spool.indices.name), np.int64))
    row_ends = read_pieces(Path(spool.row_ends.name), np.int64)
    return {
        "data": spool.data.finish(),
        "indices": write_array(folder / "indices.npy", dtype, indices),
        "indptr": write_array(folder / "indptr.npy", dtype, chain([np.zeros(1, dtype)], row_ends)),
    }


def _dense_array(folder: Path, spool: _Spool, shape: tuple[int, int], first_index: int) -> ArrayFile:
    values, place = spool.data, folder / "X.npy"
    if values.size == shape[0] * shape[1]:  # every row is full, with ascending indices
        entry = values.finish(shape)
        values.path.rename(place)
        return replace(entry, file=place.name)

    def parts() -> Iterator[AnyArray]:
        start = 0
        with values.path.open("rb") as file:
            file.seek(HEADER_BYTES)
            while len(ends := np.fromfile(spool.row_ends, np.int64, count=step)):
                rows = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=start))
                part = np.zeros((len(ends), shape[1]), dtype=values.dtype)
                columns = np.fromfile(spool.indices, np.int64, count=len(rows)) - first_index
                part[rows, columns] = np.fromfile(file, values.dtype, count=len(rows))
                start = ends[-1]
                yield part

    values.close()
    step = max(1, PIECE_BYTES // (values.dtype.itemsize * shape[1]))
    entry = write_array(place, values.dtype, parts(), shape)
    values.path.unlink()
    return entry
