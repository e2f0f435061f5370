"""How new rows differ from those that a model was trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from rankwise.errors import ParameterError
from rankwise.rendering import Cell, TableRows, html_table, jsonable, text_table
from rankwise.validation import check_number

# A difference is clear if chance would make it in one of a thousand sets of new rows, in any column: a check
# that runs every night should not raise a false alarm every few months.
CLEAR = 0.001
# The index above which a population is usually said to have shifted.
ABOVE = 0.1

HEADER = ("column", "index", "p", "missing", "new values", "effect", "score", "")


@dataclass(frozen=True)
class ColumnDrift:
    """How the values of one column have changed; pairs are those of the training rows and of the new ones.

    Attributes
    ----------
    reading : str
        What the values are taken for, such as "number" or "text".
    stability_index : float
        The population stability index ``Σ_b (p_b − q_b) log(p_b / q_b)``, where p_b and q_b are the shares of
        new and old rows in a bin: a decile or a category, a value outside the range or an unknown category,
        and missing values.
    p_value : float
        The probability of such shares by chance, after Holm's correction for all columns. Rows of a query
        count as much as they differ.
    missing : tuple of float
        The shares of rows without a value.
    new : float
        The share of new rows with a value outside the range of the training rows, or an unknown category.
    unknown : dict of str to float
        The most frequent unknown categories, and their shares of the rows.
    effect : tuple of float, or None
        How much the column moves the rankings: the standard deviation within queries of what it adds to the
        score, as a share of the sum of those of all columns. None if scores are not sums over columns, or
        the model was fitted to explicit pairs.
    score_shift : float or None
        How far the mean of what it adds has moved, in standard deviations of scores within queries of the
        training rows, as if columns were not correlated.
    """

    reading: str
    stability_index: float
    p_value: float
    missing: tuple[float, float]
    new: float
    unknown: dict[str, float]
    effect: tuple[float, float] | None = None
    score_shift: float | None = None

    def is_shifted(self, above: float) -> bool:
        """Whether the index is above a threshold, and the difference is not one of chance."""
        return self.stability_index > above and self.p_value <= CLEAR

    def verdict(self, above: float) -> str:
        if self.stability_index <= above:
            return ""
        return "shifted" if self.is_shifted(above) else "may be chance"


@dataclass(frozen=True, eq=False)
class Drift:
    """The result of `rankwise.drift`; `print` shows it as a table, the columns that have shifted first.

    Attributes
    ----------
    columns : dict of str to ColumnDrift
        The columns of the model.
    n_rows, n_queries : int
        Of the new rows; without queries, `n_queries` is None.
    n_training_rows : int
        The number of training rows that the model has a record of.
    quality : list of dict or None
        The quality in each day, week or month: its first day, the number of queries, the mean of the measure,
        and half of its 95 % interval; None if no times were given.

    See Also
    --------
    rankwise.drift : Makes it.

    Examples
    --------
    >>> from rankwise import RankRLS, drift, make_search_data
    >>> data = make_search_data(100, random_state=0)
    >>> found = drift(RankRLS().fit(data), data)
    >>> found.shifted(above=0.1)
    []
    """

    columns: Mapping[str, ColumnDrift]
    n_rows: int
    n_queries: int | None
    n_training_rows: int
    quality: TableRows | None = None

    def shifted(self, above: float = ABOVE) -> list[str]:
        """The columns whose stability index is above a threshold, unless chance explains the difference."""
        above = check_number("above", above, minimum=0.0)
        return [name for name, column in self.columns.items() if column.is_shifted(above)]

    def without(self, names: Sequence[str]) -> Drift:
        """The same without some of the columns, however they have changed."""
        unknown = next((name for name in names if name not in self.columns), None)
        if unknown is not None:
            raise ParameterError(f"The model has no column {unknown!r}.")
        kept = {name: column for name, column in self.columns.items() if name not in names}
        return replace(self, columns=kept)

    def rows(self, above: float = ABOVE) -> list[tuple[Cell, ...]]:
        """The cells below `HEADER`: columns that have shifted first, then by their index."""

        def order(item: tuple[str, ColumnDrift]) -> tuple[bool, float]:
            return not item[1].is_shifted(above), -item[1].stability_index

        return [
            (
                name,
                column.stability_index,
                column.p_value,
                _change(*column.missing),
                f"{column.new:.1%}",
                "–" if column.effect is None else _change(*column.effect),
                "–" if column.score_shift is None else f"{round(column.score_shift, 2) + 0.0:+.2f}",
                column.verdict(above),
            )
            for name, column in sorted(self.columns.items(), key=order)
        ]

    def to_dict(self, above: float = ABOVE) -> dict[str, Any]:
        """Plain numbers, strings and lists, ready for JSON."""
        columns = {
            name: asdict(column) | {"shifted": column.is_shifted(above)}
            for name, column in self.columns.items()
        }
        counts = {name: getattr(self, name) for name in ("n_rows", "n_queries", "n_training_rows")}
        found: dict[str, Any] = jsonable(
            {**counts, "shifted": self.shifted(above), "columns": columns, "quality": self.quality}
        )
        return found

    def __str__(self) -> str:
        tables = [text_table(HEADER, self.rows()), *([] if self.quality is None else [str(self.quality)])]
        return "\n\n".join(tables)

    def _repr_html_(self) -> str:
        over_time = "" if self.quality is None else self.quality._repr_html_()
        return html_table(HEADER, self.rows()) + over_time


def _change(before: float, now: float) -> str:
    shown = f"{before:.1%}", f"{now:.1%}"
    return shown[0] if shown[0] == shown[1] else " → ".join(shown)
