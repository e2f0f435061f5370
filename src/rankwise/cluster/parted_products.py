"""Products with ``XᵀLX`` for rows in parts.

A part multiplies by itself, except for the constant term of the groups of split queries (`parts.coupling`),
which is a product with the mean rows of these groups. There are at most as many of them as rows, with no
more entries, so a product takes at most two passes over a part, and one where queries are whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankwise.cluster.coupling import Groups, split_groups
from rankwise.cluster.engine import Tally
from rankwise.cluster.problem import PartedProblem
from rankwise.operators.blocks import dense, pieces
from rankwise.operators.design import MatrixDesign
from rankwise.operators.normal import NormalOperator
from rankwise.ridge.squared import SquaredLoss, loss_on_scores
from rankwise.types import Floats, Ints, Matrix, Ties, Weighting, is_sparse
from rankwise.validation import Problem

# Entries of rows that are subtracted from others at once.
ENTRIES_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class ComparableRows:
    """Rows of a part whose queries, or groups, can be compared without those of other parts."""

    X: Matrix
    y: Floats
    loss: SquaredLoss

    @cached_property
    def design(self) -> MatrixDesign:
        return MatrixDesign(self.X, reference=self.loss.reference())

    @cached_property
    def product(self) -> NormalOperator:
        return self.design.normal_operator(self.loss.differences)

    def right(self) -> Floats:
        return self.design.adjoint(self.loss.differences.adjoint(self.loss.target))

    def __getstate__(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in ("X", "y", "loss")}  # without compiled operators


@dataclass(frozen=True, eq=False)
class NormalPart:
    """A part prepared for products.

    Attributes
    ----------
    blocks : tuple of ComparableRows
        The whole queries and the groups of split ones, if there are any of each.
    means : Matrix or None, shape (n_groups, n)
        The mean row of each group, measured from a row that all groups of its query share.
    label_means : Floats, shape (n_groups,)
    """

    blocks: tuple[ComparableRows, ...]
    means: Matrix | None
    label_means: Floats

    @cached_property
    def mean_design(self) -> MatrixDesign:
        assert self.means is not None
        return MatrixDesign(self.means)

    def __getstate__(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in ("blocks", "means", "label_means")}

    def __sizeof__(self) -> int:
        """The rows are those of the part."""
        means: Any = self.means
        return 0 if means is None else int(means.data.nbytes)


def prepared(
    problem: Problem, own: tuple[Ints, Floats, Matrix | None], ties: Ties, weighting: Weighting
) -> NormalPart:
    """Prepare a part, given the positions of its split queries, the factors of its groups, and the rows that
    these are measured from."""
    position, factors, origins = own
    whole, blocks = problem, []
    groups = split_groups(problem, position, ties) if len(factors) else None
    if groups is not None:
        whole = problem.without(groups.rows)
        everything = len(groups.rows) == len(problem.y)
        X, y, weight = problem.X, problem.y, problem.row_weight
        if not everything:
            X, y = X[groups.rows], y[groups.rows]
            weight = None if weight is None else weight[groups.rows]
        split = Problem(X, y, groups.members, weight, factors)
        blocks.append(ComparableRows(X, y, loss_on_scores(split, Ties.KEEP, Weighting.EXAMPLE)))
    if (position < 0).any():
        blocks.append(ComparableRows(problem.X, problem.y, loss_on_scores(whole, ties, weighting)))
    if groups is None or origins is None:
        return NormalPart(tuple(blocks), None, np.zeros(0))
    means = group_means(blocks[0].X, problem, groups, origins)
    labels = _shares(problem, groups) * groups.members.grouped(blocks[0].y)
    return NormalPart(tuple(blocks), means, np.add.reduceat(labels, groups.members.offsets[:-1]))


def multiplied(part: NormalPart, v: Floats) -> Tally:
    """What a part contributes by itself to ``XᵀLXv``, and the mean scores of its groups."""
    total = sum((block.product(v) for block in part.blocks[1:]), start=part.blocks[0].product(v))
    return Tally(total, (np.zeros(0) if part.means is None else part.mean_design.scores(v),))


def right_side(part: NormalPart) -> Tally:
    """The same for ``XᵀLy``."""
    total = sum((block.right() for block in part.blocks[1:]), start=part.blocks[0].right())
    return Tally(total, (part.label_means,))


def shifted(part: NormalPart, shift: Floats, n_features: int) -> Floats:
    """The product of mean rows with the constant terms of their groups."""
    return np.zeros(n_features) if part.means is None else part.mean_design.adjoint(shift)


def origins_of(problem: PartedProblem) -> list[Matrix]:
    """For each part, a row from which all parts measure the rows of a query, for its split queries."""
    queries = problem.queries
    known, firsts = np.zeros(len(queries.split), dtype=np.bool_), []
    for position in queries.positions:
        first = np.flatnonzero((position >= 0) & ~known[position])
        known[position[first]] = True
        firsts.append(first)
    found = stacked(problem.parts.each(first_rows, own=firsts))
    place = np.empty(len(queries.split), dtype=np.int64)
    chosen = np.concatenate([one[first] for one, first in zip(queries.positions, firsts, strict=True)])
    place[chosen] = np.arange(len(place))
    return [found[place[np.unique(position[position >= 0])]] for position in queries.positions]


def stacked(rows: Sequence[Any]) -> Any:
    """The rows of several matrices, sparse if one of them is."""
    if any(map(is_sparse, rows)):
        from scipy import sparse

        return sparse.vstack([sparse.csr_array(part) for part in rows], format="csr")
    return np.concatenate(rows)


def first_rows(problem: Problem, queries: Ints) -> Matrix:
    """The first row of some of a part's queries."""
    order, starts = problem.queries.order, problem.queries.offsets[:-1][queries]
    return problem.X[starts if order is None else order[starts]]


def group_means(X: Matrix, problem: Problem, groups: Groups, origins: Any) -> Any:
    """Mean rows less the row of `origins` that belongs to the query of a group.

    Rows are subtracted before they are averaged: far from zero, a mean would have lost their digits.
    """
    from scipy import sparse

    order, share = groups.members.order, _shares(problem, groups)
    assert order is not None
    group = np.repeat(np.arange(len(groups.weight)), groups.members.sizes)
    _, origin_of = np.unique(groups.query, return_inverse=True)
    means: Any = 0.0
    n_entries = X.nnz if is_sparse(X) else X.size  # type: ignore[union-attr]
    for place in pieces(0, len(order), max(1, ENTRIES_AT_ONCE * len(order) // max(1, n_entries))):
        member = sparse.csr_array(
            (share[place], (group[place], np.arange(place.stop - place.start))),
            shape=(len(groups.weight), place.stop - place.start),
        )
        means = means + member @ difference(X[order[place]], origins[origin_of[group[place]]])
    return means.tocsr() if is_sparse(means) else np.ascontiguousarray(means)


def difference(rows: Any, origins: Any) -> Any:
    """Rows less others, in double precision; dense or sparse as the first ones are."""
    if is_sparse(rows):
        from scipy import sparse

        return rows.astype(np.float64) - sparse.csr_array(origins).astype(np.float64)
    return dense(rows) - dense(origins)


def _shares(problem: Problem, groups: Groups) -> Floats:
    """The share of each row in the weight of its group, in the order of the groups."""
    order = groups.members.order
    weight = np.ones(len(groups.rows)) if problem.row_weight is None else problem.row_weight[groups.rows]
    total = np.repeat(groups.weight, groups.members.sizes)
    return np.divide(weight[order], total, out=np.zeros_like(total), where=total > 0.0)
