"""Judgments to check again, and other things that may be wrong with judged data."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import clone

from rankwise.auditing.checks import (
    constant_features,
    contradictory_duplicates,
    fractions_ordered,
    queries_without_pairs,
)
from rankwise.auditing.findings import (
    Describer,
    Duplicate,
    EmptyQuery,
    RevealingFeature,
    SuspectPair,
    SuspectRow,
)
from rankwise.auditing.suspects import (
    SuspectJudgment,
    contradicted_pairs,
    label_probabilities,
    suspect_judgments,
)
from rankwise.errors import ContextWarning, DataError, ParameterError
from rankwise.preferences.queries import Queries, group_rows
from rankwise.rankers.rankrls_cv import RankRLSCV
from rankwise.rankers.search_ranker import SearchRanker
from rankwise.raters.joining import pooled_rows
from rankwise.rendering import Cell, html_table, jsonable, text_table
from rankwise.rows.ranking import RankingData
from rankwise.rows.ratings import Ratings
from rankwise.rows.table import Table, table_of
from rankwise.scoring.calibration import Calibration
from rankwise.selection.folding import draw_folds
from rankwise.validation import check_count, check_number, taken_apart

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
    audit : Audit a data set.

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


def audit(
    X: Any,
    y: ArrayLike | None = None,
    qid: ArrayLike | Iterable[Hashable] | None = None,
    *,
    ranker: SearchRanker | None = None,
    n_suspects: int = 20,
    reveals: float = 0.99,
    ratings: Ratings | None = None,
) -> Audit:
    """Find judgments worth a second look, and suspicious features and queries.

    Scores every query with a model trained on the others, and lists the rows and pairs whose labels these
    scores make improbable. They are not necessarily wrong: the judge may have known something that the model
    does not.

    Parameters
    ----------
    X : array or CSR matrix, shape (m, n), table or RankingData
        A `RankingData` has its own labels, queries and names of documents and features, and may have weights,
        which count in training. Tables with columns of any kind need a ranker with `columns`; the search for
        features that give the label away then looks at the encoded features.
    y : array, shape (m,)
        Labels of any real value; higher is better.
    qid : sequence of hashables, optional
        The query of each row, in any order; None means one global ranking, from which folds of rows are left
        out.
    ranker : RankRLSCV, KernelRankRLSCV or RankSVMCV, optional
        The ranker that scores left-out queries, `RankRLSCV` by default. It is cloned.
    n_suspects : int, default=20
        The largest number of rows, and of pairs, to list.
    reveals : float, default=0.99
        A feature is listed if it orders at least this fraction of the pairs with different labels on its own.
    ratings : Ratings, optional
        Judgments by several raters of documents in X, which must then be a `RankingData` with document names.
        Labels are pooled from them, and single judgments are audited as well; rows without a judgment are
        dropped.

    Returns
    -------
    Audit

    Examples
    --------
    >>> import numpy as np
    >>> from rankwise import audit, make_search_data
    >>> data = make_search_data(60, random_state=0).scale_per_query()
    >>> y = data.y.copy()
    >>> worst = np.flatnonzero(y == 0)[17]
    >>> y[worst] = 4
    >>> found = audit(data.X, y, data.qid)
    >>> bool(worst in [suspect.row for suspect in found.rows])
    True
    """
    columns, (y, qid, _) = getattr(ranker, "columns", None), taken_apart(X, y, qid)
    if not isinstance(X, RankingData):
        if y is None:
            raise DataError("audit needs the labels y, unless X is a RankingData.")
        X = RankingData.from_arrays(X if columns is None else table_of(X), y, qid)
    if ranker is None:
        ranker = RankRLSCV()
    elif not isinstance(ranker, SearchRanker):
        raise ParameterError(
            f"The 'ranker' parameter must be a ranker that leaves out queries, such as RankRLSCV; "
            f"got {ranker!r}."
        )
    ranker = clone(ranker)
    if isinstance(X.X, Table) and columns is None:
        ranker.set_params(columns="auto")
    if ratings is not None:
        X, ratings = pooled_rows(X, ratings)
    return _audit(X, ranker, n_suspects, reveals, ratings)


def _audit(
    data: RankingData, ranker: SearchRanker, n_suspects: int, reveals: float, ratings: Ratings | None
) -> Audit:
    n_suspects = check_count("n_suspects", n_suspects)
    reveals = check_number("reveals", reveals, minimum=0.5, maximum=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContextWarning)  # the audit lists them
        model, compared = _left_out(ranker, data)
    constant = constant_features(data)
    if isinstance(data.X, Table):
        X = model.encoding_.encode(model.model_.table(data))
        features = replace(data.features, names=tuple(model.encoding_.feature_names))
        data = replace(data, X=X, features=features)
    calibration = getattr(model, "calibration_", None)
    scores = model.left_out_scores_
    log_odds = scores * (0.0 if calibration is None else calibration.slope)
    name = data.features.label
    describe = Describer(data, scores)
    probability, too_high = label_probabilities(log_odds, data.y, compared)
    least = [] if calibration is None else np.argsort(probability, kind="stable")[:n_suspects].tolist()
    pairs = contradicted_pairs(log_odds, data.y, compared, n_suspects)
    return Audit(
        rows=tuple(
            describe.row(row, too_high[row], probability[row]) for row in least if probability[row] < 0.5
        ),
        pairs=tuple(describe.pair(*pair, expit(log_odds[pair[0]] - log_odds[pair[1]])) for pair in pairs),
        duplicates=tuple(map(describe.duplicate, *contradictory_duplicates(data))),
        empty_queries=tuple(map(describe.empty_query, queries_without_pairs(data))),
        constant_features=tuple(constant),
        context_features=tuple(feature for feature, is_context in constant.items() if is_context),
        revealing_features=tuple(
            RevealingFeature(
                name(feature), "higher is better" if share > 0.0 else "lower is better", abs(share)
            )
            for feature, share in fractions_ordered(data, reveals).items()
        ),
        n_rows=data.n_rows,
        n_queries=data.n_queries,
        calibration=calibration,
        judgments=()
        if ratings is None
        else suspect_judgments(ratings, scores, data.queries.query_of_row(), n_suspects),
    )


def _left_out(ranker: SearchRanker, data: RankingData) -> tuple[SearchRanker, Queries]:
    """A ranker fitted to the data, and which of its left-out scores can be compared: those of one model."""
    if data.n_queries > 1:
        return ranker.fit(data), data.queries
    folds = draw_folds(ranker.cv, data.y, data.queries)
    everything = np.arange(data.n_rows)
    ranker.cv = [(np.setdiff1d(everything, held), held) for held in folds.held]
    return ranker.fit(data), group_rows(folds.compared, data.n_rows)


def _table(findings: Sequence[Any]) -> tuple[list[str], list[tuple[Cell, ...]]]:
    names = [field.name for field in fields(findings[0])]
    rows = [tuple(_shown(name, getattr(finding, name)) for name in names) for finding in findings]
    return [name.replace("_", " ") for name in names], rows


def _shown(name: str, cell: Cell) -> Cell:
    """Grades are whole numbers, and are shown as such."""
    return int(cell) if name.endswith("label") and isinstance(cell, float) and cell.is_integer() else cell


def _more(rows: Sequence[Any]) -> str:
    return f"\n... and {len(rows) - SHOWN:,} more" if len(rows) > SHOWN else ""
