"""Conversion of data frames of any library to arrays, through narwhals."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence, Sized
from typing import Any

import numpy as np

from rankwise.errors import DataError, ParameterError, did_you_mean
from rankwise.numerals import is_number
from rankwise.preferences.queries import refuse_rounded
from rankwise.rendering import enumerated
from rankwise.types import AnyArray, Matrix
from rankwise.validation.arrays import exact_floats

# What handles text, dates and missing values; commands say it as options.
ENCODED = "train with columns='auto' to encode such columns"


def split_columns(
    frame: Any,
    *,
    label: str | None,
    qid: str | None,
    features: Sequence[str] | str | None,
    doc: str | None,
    weight: str | None = None,
    exclude: Sequence[str] | None = None,
    read_features: Callable[[Any, list[str]], Any] | None = None,
) -> dict[str, Any]:
    """Turn the columns of a pandas, polars or pyarrow table into arguments of `RankingData.from_arrays`.

    `read_features` takes the table and the names of the features, and returns X; by default, a matrix.
    """
    table, names = as_narwhals(frame)
    reserved = [name for name in (label, qid, doc, weight) if name is not None]
    check_present(names, reserved)
    chosen = _chosen(names, reserved, [features] if isinstance(features, str) else features, exclude)
    named = features is not None
    if isinstance(features, str):
        X = vectors(table, features)
    else:
        X = _matrix(table, chosen, named=named) if read_features is None else read_features(table, chosen)
    return {
        "X": X,
        "y": np.zeros(len(table)) if label is None else number_values(table, label),
        "qid": None if qid is None else label_values(table, qid),
        "docs": None if doc is None else label_values(table, doc),
        "sample_weight": None if weight is None else number_values(table, weight),
        "feature_names": None if isinstance(features, str) else tuple(str(name) for name in chosen),
    }


def judgment_columns(
    frame: Any, *, label: str | None, qid: str | None, doc: str | None
) -> tuple[AnyArray, AnyArray | None, AnyArray | None]:
    """The labels of the rows, their queries and their documents; other columns may hold anything."""
    table, names = as_narwhals(frame)
    check_present(names, [name for name in (label, qid, doc) if name is not None])
    return (
        np.zeros(len(table)) if label is None else number_values(table, label),
        None if qid is None else label_values(table, qid),
        None if doc is None else label_values(table, doc),
    )


def vectors(table: Any, name: str) -> Matrix:
    """A column of vectors of equal length, such as PyTerrier's "features", as a matrix."""
    column = table.get_column(name)
    _check_complete(column, name)
    rows = column.to_list()
    lengths = [len(row) if _is_list(row) else 0 for row in rows]
    odd = next((row for row, length in enumerate(lengths) if length != lengths[0] or not length), None)
    if odd is not None:
        meant = f"; for a column of numbers, pass features=[{name!r}]"
        held = f"{lengths[odd]} numbers" if lengths[odd] else f"{rows[odd]!r:.40}{meant}"
        raise DataError(
            f"Column {name!r} must contain vectors of one length, that of row 0; row {odd} has {held}."
        )
    try:
        return np.array(rows, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"Column {name!r} must contain vectors of numbers: {error}.") from None


# What PyTerrier and ir_measures call the columns of runs and qrels.
NAMES_OF_QUERY, NAMES_OF_DOC = ("qid", "query_id"), ("docno", "doc_id")


def values_of_frame(frame: Any, *values: str) -> dict[str, dict[str, float]]:
    """Numbers by query and document, of a run or qrels; `values` is what the column may be called."""
    table, names = as_narwhals(frame)
    qid, doc, value = (_one_of(names, wanted) for wanted in (NAMES_OF_QUERY, NAMES_OF_DOC, values))
    found: dict[str, dict[str, float]] = {}
    columns = (label_values(table, qid), label_values(table, doc), number_values(table, value))
    for query, name, number in zip(*(column.tolist() for column in columns), strict=True):
        of_query = found.setdefault(str(query), {})
        if str(name) in of_query:
            raise DataError(f"The query {query!r} contains the document {name!r} more than once.")
        of_query[str(name)] = number
    return found


def _one_of(names: list[Any], wanted: Sequence[str]) -> str:
    for name in wanted:
        if name in names:
            return name
    raise DataError(
        f"The frame needs a column {' or '.join(map(repr, wanted))}; its columns are {_first(names)}."
    )


def as_narwhals(frame: Any) -> tuple[Any, list[Any]]:
    import narwhals as nw

    try:
        table = nw.from_native(frame, eager_only=True)
        names = list(table.columns)
    except TypeError:
        kind = f"{type(frame).__module__.partition('.')[0]} {type(frame).__name__}"
        hint = "; call its collect() first" if hasattr(frame, "collect") else ""
        raise DataError(f"from_frame expects a pandas, polars or pyarrow table; got {kind}{hint}.") from None
    except nw.exceptions.DuplicateError:
        raise DataError("The table has duplicate column names; column names must be unique.") from None
    if len(table) == 0:
        raise DataError("The table has no rows.")
    return table, names


def _chosen(
    names: list[str], reserved: list[str], features: Sequence[str] | None, exclude: Sequence[str] | None
) -> list[str]:
    if exclude is not None and (features is not None or not _is_list(exclude)):
        wanted = "a list of column names" if features is None else "None if 'features' is given"
        raise ParameterError(f"The 'exclude' parameter must be {wanted}; got {exclude!r}.")
    if features is None:
        check_present(names, list(exclude or ()))
        left_out = {*reserved, *(exclude or ())}
        chosen = [name for name in names if name not in left_out]
        if not chosen:
            used = "the label, qid, doc or weight column" if exclude is None else "used otherwise or excluded"
            raise DataError(f"The table has no feature columns: every column is {used}.")
        return chosen
    check_features(features)
    check_present(names, list(features))
    for name in features:
        if name in reserved:
            used = "the label, qid, doc or weight column"
            raise ParameterError(f"Column {name!r} cannot be a feature: it is {used}.")
    return list(features)


def check_features(features: Any) -> None:
    """Reject what is not a list of names; None stands for all columns."""
    if features is not None and not (_is_list(features) and len(features)):
        raise ParameterError(f"The 'features' parameter must be a list of column names; got {features!r}.")


def _is_list(names: Any) -> bool:
    return isinstance(names, Iterable) and isinstance(names, Sized) and not isinstance(names, str)


def check_present(names: list[str], wanted: list[str]) -> None:
    """Reject a table without all of the wanted columns, and name one that may have been meant."""
    by_name = set(names)
    absent = [name for name in wanted if not (isinstance(name, Hashable) and name in by_name)]
    if absent:
        meant = did_you_mean(absent[0], names) if len(absent) == 1 else "."
        if meant == ".":
            meant = f"; its columns are {_first(names)}."
        these = f"no column{'s' if len(absent) > 1 else ''} {enumerated([*map(repr, absent)])}"
        raise DataError(f"The table has {these}{meant}")


def _first(names: list[Any]) -> str:
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return f"{', '.join(map(repr, names[:20]))}{more}"


def _matrix(table: Any, names: list[str], *, named: bool) -> Matrix:
    import narwhals as nw

    schema = table.schema  # which takes a look at every column
    for name in names:
        dtype = schema[name]
        if not (dtype.is_numeric() or dtype == nw.Boolean):
            _check_complete_objects(table.get_column(name), name)
            hint = f"; {ENCODED}" + ("" if named else ", or leave it out with the 'exclude' parameter")
            held = f"it contains {_in_words(dtype)}{_first_word(table.get_column(name))}, not numbers{hint}"
            raise DataError(f"Column {name!r} cannot be a feature: {held}.")
    all_single = all(schema[name] == nw.Float32 for name in names)
    X = np.empty((len(table), len(names)), dtype=np.float32 if all_single else np.float64)
    for j, name in enumerate(names):
        X[:, j] = number_values(table, name, f"; {ENCODED}")
    return X


def number_values(table: Any, name: str, remedy: str = "") -> AnyArray:
    """A column of numbers, none of which is missing."""
    import narwhals as nw

    column = table.get_column(name)
    dtype = column.dtype
    if not (dtype.is_numeric() or dtype == nw.Boolean):
        raise DataError(f"Column {name!r} must contain numbers; got {_in_words(dtype)}{_first_word(column)}.")
    _check_complete(column, name, remedy)
    if dtype.is_integer():
        return exact_floats(f"Column {name!r}", whole_numbers(column))
    if dtype not in (nw.Float32, nw.Float64):
        column = column.cast(nw.Float64)
    return np.asarray(column.to_numpy())


def whole_numbers(column: Any) -> AnyArray:
    """The integers of a column; as Python objects if they have 128 bits, which NumPy does not know."""
    import narwhals as nw

    if column.dtype in (nw.Int128, nw.UInt128):
        return np.array(column.to_list(), dtype=object)
    return np.asarray(column.to_numpy())


def _in_words(dtype: Any) -> str:
    import narwhals as nw

    return "text" if dtype == nw.String else str(dtype)


def _first_word(column: Any) -> str:
    """The first non-numeric text in a column, which made the whole column text."""
    import narwhals as nw

    if column.dtype not in (nw.String, nw.Object):
        return ""  # Python has no dates or durations for some values of such columns
    for row, value in enumerate(column.to_list()):
        if isinstance(value, str) and not is_number(value):
            return f" ({value[:40]!r} in row {row})"
    return ""


def label_values(table: Any, name: str) -> AnyArray:
    """A column of labels of any type, none of which is missing."""
    column = table.get_column(name)
    _check_complete(column, name)
    values = whole_numbers(column) if column.dtype.is_integer() else np.asarray(column.to_numpy())
    refuse_rounded(f"Column {name!r}", values)
    if values.dtype.kind == "O":
        # Dates and the like are returned as the objects the user passed in.
        values = np.empty(len(values), dtype=object)
        values[:] = column.to_list()
    return values


def _check_complete_objects(column: Any, name: str) -> None:
    """Name the missing value that made a column of flags or numbers one of Python objects."""
    import narwhals as nw

    if column.dtype == nw.Object and {type(value) for value in column.to_list()} & {bool, int, float}:
        _check_complete(column, name, f"; {ENCODED}")


def _check_complete(column: Any, name: str, remedy: str = "") -> None:
    if column.null_count():
        row = int(np.asarray(column.is_null().to_numpy(), dtype=bool).argmax())
        raise DataError(f"Column {name!r} has a missing value in row {row} (counting from 0){remedy}.")
