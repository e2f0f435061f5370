"""The fitted state of an estimator: how each attribute is written, and how it is checked when read.

A schema (`rankwise.model.schemas`) declares it in one line, for example::

    (array("coef_", "features"), value("n_iter_", int, optional=True))

A shape names its dimensions: equal names must have equal sizes within a file, ``features`` is
``n_features_in_``, and a dimension whose name ends in ``?`` is optional.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from rankwise.errors import DataError
from rankwise.tensor_file import Content, RefusedError
from rankwise.types import AnyArray, Ints
from rankwise.validation.csr import check_sparse

Plain: TypeAlias = "bool | int | float | str | list[Plain] | dict[str, Plain] | None"


class Field(Protocol):
    """One attribute of a fitted estimator."""

    @property
    def name(self) -> str: ...
    @property
    def optional(self) -> bool: ...
    def pack(self, attribute: Any, content: Content) -> None: ...
    def is_in(self, content: Content) -> bool: ...
    def unpack(self, content: Content) -> Any: ...


Fields: TypeAlias = tuple[Field, ...]


@dataclass(frozen=True)
class ArrayField:
    """A dense array, stored as one tensor."""

    name: str
    shape: str
    kinds: str
    optional: bool
    nan: bool

    def pack(self, attribute: Any, content: Content) -> None:
        content.tensors[self.name] = np.ascontiguousarray(attribute)

    def is_in(self, content: Content) -> bool:
        return self.name in content.tensors

    def unpack(self, content: Content) -> AnyArray:
        return content.take_tensor(self.name, self.kinds, self.shape, nan=self.nan)


@dataclass(frozen=True)
class RowsField:
    """A feature matrix, stored as one tensor when dense and as three when CSR."""

    name: str
    shape: str
    optional: bool

    def pack(self, attribute: Any, content: Content) -> None:
        if not hasattr(attribute, "indptr"):
            content.tensors[self.name] = np.ascontiguousarray(attribute)
            return
        for part in ("data", "indices", "indptr"):
            content.tensors[f"{self.name}.{part}"] = np.ascontiguousarray(getattr(attribute, part))
        content.values[f"{self.name}.shape"] = list(attribute.shape)

    def is_in(self, content: Content) -> bool:
        return self.name in content.tensors or f"{self.name}.data" in content.tensors

    def unpack(self, content: Content) -> Any:
        if self.name in content.tensors:
            return content.take_tensor(self.name, "f", self.shape)
        from scipy import sparse

        shape = content.values.pop(f"{self.name}.shape", None)
        if not (
            isinstance(shape, list) and len(shape) == 2 and all(type(n) is int and n >= 0 for n in shape)
        ):
            raise RefusedError(
                f"the shape of the sparse matrix '{self.name}' is missing or not a pair of sizes"
            )
        content.match(self.name, tuple(shape), self.shape)
        data = content.take_tensor(f"{self.name}.data", "f", f"{self.name}-entries")
        indices = content.take_tensor(f"{self.name}.indices", "i", f"{self.name}-entries")
        indptr = content.take_tensor(f"{self.name}.indptr", "i", f"{self.name}-offsets")
        try:
            matrix = sparse.csr_matrix((data, indices, indptr), shape=tuple(shape))
            check_sparse(matrix)  # SciPy checks no offsets if the last one is 0
        except (ValueError, OverflowError) as error:
            raise RefusedError(f"the sparse matrix '{self.name}' is damaged ({error})") from None
        return matrix


@dataclass(frozen=True)
class ValueField:
    """A number, a string, or lists and dictionaries of these, stored as JSON."""

    name: str
    kinds: tuple[type, ...]
    optional: bool
    minimum: float | None = None

    def pack(self, attribute: Any, content: Content) -> None:
        content.values[self.name] = plain(attribute, f"the attribute {self.name}")

    def is_in(self, content: Content) -> bool:
        return self.name in content.values

    def unpack(self, content: Content) -> Any:
        if self.name not in content.values:
            raise RefusedError(f"the value '{self.name}' is missing")
        found = content.values.pop(self.name)
        if float in self.kinds and type(found) is int and abs(found) <= sys.float_info.max:
            found = float(found)
        is_kind = type(found) in self.kinds
        if self.minimum is not None and not (is_kind and self.minimum <= found < math.inf):
            raise RefusedError(
                f"the value '{self.name}' must be a finite number of at least {self.minimum:g}, "
                f"not {str(found)[:40]}"
            )
        if not is_kind:
            expected = " or ".join(kind.__name__ for kind in self.kinds)
            raise RefusedError(f"the value '{self.name}' must be {expected}, not {repr(found)[:40]}")
        return found


def array(name: str, shape: str, kinds: str = "f", *, optional: bool = False, nan: bool = False) -> Field:
    """An array of floats (``kinds="f"``), ints (``"i"``) or booleans (``"b"``); `nan` allows NaN."""
    return ArrayField(name, shape, kinds, optional, nan)


def rows(name: str, shape: str, *, optional: bool = False) -> Field:
    """A dense or CSR feature matrix, such as the basis rows of a kernel model."""
    return RowsField(name, shape, optional)


def value(name: str, *kinds: type, optional: bool = False, minimum: float | None = None) -> Field:
    """A plain value of one of the given types (``float`` also accepts ints).

    With a `minimum`, it must be a finite number not below it.
    """
    return ValueField(name, kinds, optional, minimum)


def check_within(name: str, indices: Ints, size: int) -> None:
    """Reject indices of rows or pairs that do not exist."""
    if len(indices) and not 0 <= indices.min() <= indices.max() < size:
        raise RefusedError(f"the tensor '{name}' must hold numbers from 0 to {size - 1}")


def plain(item: Any, what: str) -> Plain:
    """Return the JSON form of a parameter or attribute; tuples and arrays become lists.

    Raises
    ------
    DataError
        If only code could rebuild it, as with a function.
    """
    if isinstance(item, np.generic | np.ndarray):
        item = item.tolist()
    if item is None or isinstance(item, bool | int | float | str):
        return item
    if isinstance(item, list | tuple):
        return [plain(entry, what) for entry in item]
    if isinstance(item, dict) and all(isinstance(key, str) for key in item):
        return {key: plain(entry, what) for key, entry in item.items()}
    if isinstance(item, dict) and all(isinstance(key, tuple) for key in item):
        return [plain([*key, entry], what) for key, entry in item.items()]
    description = (
        f"the function {item.__name__}" if hasattr(item, "__name__") else f"of type {type(item).__name__}"
    )
    raise DataError(
        f"The model cannot be saved: {what} is {description}, but model files hold only numbers and names."
    )
