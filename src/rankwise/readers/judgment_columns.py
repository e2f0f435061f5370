"""The header of a file of judgments: columns in any order, called as the user says, or by usual names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankwise.errors import DataError, did_you_mean, warn_caller
from rankwise.readers.delimited import DelimitedReader
from rankwise.validation import check_kind

WEIGHT = "weight"
# Characters of a header that an error quotes.
_SHOWN = 200


def named_columns(**names: str) -> dict[str, str]:
    """What the user calls each column, in lower case."""
    return {role: check_kind(role, name, str).strip().lower() for role, name in names.items()}


def take_columns(lines: DelimitedReader, names: Mapping[str, str]) -> None:
    """Take the first line for the header, and call each column by its role: fields are then found by it.

    A column that the file lacks under the user's name is looked for by its role. Other columns are not used.

    Parameters
    ----------
    lines : DelimitedReader
    names : dict of str to str
        As from `named_columns`: the name of each role.
    """
    header = [name.strip().lower() for name in lines.first]
    called = {role: name if name in header else role for role, name in names.items()}
    places = {role: header.index(name) for role, name in called.items() if name in header}
    lacking = [name for role, name in names.items() if role not in places]
    if lacking or len(set(places.values())) < len(names):
        expected = ", ".join(names.values())
        meant = did_you_mean(lacking[0], header) if len(lacking) == 1 else "."
        if meant == ".":
            meant = f"; got {', '.join(header)[:_SHOWN] or 'nothing'}."
        raise DataError(f"expected a header with the columns {expected}{meant}")
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise DataError(f"the header has two columns {twice!r}.")
    odd = [name for name in header if WEIGHT in name and name != WEIGHT]
    if WEIGHT not in header and odd:
        warn_caller(f"Column {odd[0]!r} of the judgments is not used; weights are read from {WEIGHT!r}.")
    lines.take_header(header)
    lines.names = _by_role(header, places)


def has_column(lines: DelimitedReader, name: str) -> bool:
    """Whether the first line names a column."""
    return name in [given.strip().lower() for given in lines.first]


def _by_role(header: Sequence[str], places: Mapping[str, int]) -> list[str]:
    """The header with roles in the place of names; another column with the name of a role is set apart."""
    roles = {place: role for role, place in places.items()}
    return [roles.get(k, f"other {name}" if name in places else name) for k, name in enumerate(header)]
