"""What to judge next: the documents or pairs that teach a model most, and a random reserve."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from rankwise.errors import DataError, ParameterError
from rankwise.model.data_scores import scaled_like
from rankwise.model.model import Model, model_of
from rankwise.preferences.digests import label_digests
from rankwise.preferences.queries import Queries
from rankwise.rendering import Cell, as_cell
from rankwise.ridge.knowledge import Knowledge
from rankwise.ridge.moments.moments import Moments
from rankwise.ridge.teaching import Documents, PairsToCompare, Proposal, proposals, wanted_differences
from rankwise.rows.chosen_rows import row_numbers
from rankwise.rows.ranking import RankingData
from rankwise.rows.table import Table
from rankwise.types import Bools, RandomSource, Ties, Weighting
from rankwise.validation import (
    check_count,
    check_flag,
    check_kind,
    check_number,
    check_random_state,
    check_read_rows,
)


@dataclass(frozen=True)
class NextJudgment:
    """Something to judge.

    Attributes
    ----------
    query : str or int or float
    rows : tuple of int
        The row to judge, or the two rows to compare.
    docs : tuple
        The labels of their documents; None without.
    reason : {"teaches", "random"}
        Random ones are a sample of all candidates. Only they give unbiased estimates.
    share : float
        The share of the variance of all differences that matter that it removes.
    """

    query: Cell
    rows: tuple[int, ...]
    docs: tuple[Cell, ...]
    reason: str
    share: float


def next_judgments(
    model: Any,
    data: RankingData,
    judged: Any = None,
    *,
    budget: int = 100,
    pairs: bool = False,
    reserve: float = 0.1,
    random_state: RandomSource = 0,
) -> list[NextJudgment]:
    """Choose the documents, or pairs of documents, whose judgment teaches a model most.

    The value of a judgment is the decrease of the total variance of the score differences between rows of the
    same query, ``tr(CM)``, where ``C = (XᵀLX + αI)⁻¹`` comes from what was learned and ``M = XᵀLX`` from all
    data; see `rankwise.ridge.teaching`. It depends only on the features, so the whole budget is planned at
    once.

    Parameters
    ----------
    model : RankRLS, RankRLSCV, Model or None
        Linear, with moments (fitted with ``solver="primal"``). None before the first judgment, with alpha 1.
    data : RankingData
        All rows to be ranked, judged or not; labels are ignored.
    judged : array of bool, shape (m,), or row numbers, optional
        The rows with a judgment, from which the model learned. None by default.
    budget : int, default=100
        How many judgments to make.
    pairs : bool, default=False
        Compare two documents instead of grading one. Required with ``ties="drop"`` or a weighting other than
        "example", where a grade changes the weight of all pairs of its query.
    reserve : float, default=0.1
        The share of the budget that is drawn at random, for evaluation: estimates on chosen judgments are
        biased.
    random_state : int, RandomState, Generator or None, default=0

    Returns
    -------
    list of NextJudgment
        In the order in which to judge. In a query without judgments, two documents are chosen in a row,
        because a single one teaches nothing.

    Examples
    --------
    >>> from rankwise import RankRLS, make_search_data
    >>> from rankwise.judging.next_judgments import next_judgments
    >>> data = make_search_data(40, random_state=0)
    >>> model = RankRLS(solver="primal").fit(data.select(slice(0, 60)))
    >>> first = next_judgments(model, data, range(60), budget=5, reserve=0.0)[0]
    >>> first.rows[0] >= 60
    True
    """
    data = check_kind("data", data, RankingData)
    budget, pairs = check_count("budget", budget), check_flag("pairs", pairs)
    reserve = check_number("reserve", reserve, minimum=0.0, maximum=1.0)
    rng = check_random_state("random_state", random_state)
    is_judged = _as_mask(judged, data.n_rows)
    known, rows = _known(None if model is None else _with_moments(model, pairs), data, is_judged)
    wanted = wanted_differences(rows.X, rows.queries)
    total = known.total_variance(wanted) or 1.0
    queries, query = rows.queries, rows.queries.query_of_row()
    _check_budget(budget, queries, is_judged, pairs)
    candidates = PairsToCompare(rows.X, queries) if pairs else Documents(rows.X, queries, is_judged)
    drawn = _random_pairs(queries, rng) if pairs else _random_rows(is_judged, rng)
    random = list(islice(drawn, round(reserve * budget)))
    for one in random:  # they will be known, too
        known = candidates.after(int(query[one[0]]), Proposal(one, 0.0), known)
    teaching = islice(_one_by_one(proposals(candidates, known, wanted), pairs), budget - len(random))
    chosen = [(one, "teaches", worth / total) for one, worth in teaching]
    for one in random:  # anywhere, so that whoever stops early has a reserve as well
        chosen.insert(int(rng.integers(len(chosen) + 1)), (one, "random", float("nan")))
    return [_described(rows, *one) for one in chosen]


def _with_moments(model: Any, pairs: bool) -> Model:
    """A model whose changes by a judgment have rank one."""
    found = model_of(model)
    if found is None:
        raise ParameterError(f"The 'model' parameter must be a fitted RankRLS or None; got {model!r}.")
    if found.moments is None:
        raise DataError(
            f"This {found.class_name} has no moments, which record what it has learned: only linear RankRLS "
            "models fitted with solver='primal' (--set solver=primal), and saved with moments, have them."
        )
    if found.moments.b.ndim > 1:
        raise DataError("The model has several targets; fit one for each.")
    ties, weighting = found.moments.ties, found.moments.weighting
    if not pairs and (ties is not Ties.KEEP or weighting is not Weighting.EXAMPLE):
        raise ParameterError(
            f"With ties={str(ties)!r} and weighting={str(weighting)!r}, a grade changes the weight of all "
            f"pairs of its query; choose pairs (--pairs), or fit with ties='keep' and weighting='example'."
        )
    return found


def _known(model: Model | None, data: RankingData, is_judged: Bools) -> tuple[Knowledge, RankingData]:
    """What the model has learned, and the rows as it sees them."""
    if model is None:
        if is_judged.any():
            raise ParameterError("Without a model, no row can have been judged; fit one to the judgments.")
        if isinstance(data.X, Table):
            raise DataError("Without a model, the rows must be features; columns of a table need a model.")
        check_read_rows(data.X)
        return Knowledge.nothing(data.n_features, 1.0), data
    moments = model.moments
    assert moments is not None
    _check_learned(moments, data, is_judged)
    if model.encoding is None:
        rows = scaled_like(data, model.features)
        model.features.check(replace(data.features, scaled_per_query=None))
        check_read_rows(rows.X)
    else:
        encoded = model.encoding.encode(model.table(data))
        names = tuple(model.encoding.feature_names)
        rows = replace(data, X=encoded, features=replace(data.features, names=names))
    return Knowledge.of(moments.quadratic, model.alpha), rows


def _check_learned(moments: Moments, data: RankingData, is_judged: Bools) -> None:
    """Judged rows must be in queries that the model learned, and learned queries must have judged rows."""
    queries = data.queries
    if queries.labels is None or not moments.has_qid:
        return
    learned = np.isin(label_digests(queries.labels.tolist()), moments.learned.labels)
    has_judged = np.bincount(queries.query_of_row()[is_judged], minlength=queries.n_queries) > 0
    for wrong, what in (
        (learned & ~has_judged, "was learned by the model, but none of its rows is in 'judged'"),
        (has_judged & ~learned, "has judged rows, but the model has not learned it; fit the model again"),
    ):
        if wrong.any():
            raise DataError(f"Query {queries.labels[int(wrong.argmax())]} {what}.")


def _as_mask(judged: Any, n_rows: int) -> Bools:
    mask = np.zeros(n_rows, dtype=np.bool_)
    if judged is not None:
        mask[row_numbers(judged if isinstance(judged, slice) else np.asarray(judged), n_rows)] = True
    return mask


def _check_budget(budget: int, queries: Queries, is_judged: Bools, pairs: bool) -> None:
    sizes = queries.sizes.astype(np.int64)
    left = int((sizes * (sizes - 1) // 2).sum()) if pairs else int((~is_judged).sum())
    if budget > left:
        what = "pairs of documents" if pairs else "documents without a judgment"
        raise ParameterError(f"The budget is {budget:,}, but there are only {left:,} {what}.")


def _one_by_one(found: Iterator[Proposal], pairs: bool) -> Iterator[tuple[tuple[int, ...], float]]:
    for proposal in found:
        for one in [proposal.rows] if pairs else [(row,) for row in proposal.rows]:
            yield one, proposal.worth


def _random_rows(is_judged: Bools, rng: np.random.Generator) -> Iterator[tuple[int, ...]]:
    return ((row,) for row in rng.permutation(np.flatnonzero(~is_judged)).tolist())


def _random_pairs(queries: Queries, rng: np.random.Generator) -> Iterator[tuple[int, ...]]:
    """Different pairs, each equally likely."""
    sizes = queries.sizes.astype(np.float64)
    share, seen = sizes * (sizes - 1.0), set[tuple[int, ...]]()
    while True:
        rows = queries.rows_of(int(rng.choice(len(sizes), p=share / share.sum())))
        one = tuple(sorted(rng.choice(rows, 2, replace=False).tolist()))
        if one not in seen:
            seen.add(one)
            yield one


def _described(rows: RankingData, one: tuple[int, ...], reason: str, share: float) -> NextJudgment:
    labels, docs = rows.qid, rows.docs
    query = None if labels is None else as_cell(labels[one[0]])
    named = tuple(None if docs is None else as_cell(docs[row]) for row in one)
    return NextJudgment(query, one, named, reason, share)
