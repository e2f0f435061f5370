"""Evaluation of one score vector on several measures: means, and a table with one row per query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import ParameterError
from rankwise.features import JudgedParts
from rankwise.metrics.measure import Measure, PreparedMeasure, QueryLike, means_over_queries, split_labels
from rankwise.metrics.named_measures import MeasureLike, get_measure
from rankwise.metrics.significance import margin_of_mean
from rankwise.preferences.queries import Queries, group_rows
from rankwise.rendering import html_table, jsonable, text_table
from rankwise.types import AnyArray, Bools, Floats, Ints
from rankwise.validation import check_kind

DEFAULT_MEASURES = ("ndcg@10", "map", "p@5", "rr", "pairwise_error")
SUMMARY_HEADER = ("measure", "mean", "queries", "left out", "why")


@dataclass(frozen=True, eq=False)
class Summary:
    """The mean of one measure, the number of queries it covers, and how many were excluded and why.

    The weights of the queries in the mean are 0 for those that were excluded.
    """

    measure: Measure
    mean: float
    n_queries: int
    n_left_out: int
    reason: str
    query_weight: Floats = field(repr=False, compare=False)

    @property
    def row(self) -> tuple[str, float, int, int, str]:
        why = self.reason if self.n_left_out else ""
        return self.measure.name, self.mean, self.n_queries, self.n_left_out, why


@dataclass(frozen=True, repr=False, eq=False)
class Evaluation:
    """The result of `evaluate`.

    Attributes
    ----------
    summaries : tuple of Summary
        One per measure, in the order requested.
    per_query : dict of str to array
        A table by columns: "qid", "n_rows" and one column per measure, with one row per query in order of
        first appearance; NaN where the measure excludes the query. ``pandas.DataFrame(e.per_query)`` works.

    See Also
    --------
    evaluate : Returns it.
    compare : Several sets of scores, with tests.

    Examples
    --------
    >>> from rankwise.metrics import evaluate
    >>> result = evaluate([2, 1, 0, 1, 0], [0.9, 0.8, 0.1, 0.2, 0.7], [1, 1, 1, 2, 2], ["map"])
    >>> result.means
    {'map': 0.75}
    >>> result.per_query["map"].tolist()
    [1.0, 0.5]
    """

    summaries: tuple[Summary, ...]
    per_query: dict[str, AnyArray]

    @property
    def means(self) -> dict[str, float]:
        """The mean of each measure, by name."""
        return {summary.measure.name: summary.mean for summary in self.summaries}

    @cached_property
    def margins(self) -> dict[str, float]:
        """Half the width of a 95 % confidence interval of each mean, by Student's t over queries."""
        return {summary.measure.name: self._margin(summary) for summary in self.summaries}

    def _margin(self, summary: Summary) -> float:
        counted = summary.query_weight > 0.0
        values = self.per_query[summary.measure.name][counted]
        return margin_of_mean(values, summary.query_weight[counted])

    @property
    def left_out(self) -> dict[str, int]:
        """The number of queries that each measure excludes, by name."""
        return {summary.measure.name: summary.n_left_out for summary in self.summaries}

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, with None for NaN: ready for JSON."""
        measures = {
            s.measure.name: {
                "mean": s.mean,
                "queries": s.n_queries,
                "left_out": s.n_left_out,
                "reason": s.reason if s.n_left_out else None,
            }
            for s in self.summaries
        }
        found: dict[str, Any] = jsonable({"measures": measures, "per_query": self.per_query})
        return found

    def __repr__(self) -> str:
        total, counts = len(self.per_query["qid"]), {summary.n_queries for summary in self.summaries}

        def covered(count: int) -> str:
            return f" on {count} queries" if count == total else f" on {count} of {total} queries"

        if len(counts) == 1:
            means = ", ".join(f"{name} {mean:.4f}" for name, mean in self.means.items())
            return f"Evaluation({means}{covered(*counts)})"
        means = ", ".join(f"{s.measure.name} {s.mean:.4f}{covered(s.n_queries)}" for s in self.summaries)
        return f"Evaluation({means})"

    def __str__(self) -> str:
        return text_table(SUMMARY_HEADER, [summary.row for summary in self.summaries])

    def _repr_html_(self) -> str:
        return html_table(SUMMARY_HEADER, [summary.row for summary in self.summaries])


def evaluate(
    y: ArrayLike | JudgedParts,
    scores: Any,
    qid: QueryLike = None,
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT_MEASURES,
    *,
    preset: str | None = None,
    relevant: float | None = None,
    docs: ArrayLike | None = None,
) -> Evaluation:
    """Measure scores against labels, query by query.

    Parameters
    ----------
    y, scores : array-like, shape (m,)
        A label and a score for each row. Masked labels mean rows that were not judged; masked scores, rows
        that were not retrieved. In place of labels, `y` can be a `rankwise.dask.DistributedData`, with the
        scores that `predict` returns for it: queries are measured where their rows are, and only the labels
        and scores of split queries are gathered.
    qid : array-like of query labels, Queries or None
        None means one global ranking.
    measures : names, Measures or functions
        See `get_measure`.
    preset : {"default", "letor", "trec", "sklearn", "lightgbm", "xgboost"}, optional
        The tool whose conventions to follow.
    relevant : float, optional
        The lowest label of a relevant row, for measures that are given by names without ``rel=``.
    docs : array-like, optional
        Document labels, by which the preset "trec" breaks ties (without them, by row order).

    Examples
    --------
    >>> print(evaluate([2, 0, 1, 1, 0], [0.9, 0.1, 0.8, 0.2, 0.3], ["a", "a", "a", "b", "b"], ["map", "p@1"]))
    measure    mean  queries  left out  why
    map      0.7500        2         0
    p@1      0.5000        2         0
    """
    if isinstance(y, JudgedParts):
        if qid is not None or docs is not None:
            raise ParameterError(f"A {type(y).__name__} has its own queries; pass it without qid and docs.")
        found: Evaluation = y.evaluated(scores, chosen_measures(measures, preset, relevant))
        return found
    return evaluate_prepared(
        prepare_measures(y, qid, measures, preset=preset, relevant=relevant, docs=docs), scores
    )


def evaluate_prepared(prepared: Sequence[PreparedMeasure], scores: ArrayLike) -> Evaluation:
    """`evaluate` with measures that were prepared for the same labels."""
    queries = prepared[0].queries
    labels = np.array(["all"]) if queries.labels is None else queries.labels
    return evaluation_of(labels, queries.sizes, [QueryValues.of(measure, scores) for measure in prepared])


@dataclass(frozen=True, eq=False)
class QueryValues:
    """The values of a measure for some queries, which of these it excludes, why, and their weights."""

    measure: Measure
    values: Floats
    left_out: Bools
    weight: Floats
    reason: str

    @classmethod
    def of(cls, prepared: PreparedMeasure, scores: ArrayLike) -> QueryValues:
        values = prepared.per_query(scores)
        return cls(
            prepared.measure, values, prepared.left_out, prepared.query_weight, prepared.left_out_reason
        )


def evaluation_of(labels: AnyArray, sizes: Ints, measured: Sequence[QueryValues]) -> Evaluation:
    """The evaluation of queries with these labels and numbers of rows."""
    per_query: dict[str, AnyArray] = {"qid": labels, "n_rows": sizes}
    summaries = []
    for one in measured:
        per_query[one.measure.name] = one.values
        n_left_out = int(one.left_out.sum())
        summaries.append(
            Summary(
                measure=one.measure,
                mean=float(means_over_queries(one.values[None], one.left_out, one.weight)[0]),
                n_queries=len(sizes) - n_left_out,
                n_left_out=n_left_out,
                reason=one.reason,
                query_weight=np.where(one.left_out, 0.0, one.weight),
            )
        )
    return Evaluation(tuple(summaries), per_query)


def prepare_measures(
    y: ArrayLike,
    qid: QueryLike,
    measures: MeasureLike | Iterable[MeasureLike],
    *,
    preset: str | None = None,
    relevant: float | None = None,
    docs: ArrayLike | None = None,
) -> Sequence[PreparedMeasure]:
    """Measures with distinct names, prepared for the same labels."""
    chosen = chosen_measures(measures, preset, relevant)
    labels, unjudged = split_labels(y)
    queries = qid if isinstance(qid, Queries) else group_rows(qid, len(labels))
    known = labels if unjudged is None else np.ma.masked_array(labels, unjudged)
    return [measure.prepare(known, queries, docs=docs) for measure in chosen]


def listed_measures(measures: MeasureLike | Iterable[MeasureLike]) -> list[MeasureLike]:
    """One measure or several as a list."""
    if isinstance(measures, str | Measure | type) or callable(measures):
        return [measures]  # a class is refused like any other value that is no measure
    return list(check_kind("measures", measures, Iterable))


def chosen_measures(
    measures: MeasureLike | Iterable[MeasureLike], preset: str | None, relevant: float | None = None
) -> list[Measure]:
    """Measures with distinct names."""
    chosen = [_chosen(measure, preset, relevant) for measure in listed_measures(measures)]
    names = [measure.name for measure in chosen]
    if not names:
        raise ParameterError("The 'measures' parameter must contain at least one measure.")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ParameterError(f"The 'measures' parameter contains {twice[0]!r} more than once.")
    return chosen


def _chosen(measure: MeasureLike, preset: str | None, relevant: float | None) -> Measure:
    found = get_measure(measure, preset=preset)
    if relevant is None or not isinstance(measure, str) or "rel=" in found.words:
        return found
    return get_measure(measure, preset=preset, relevant=relevant)
