"""How far raters agree, what each is like, and labels that pool their grades."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, fields
from typing import Any

import numpy as np

from rankwise.raters.agreement import Alpha, Disagreement
from rankwise.raters.rater_model import RaterModel, check_connected, fit_raters
from rankwise.rendering import Cell, html_table, jsonable, text_table
from rankwise.rows.ratings import Ratings
from rankwise.types import AnyArray, Ints, RandomSource
from rankwise.validation import check_kind, check_random_state

# Pairs of raters with fewer documents in common tell little.
LEAST_IN_COMMON = 5
# Entries of each table that are shown as text.
SHOWN = 20


@dataclass(frozen=True)
class RaterFindings:
    """A rater.

    Attributes
    ----------
    rater : str or int or float
    judgments : int
    alpha, low, high : float
        Agreement with the other raters of the same documents, with its interval.
    bias : float
        By how many points the rater grades above the others.
    noise : float
        The standard deviation of the rater's grades around the truth and the bias.
    """

    rater: Cell
    judgments: int
    alpha: float
    low: float
    high: float
    bias: float
    noise: float


@dataclass(frozen=True)
class QueryFindings:
    """The agreement on the documents of a query."""

    query: Cell
    documents: int
    alpha: float
    low: float
    high: float


@dataclass(frozen=True)
class PairFindings:
    """Two raters; `difference` is how many points the first grades above the second."""

    first: Cell
    second: Cell
    documents: int
    alpha: float
    low: float
    high: float
    difference: float


@dataclass(frozen=True, eq=False, repr=False)
class RaterStudy:
    """The result of `study_raters`.

    Attributes
    ----------
    alpha : Alpha
        Krippendorff's alpha of all judgments, for ordinal grades.
    raters : tuple of RaterFindings
        Findings on each rater, the noisiest first.
    queries : tuple of QueryFindings
        The alpha of each query, lowest first; their mean, weighted by judgments, is the overall alpha.
    pairs : tuple of PairFindings
        Pairs of raters with at least 5 documents in common, those who agree least first.
    model : RaterModel
        The estimated bias and noise of each rater.
    ratings : Ratings
        The judgments.

    See Also
    --------
    study_raters : Returns it.
    Ratings : The judgments that were studied.

    Examples
    --------
    >>> from rankwise.raters import Ratings, study_raters
    >>> grades = {"ann": [2, 0, 1, 2, 0, 1], "bob": [2, 0, 1, 2, 1, 1], "cy": [0, 2, 2, 1, 0, 2]}
    >>> rows = [("q", doc, grade, rater) for rater in grades for doc, grade in enumerate(grades[rater])]
    >>> study = study_raters(Ratings.from_arrays(*zip(*rows)))
    >>> [one.rater for one in study.raters][0], len(study.pairs)
    ('cy', 3)
    """

    alpha: Alpha
    raters: tuple[RaterFindings, ...]
    queries: tuple[QueryFindings, ...]
    pairs: tuple[PairFindings, ...]
    model: RaterModel
    ratings: Ratings

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write pooled labels and weights, for `load_judgments` and ``rankwise train --judgments``."""
        from rankwise.readers.delimited import write_delimited

        label, weight = self.model.pooled(self.ratings)
        columns = (self.ratings.qid, self.ratings.docs, label, weight)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        write_delimited(path, ["qid", "doc", "label", "weight"], rows)

    def tables(self) -> dict[str, tuple[list[str], list[tuple[Cell, ...]]]]:
        """The header and rows of each table, by title."""
        found: dict[str, Sequence[Any]] = {
            "Raters, the noisiest first": self.raters,
            "Raters who agree least": self.pairs,
            "Queries with least agreement": self.queries,
        }
        return {
            title: ([field.name for field in fields(rows[0])], [astuple(row) for row in rows])
            for title, rows in found.items()
            if rows
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, with None for NaN: ready for JSON."""
        plain: dict[str, Any] = jsonable(
            {
                "judgments": len(self.ratings.grade),
                "documents": self.ratings.n_documents,
                **asdict(self.alpha),
                "spread": self.model.spread,
                "converged": self.model.converged,
                **{
                    name: [asdict(one) for one in getattr(self, name)]
                    for name in ("raters", "queries", "pairs")
                },
            }
        )
        return plain

    def __repr__(self) -> str:
        return f"RaterStudy({self.ratings!r}, alpha={self.alpha.alpha:.3f})"

    def __str__(self) -> str:
        interval = f"{self.alpha.alpha:.3f} (95 % interval {self.alpha.low:.3f} to {self.alpha.high:.3f})"
        parts = [f"Krippendorff's alpha, ordinal: {interval}"]
        parts += [
            f"{title}\n{text_table(head, rows[:SHOWN])}" for title, (head, rows) in self.tables().items()
        ]
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        tables = (
            f"<h3>{title}</h3>{html_table(head, rows[:SHOWN])}"
            for title, (head, rows) in self.tables().items()
        )
        return f"<p>Krippendorff's alpha, ordinal: {self.alpha.alpha:.3f}</p>{''.join(tables)}"


def study_raters(ratings: Ratings, *, random_state: RandomSource = 0) -> RaterStudy:
    """Measure how well raters agree, and estimate the bias and noise of each.

    Parameters
    ----------
    ratings : Ratings
        Several raters, connected by documents that they have in common.
    random_state : int, RandomState, Generator or None, default=0
        Draws the resamples of the intervals.

    Returns
    -------
    RaterStudy

    References
    ----------
    Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011); Dempster et al. (1977) for the EM.

    Examples
    --------
    >>> from rankwise.raters import Ratings, study_raters
    >>> grades = {"ann": [2, 0, 1, 2, 0, 1], "bob": [2, 0, 1, 2, 1, 1], "cy": [0, 2, 2, 1, 0, 2]}
    >>> rows = [("q", doc, grade, rater) for rater in grades for doc, grade in enumerate(grades[rater])]
    >>> study_raters(Ratings.from_arrays(*zip(*rows))).raters[0].rater
    'cy'
    """
    ratings, rng = check_kind("ratings", ratings, Ratings), check_random_state("random_state", random_state)
    check_connected(ratings)
    disagreement, model = Disagreement(ratings), fit_raters(ratings)
    n_judgments = np.bincount(ratings.rater, minlength=ratings.n_raters)
    cluster = disagreement.cluster[disagreement.document]
    alphas = disagreement.alpha_of(disagreement.rater, ratings.n_raters, rng, cluster)
    raters = [
        RaterFindings(*one)
        for one in zip(
            ratings.raters.tolist(),
            n_judgments.tolist(),
            *zip(*map(astuple, alphas), strict=True),
            model.bias.tolist(),
            model.noise.tolist(),
            strict=True,
        )
    ]
    queries = _queries(disagreement, rng)
    return RaterStudy(
        alpha=disagreement.overall(rng),
        raters=tuple(sorted(raters, key=lambda one: -one.noise)),
        queries=tuple(sorted(queries, key=lambda one: (np.isnan(one.alpha), one.alpha))),
        pairs=tuple(_pairs(disagreement, rng)),
        model=model,
        ratings=ratings,
    )


def _queries(found: Disagreement, rng: np.random.Generator) -> list[QueryFindings]:
    ratings = found.ratings
    numbers: dict[Any, int] = {}
    of_document = np.array([numbers.setdefault(label, len(numbers)) for label in ratings.qid.tolist()])
    alphas = found.alpha_of(of_document[found.document], len(numbers), rng, found.document)
    sizes = np.bincount(of_document[np.unique(found.document)], minlength=len(numbers))
    return [
        QueryFindings(label, size, *astuple(alpha))
        for label, size, alpha in zip(numbers, sizes.tolist(), alphas, strict=True)
        if size
    ]


def _pairs(found: Disagreement, rng: np.random.Generator) -> list[PairFindings]:
    """Raters with enough documents in common, those who agree least first."""
    ratings = found.ratings
    first, second = _common(found.document)
    swapped = found.rater[first] > found.rater[second]
    first, second = np.where(swapped, second, first), np.where(swapped, first, second)
    pair = found.rater[first] * np.int64(ratings.n_raters) + found.rater[second]
    values, cluster = ratings.grade[found.shared], found.cluster[found.document]
    pairs = []
    for number, rows in _groups(pair):
        if len(rows) < LEAST_IN_COMMON:
            continue
        one, other = divmod(int(number), ratings.n_raters)
        steps = found.steps[found.grade[first[rows]], found.grade[second[rows]]]
        alpha = found.alpha_of_pairs(steps, cluster[first[rows]], rng)
        difference = float((values[first[rows]] - values[second[rows]]).mean())
        one, other = ratings.raters[[one, other]].tolist()
        pairs.append(PairFindings(one, other, len(rows), alpha.alpha, alpha.low, alpha.high, difference))
    return sorted(pairs, key=lambda pair: (np.isnan(pair.alpha), pair.alpha))


def _common(document: Ints) -> tuple[Ints, Ints]:
    """All pairs of judgments of the same document."""
    order = np.argsort(document, kind="stable")
    _, starts, counts = np.unique(document[order], return_index=True, return_counts=True)
    first, second = [], []
    for count in np.unique(counts).tolist():  # few, though there may be many documents
        rows = order[starts[counts == count, None] + np.arange(count)]
        one, other = np.triu_indices(count, 1)
        first.append(rows[:, one].ravel())
        second.append(rows[:, other].ravel())
    return np.concatenate(first), np.concatenate(second)


def _groups(labels: AnyArray) -> list[tuple[Any, Ints]]:
    """Each label with the places where it occurs."""
    order = np.argsort(labels, kind="stable")
    names, starts = np.unique(labels[order], return_index=True)
    return list(zip(names.tolist(), np.split(order, starts[1:]), strict=True))
