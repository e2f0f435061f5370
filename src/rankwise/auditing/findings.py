"""What an audit finds, in the words of the data: a table for each kind of finding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from rankwise.auditing.suspects import SuspectJudgment
from rankwise.rendering import Cell, as_cell, html_table, jsonable, text_table
from rankwise.rows.ranking import RankingData
from rankwise.scoring.calibration import Calibration
from rankwise.types import Floats


@dataclass(frozen=True)
class SuspectRow:
    """A row whose label its score makes improbable.

    Attributes
    ----------
    query, row, doc
        The label of the query, the number of the row from 0, and the label of the document; None without.
    label, score : float
        The score is that of a model that was not trained on the query.
    judged : {"too high", "too low"}
    probability : float
        Of a label at least as high, or at least as low, given the score and the labels of the query.
    """

    query: Cell
    row: int
    doc: Cell
    label: float
    score: float
    judged: str
    probability: float


@dataclass(frozen=True)
class SuspectPair:
    """Two rows that scores order against their labels.

    Attributes
    ----------
    query, better_row, better_doc, worse_row, worse_doc
        As in `SuspectRow`; "better" is the row with the higher label.
    better_label, worse_label, better_score, worse_score : float
    probability : float
        That the better row is judged above the worse one, given that their labels differ.
    """

    query: Cell
    better_row: int
    better_doc: Cell
    better_label: float
    better_score: float
    worse_row: int
    worse_doc: Cell
    worse_label: float
    worse_score: float
    probability: float


@dataclass(frozen=True)
class Duplicate:
    """A row with the features of an earlier row of its query, and with another label."""

    query: Cell
    row: int
    doc: Cell
    label: float
    same_row: int
    same_doc: Cell
    same_label: float


@dataclass(frozen=True)
class EmptyQuery:
    """A query whose rows all have the same label, so it has no pairs to learn from or to measure."""

    query: Cell
    rows: int
    label: float


@dataclass(frozen=True)
class RevealingFeature:
    """A feature that orders nearly all pairs with different labels; equal values count half."""

    feature: str
    order: str
    pairs_ordered: float


# Entries of each table that are shown as text; the attributes hold all of them.
SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """The result of `audit`.

    Attributes
    ----------
    rows : tuple of SuspectRow
        The rows with the least probable labels, least probable first.
    pairs : tuple of SuspectPair
        The pairs that scores contradict most, worst first; no row is in two of them.
    duplicates : tuple of Duplicate
        Equal rows of a query with different labels.
    empty_queries : tuple of EmptyQuery
        Queries whose rows all have the same label.
    constant_features : tuple of str
        Features, or columns of a table, that are constant within every query.
    context_features : tuple of str
        The constant features that differ between queries, which can matter together with other features.
    revealing_features : tuple of RevealingFeature
        Features that order nearly all pairs on their own, as a feature computed from the label would.
    n_rows, n_queries : int
        The size of the data.
    calibration : Calibration or None
        The calibration of the scores behind `rows` and `pairs`; None if all scores are equal.
    judgments : tuple of SuspectJudgment
        With several raters, the judgments that the other raters and the features contradict, worst first.

    See Also
    --------
    rankwise.audit : Audit a data set.

    Examples
    --------
    >>> import rankwise
    >>> found = rankwise.audit(rankwise.load_movies())
    >>> worst = found.rows[0]
    >>> worst.query, worst.doc, worst.label, worst.judged
    ('dog comedy', 'Dog Days in Lisbon', 4.0, 'too high')
    >>> list(found.tables())
    ['Rows to judge again', 'Pairs to judge again', 'Queries without pairs']
    """

    rows: tuple[SuspectRow, ...]
    pairs: tuple[SuspectPair, ...]
    duplicates: tuple[Duplicate, ...]
    empty_queries: tuple[EmptyQuery, ...]
    constant_features: tuple[str, ...]
    context_features: tuple[str, ...]
    revealing_features: tuple[RevealingFeature, ...]
    n_rows: int
    n_queries: int
    calibration: Calibration | None
    judgments: tuple[SuspectJudgment, ...] = ()

    def tables(self) -> dict[str, tuple[list[str], list[tuple[Cell, ...]]]]:
        """The header and rows of each table that is not empty, by title."""
        findings: dict[str, Sequence[Any]] = {
            "Judgments to check again": self.judgments,
            "Rows to judge again": self.rows,
            "Pairs to judge again": self.pairs,
            "Equal rows with different labels": self.duplicates,
            "Queries without pairs": self.empty_queries,
            "Features that give the label away": self.revealing_features,
        }
        tables = {title: _table(found) for title, found in findings.items() if found}
        if self.constant_features:
            alone = "never; it is constant everywhere"
            matters = dict.fromkeys(self.constant_features, alone)
            matters |= dict.fromkeys(self.context_features, "only together with others")
            tables["Features that are constant within queries"] = ["feature", "matters"], [*matters.items()]
        return tables

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, with None for NaN: ready for JSON."""
        found = {
            name: [asdict(finding) for finding in getattr(self, name)]
            for name in ("judgments", "rows", "pairs", "duplicates", "empty_queries", "revealing_features")
        }
        plain: dict[str, Any] = jsonable(
            {
                **found,
                "constant_features": self.constant_features,
                "context_features": self.context_features,
                "n_rows": self.n_rows,
                "n_queries": self.n_queries,
                "calibration": None if self.calibration is None else self.calibration.to_dict(),
            }
        )
        return plain

    def __repr__(self) -> str:
        counts = (f"{title.lower()}: {len(rows):,}" for title, (_, rows) in self.tables().items())
        return f"Audit({'; '.join((f'rows: {self.n_rows:,}', *counts))})"

    def __str__(self) -> str:
        parts = [
            f"{title}\n{text_table(header, rows[:SHOWN])}{_more(rows)}"
            for title, (header, rows) in self.tables().items()
        ]
        return "\n\n".join(parts) or "Nothing was found."

    def _repr_html_(self) -> str:
        parts = (
            f"<h3>{title}</h3>{html_table(header, rows[:SHOWN])}<p>{_more(rows)}</p>"
            for title, (header, rows) in self.tables().items()
        )
        return "".join(parts) or "<p>Nothing was found.</p>"


def _table(findings: Sequence[Any]) -> tuple[list[str], list[tuple[Cell, ...]]]:
    names = [field.name for field in fields(findings[0])]
    rows = [tuple(_shown(name, getattr(finding, name)) for name in names) for finding in findings]
    return [name.replace("_", " ") for name in names], rows


def _shown(name: str, cell: Cell) -> Cell:
    """Grades are whole numbers, and are shown as such."""
    return int(cell) if name.endswith("label") and isinstance(cell, float) and cell.is_integer() else cell


def _more(rows: Sequence[Any]) -> str:
    return f"\n... and {len(rows) - SHOWN:,} more" if len(rows) > SHOWN else ""


class Describer:
    """Describes rows and queries, given by number, by their labels."""

    def __init__(self, data: RankingData, scores: Floats) -> None:
        self._data, self._scores, self._query = data, scores, data.queries.query_of_row()

    def row(self, row: int, too_high: bool, probability: float) -> SuspectRow:
        judged = "too high" if too_high else "too low"
        score = float(self._scores[row])
        return SuspectRow(*self._judged(row), score, judged, float(probability))

    def pair(self, better: int, worse: int, probability: float) -> SuspectPair:
        of_better = *self._judged(better), float(self._scores[better])
        of_worse = *self._judged(worse)[1:], float(self._scores[worse])
        return SuspectPair(*of_better, *of_worse, float(probability))

    def duplicate(self, row: int, same: int) -> Duplicate:
        return Duplicate(*self._judged(row), *self._judged(same)[1:])

    def empty_query(self, number: int) -> EmptyQuery:
        queries = self._data.queries
        first = queries.offsets[number]
        row = first if queries.order is None else queries.order[first]
        return EmptyQuery(self._label_of(number), int(queries.sizes[number]), float(self._data.y[row]))

    def _judged(self, row: int) -> tuple[Cell, int, Cell, float]:
        docs = self._data.docs
        doc = None if docs is None else as_cell(docs[row])
        return self._label_of(self._query[row]), int(row), doc, float(self._data.y[row])

    def _label_of(self, number: int) -> Cell:
        labels = self._data.queries.labels
        return None if labels is None else as_cell(labels[number])
