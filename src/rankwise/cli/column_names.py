"""The columns of labels and queries: those that models were trained on, unless the user names others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rankwise.cli.data_files import ReadOptions, data_files, is_table
from rankwise.errors import ParameterError

if TYPE_CHECKING:
    from rankwise.model.model import Model


def named_as_in(models: Iterable[Model], path: Path, how: ReadOptions) -> ReadOptions:
    """Name the columns that the user did not as the models do, where the tables have such columns.

    Raises
    ------
    ParameterError
        If the models use different columns, and the tables have more than one of them.
    """
    known = [names for model in models if (names := model.origin.column_names)]
    files = data_files(path)
    if not known or not all(file.is_file() and is_table(file) for file in files):
        return how
    from rankwise.readers.arrow_tables import column_names

    headers = [column_names(file) for file in files]

    def own(role: str) -> str | None:
        names = dict.fromkeys(names[role] for names in known if role in names)
        present = [name for name in names if all(name in header for header in headers)]
        if len(present) > 1:
            raise ParameterError(
                f"{path}: the models were trained with different --{role} columns, and this table has "
                f"{' and '.join(present)}; choose one with --{role}."
            )
        if not present and "" in names and not any(role in header for header in headers):
            return ""  # as the rows of training, these have none
        return present[0] if present else None

    return replace(
        how,
        label=own("label") if how.label is None else how.label,
        qid=own("qid") if how.qid is None else how.qid,
    )
