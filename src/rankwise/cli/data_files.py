"""Reading data in any format, from one file or several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwise.errors import DataError, FileFormatError, ParameterError, QueryWarning, warn_caller
from rankwise.files import matching_files
from rankwise.long_tasks import step, task
from rankwise.readers.group_files import find_group_sizes

if TYPE_CHECKING:
    from rankwise.rows.ranking import RankingData

TABLES = {".csv", ".tsv", ".parquet", ".pq"}
LOGS = {".json", ".jsonl", ".ndjson"}


@dataclass(frozen=True)
class ReadOptions:
    """How to read data: the columns of tables, the feature numbering of text, whether to scale, and whether
    several files may share queries.

    If `label` and `qid` are None, the columns of labels and queries have these names, or those that a model
    knows (`column_names`); "" means that there is no such column.

    Without `labelled`, labels come from another file, and a table need not have a label column. With
    `as_table`, the columns of a table stay as they are, for models that encode them. `chosen_by` is the
    option, if any, that chooses columns of tables.
    """

    label: str | None = None
    qid: str | None = None
    doc: str | None = None
    zero_based: bool | None = None
    scale: bool = False
    merge_queries: bool = False
    exclude: Sequence[str] | None = None
    labelled: bool = True
    as_table: bool = False
    chosen_by: str | None = None

    def check_columns(self, files: Sequence[Path]) -> None:
        """Refuse to ignore a choice of columns for text and stores, which are read with all features."""
        other = next((file for file in files if file.is_dir() or not is_table(file)), None)
        if self.chosen_by is not None and other is not None:
            raise ParameterError(
                f"{self.chosen_by} chooses columns of tables, but {other} is not a table; all its features "
                "are read."
            )

    @property
    def label_column(self) -> str | None:
        """The column of labels in a table; None for rows without."""
        return "label" if self.label is None else self.label or None

    @property
    def qid_column(self) -> str | None:
        """The column of query labels in a table; None for one ranking."""
        return "qid" if self.qid is None else self.qid or None

    @property
    def of_judgments(self) -> dict[str, str]:
        """What the columns of a file of judgments are called; `load_judgments` also knows the usual names."""
        names = {"label": self.label_column, "qid": self.qid_column, "doc": self.doc}
        return {role: name or role for role, name in names.items()}


def data_files(path: Path) -> list[Path]:
    """The files that an argument names: one, several separated by commas, or those that match a pattern.

    A file whose name contains commas or brackets is that file.
    """
    if path.exists():
        return [path]
    return [file for part in str(path).split(",") for file in matching_files(Path(part))]


def files_to_read(path: Path) -> list[Path]:
    """All files that reading an argument may open."""
    files = data_files(path)
    return files + [beside for file in files if (beside := find_group_sizes(file)) is not None]


def read_data(
    path: Path, how: ReadOptions, *, features: Sequence[str] | None = None, n_features: int | None = None
) -> RankingData:
    """Read text, tables or stores, distinguished by name.

    `features` selects the columns of a table; `n_features` widens text whose last features never occur.
    """
    files = data_files(path)
    how.check_columns(files)
    if len(files) > 1 and not any(file.is_dir() or is_table(file) for file in files):
        data = _read_text(files, how, n_features)
    else:
        data = concatenate(files, lambda file: _read_one(file, how, features, n_features), how)
    if how.scale and data.qid is None:
        raise DataError(f"{path}: --scale scales features within each query, but the data has no queries.")
    return data.scale_per_query() if how.scale else data


def concatenate(files: list[Path], read: Callable[[Path], RankingData], how: ReadOptions) -> RankingData:
    """The data of one file, or of several that must have the same features."""
    from rankwise.rows.concatenation import concatenated

    parts = [read(file) for file in files]
    return concatenated(parts, [str(file) for file in files], merge_queries=how.merge_queries)


def _read_one(
    path: Path, how: ReadOptions, features: Sequence[str] | None, n_features: int | None
) -> RankingData:
    if path.is_dir():
        from rankwise.readers.store import open_store

        return open_store(path)
    if is_table(path):
        with task(f"Reading {path.name}"):
            return _read_table(path, how, features)
    return _read_text([path], how, n_features)


def _read_table(path: Path, how: ReadOptions, features: Sequence[str] | None) -> RankingData:
    from rankwise.readers.tables import load_features, load_table

    label, exclude = how.label_column, how.exclude if features is None else None
    columns: dict[str, Any] = {"qid": how.qid_column, "doc": how.doc, "features": features}
    columns |= {"exclude": exclude, "as_table": how.as_table}
    if how.labelled:
        return load_table(path, label=label, **columns)
    return load_features(path, ignored=label, **columns)


def _read_text(files: list[Path], how: ReadOptions, n_features: int | None) -> RankingData:
    from rankwise.cli.reading import is_model
    from rankwise.readers.letor import load_letor

    log = next(filter(is_log, files), None)
    if log is not None:
        raise DataError(f"{log}: a feature log must first be joined to judgments (rankwise convert).")
    try:
        with task(f"Reading {files[0].name}{' and others' if len(files) > 1 else ''}"):
            return load_letor(
                files,
                zero_based="auto" if how.zero_based is None else how.zero_based,
                n_features=n_features,
                merge_queries=how.merge_queries,
                progress=lambda done, total: step(done=done / max(total, 1)),
            )
    except FileFormatError as error:
        if not is_model(error.path):
            raise
        message = "is a model; expected data. Is the order of the arguments right?"
        raise FileFormatError(error.path, message) from None


def warn_of_one_ranking(path: Path, data: RankingData, how: ReadOptions) -> None:
    """Say that rows to learn from have no queries, unless that was asked for."""
    if not data.has_queries and how.qid != "":
        warn_caller(
            f"{path}: the rows have no qid, so all {data.n_rows} form one ranking; if that is meant, say so "
            "with --qid ''.",
            QueryWarning,
        )


def is_table(path: Path) -> bool:
    return bool(TABLES.intersection(suffix.lower() for suffix in path.suffixes))


def is_log(path: Path) -> bool:
    """Whether a file is a feature log, by its name."""
    return bool(LOGS.intersection(suffix.lower() for suffix in path.suffixes))
