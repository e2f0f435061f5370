"""Searching for interactions: pairs of columns that explain what the columns alone do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankwise.columns.choosing_codes import code_of
from rankwise.columns.codes import AgeCode, Code
from rankwise.columns.encoded_rows import rows_of
from rankwise.columns.encoding import Encoding
from rankwise.columns.inputs import Inputs
from rankwise.columns.interaction_codes import FoundInteraction, InteractionSearch
from rankwise.columns.interaction_fitting import CATEGORIES, KNOTS, axes_of, with_interactions
from rankwise.columns.number_codes import NumberCode, SplineCode
from rankwise.columns.specs import DEFAULT_KNOTS, ColumnKind, InteractionSpec, Spec, Wanted
from rankwise.errors import DataError
from rankwise.long_tasks import step
from rankwise.operators.constant_columns import constant_within_queries
from rankwise.operators.design import MatrixDesign
from rankwise.ridge.forward_blocks import forward_blocks
from rankwise.ridge.interaction_gains import interaction_gains
from rankwise.rows.column import Column
from rankwise.rows.table import Table
from rankwise.selection.left_out_residuals import (
    MOST_LEFT_OUT,
    left_out_residuals,
    loss_of,
    weight_of_rows,
)
from rankwise.types import Bools, Floats, Ints
from rankwise.validation import Problem

# Interactions whose gain is at least so many standard errors are found: of 100,000 pairs of columns with
# residuals permuted within queries, the largest was 2.3.
LEAST_Z = 3.0
# An interaction that gains less than this share of the best one is not worth its features: where grades are
# not linear in what makes rows relevant, every two columns that matter have a small one.
LEAST_SHARE = 0.01
# After so many interactions, the residuals are computed anew; less often if there are many queries.
STAGES, STAGES_OF_MANY = (5, 20, 60), (20, 60)
# With so many rows, more of them hardly change the model whose residuals are explained.
ROWS_FITTED = 40_000
# Of those found together, so many are compared with each other, on queries of about so many rows in all.
MOST_COMPARED, ROWS_COMPARED = 40, 30_000
# A function has so little variance of its own, compared with all of it, if others span it.
SPANNED = 1e-9


def find_interactions(
    table: Table, encoding: Encoding, problem: Problem, at_most: int, barred: Sequence[str] = ()
) -> InteractionSearch:
    """Search for pairs of columns, in stages, each on the residuals of the model with those found before.

    Whether a pair is found is decided on queries that did not fit it: residuals are those of left-out
    queries, and so are gains (`interaction_gains`).

    Parameters
    ----------
    table : Table
        The training rows.
    encoding : Encoding
        What each column becomes.
    problem : Problem
        Labels, queries and weights of the rows; X is not used.
    at_most : int
        The search ends when so many are found.
    barred : sequence of str
        Columns that must stay alone.
    """
    _check_queries(problem)
    table = table.matched(list(encoding.codes), encoding.labels)
    current = _additive(table, encoding)
    scored = _Scored.of(table, current, problem, barred)
    fitted = _rows_of_some_queries(problem, ROWS_FITTED)
    found: list[FoundInteraction] = []
    alphas: list[float] = []
    stages = STAGES if problem.queries.n_queries <= MOST_LEFT_OUT else STAGES_OF_MANY
    for stage, end in enumerate((*(size for size in stages if size < at_most), at_most), start=1):
        step(f"searching for interactions, stage {stage}")
        residuals, alpha = _residuals(table, current, problem, fitted)
        alphas.append(alpha)
        passed = scored.best(residuals, {one.columns for one in found})
        least = LEAST_SHARE * max((one.gain for one in (*found, *passed)), default=0.0)
        large = [one for one in passed if one.gain >= least][:MOST_COMPARED]
        best = _each_adding_most(large, current, table, problem)[: end - len(found)]
        found += [replace(one, stage=stage) for one in best]
        if len(found) < end or end == at_most:
            break
        current = with_interactions(current, table, [InteractionSpec(one.columns) for one in best])
    return InteractionSearch(tuple(found), scored.n_pairs, tuple(alphas))


def with_wanted_interactions(
    problem: Problem, inputs: Inputs, table: Table, wanted: Wanted, barred: Sequence[str]
) -> tuple[Problem, Inputs]:
    """What was read of X, with the interactions that a search finds, if one is wanted.

    Parameters
    ----------
    problem, inputs, table
        As `rankwise.rankers.row_settings.RowSettings` reads them, with the interactions that the user named;
        before a search, `problem.X` may be anything.
    wanted : Wanted
    barred : sequence of str
        Columns that must stay alone.
    """
    encoding = inputs.encoding
    assert encoding is not None
    if not wanted.at_most:
        _refuse_idle(problem, encoding, table)
        return problem, inputs
    search = find_interactions(table, encoding, problem, wanted.at_most, barred)
    specs = [InteractionSpec(one.columns) for one in search.found]
    encoding = replace(with_interactions(encoding, table, specs), search=search)
    return replace(problem, X=rows_of(encoding, table)), replace(inputs, encoding=encoding)


def _refuse_idle(problem: Problem, encoding: Encoding, table: Table) -> None:
    """Refuse pairs of columns both of which are constant within queries: they order nothing."""
    if not problem.has_queries:
        return
    table = table.matched(list(encoding.codes), encoding.labels)
    for code in encoding.interactions:
        if constant_within_queries(code.encode(*code.read(table)), problem.queries).all():
            raise DataError(
                f"Both columns of the interaction {code.name} are constant within queries, so it orders no "
                f"rows; pair one of them with a column that is not."
            )


def _check_queries(problem: Problem) -> None:
    if not problem.has_queries:
        raise DataError(
            "A search for interactions is judged on left-out queries, so it needs qid; or name the pairs of "
            "columns, as in interactions=[('device', 'price')]."
        )


def _residuals(table: Table, current: Encoding, problem: Problem, fitted: Ints) -> tuple[Floats, float]:
    """What models that have not seen a row's query miss of its label, and their alpha.

    Parameters
    ----------
    fitted : Ints
        Rows of whole queries. Models are fitted to these alone, so that all of them leave out the others.
    """
    residuals = np.empty(len(problem.y))
    learned = left_out_residuals(replace(problem.select(fitted), X=current.encode(table[fitted])))
    residuals[fitted] = learned.residuals
    others = np.setdiff1d(np.arange(len(residuals)), fitted)
    residuals[others] = problem.y[others] - current.function(learned.weights).scores(table[others])
    return residuals, learned.alpha


def _each_adding_most(
    passed: Sequence[FoundInteraction], current: Encoding, table: Table, problem: Problem
) -> list[FoundInteraction]:
    """Interactions in an order in which each explains most that those before do not; no others.

    Two columns that say much the same interact alike with a third: one of both pairs is enough.
    """
    if len(passed) < 2:
        return list(passed)
    rows = _rows_of_some_queries(problem, ROWS_COMPARED)
    table, problem = table[rows], replace(problem, X=np.zeros((len(problem.y), 0))).select(rows)
    specs = [InteractionSpec(one.columns, KNOTS, CATEGORIES) for one in passed]
    encoding = with_interactions(current, table, specs)
    loss = loss_of(problem)
    system = MatrixDesign(encoding.encode(table)).difference_system(loss.differences, loss.target)
    widths = [current.n_features, *(code.width for code in encoding.interactions[-len(passed) :])]
    order = forward_blocks(*system, float(loss.target @ loss.target), widths, len(rows))
    return [passed[place] for place in order]


def _rows_of_some_queries(problem: Problem, at_least: int) -> Ints:
    """The rows of queries drawn at random, always the same ones: at least so many rows, or all."""
    dealt = np.random.default_rng(0).permutation(problem.queries.n_queries)
    n_rows = np.cumsum(problem.queries.sizes[dealt])
    drawn = dealt[: 1 + int(np.searchsorted(n_rows, at_least))]
    return np.flatnonzero(np.isin(problem.queries.query_of_row(), drawn))


def _additive(table: Table, encoding: Encoding) -> Encoding:
    """The columns alone, with numbers as splines: what a line misses of a function of one column looks like
    an interaction of columns that are correlated."""
    codes = {name: _as_spline(table.columns[name], name, code) for name, code in encoding.codes.items()}
    return Encoding(codes, encoding.labels)


def _as_spline(column: Column, name: str, code: Code) -> Code:
    if isinstance(code, AgeCode):
        return code_of(column, name, Spec(ColumnKind.DATE, DEFAULT_KNOTS, ColumnKind.SPLINE))
    if isinstance(code, NumberCode) or (isinstance(code, SplineCode) and len(code.knots) < DEFAULT_KNOTS):
        return code_of(column, name, Spec(ColumnKind.SPLINE, DEFAULT_KNOTS))
    return code


@dataclass(frozen=True)
class _Scored:
    """The functions of all columns, with which pairs are scored."""

    columns: list[str]
    functions: Floats
    starts: Ints
    allowed: Bools
    problem: Problem

    @classmethod
    def of(cls, table: Table, encoding: Encoding, problem: Problem, barred: Sequence[str]) -> _Scored:
        weight = weight_of_rows(problem)
        blocks = {
            name: _whitened(axis.encode(table.read(name, axis.reading)), weight)
            for name, axis in axes_of(encoding, table, KNOTS, CATEGORIES).items()
        }
        blocks = {name: block for name, block in blocks.items() if block.shape[1] and name not in barred}
        widths = [block.shape[1] for block in blocks.values()]
        starts = np.cumsum([0, *widths[:-1]]) if widths else np.zeros(0, dtype=np.int64)
        functions = np.hstack(list(blocks.values())) if blocks else np.zeros((table.n_rows, 0))
        varies = np.array([_varies_within_queries(block, problem) for block in blocks.values()], dtype=bool)
        allowed = np.triu(varies[:, None] | varies[None, :], k=1)
        return cls(list(blocks), functions, starts, allowed, problem)

    @property
    def n_pairs(self) -> int:
        return int(self.allowed.sum())

    def best(self, residuals: Floats, known: set[tuple[str, str]]) -> list[FoundInteraction]:
        """The pairs that pass, besides those known already, from the largest gain down."""
        if not self.n_pairs:
            return []
        scores = interaction_gains(
            self.functions, self.starts, residuals, self.problem.queries, weight_of_rows(self.problem)
        )
        passed = [
            FoundInteraction(
                (self.columns[i], self.columns[j]), float(scores.gain[i, j]), float(scores.z[i, j]), 0
            )
            for i, j in np.argwhere(self.allowed & (scores.z >= LEAST_Z)).tolist()
        ]
        new = [one for one in passed if one.columns not in known]
        return sorted(new, key=lambda one: -one.gain)


def _whitened(functions: Floats, weight: Floats) -> Floats:
    """Uncorrelated functions of variance 1 that span the same, by Gram and Schmidt in the given order.

    Functions that the earlier ones span, up to rounding, are left out.
    """
    share = weight / weight.sum()
    functions = functions - share @ functions
    gram = functions.T @ (share[:, None] * functions)
    basis: list[Floats] = []  # the weights of the functions that give the uncorrelated ones
    for place, own in enumerate(np.eye(len(gram))):
        rest = own
        for _ in range(2):  # the second time for rounding
            for known in basis:
                rest = rest - (known @ gram @ rest) * known
        variance = rest @ gram @ rest
        if variance > SPANNED * gram[place, place]:
            basis.append(rest / np.sqrt(variance))
    return functions @ np.array(basis).reshape(-1, len(gram)).T


def _varies_within_queries(functions: Floats, problem: Problem) -> bool:
    grouped, starts = problem.queries.grouped(functions), problem.queries.offsets[:-1]
    low, high = (of.reduceat(grouped, starts, axis=0) for of in (np.minimum, np.maximum))
    return bool((high > low).any())
