"""What an audit finds: each is a row of a table, in the words of the data."""

from __future__ import annotations

from dataclasses import dataclass

from rankwise.rendering import Cell, as_cell
from rankwise.rows.ranking import RankingData
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
