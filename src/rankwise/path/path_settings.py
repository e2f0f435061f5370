"""Parameters of a regularization path, validated before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from rankwise.operators.kernel import KernelName
from rankwise.path.graphs import (
    GraphKind,
    PreferenceGraph,
    Representative,
    check_graph_fits,
    full_graph,
    least_alike,
    reduced_graph,
)
from rankwise.path.svm_path import OnEvent, SVMPath, ranking_svm_path
from rankwise.ridge.kernel_spaces import KernelSpace
from rankwise.types import Floats, Weighting
from rankwise.validation import Problem, check_callable, check_choice, check_count, check_number


class PathParameters(Protocol):
    """The parameters of an estimator that follows a path."""

    graph: str
    representative: Representative | None
    weighting: str
    alpha_min: float | None
    max_events: int | None
    tol: float


@dataclass(frozen=True)
class PathSettings:
    """Which pairs matter, and how far to follow the path.

    Attributes
    ----------
    graph : GraphKind
    representative : callable or None
        Chooses the row that represents a level in the reduced graph; `least_alike` by default.
    weighting : Weighting
    min_alpha : float or None
    max_events : int or None
    tolerance : float
    """

    graph: GraphKind
    representative: Representative | None
    weighting: Weighting
    min_alpha: float | None
    max_events: int | None
    tolerance: float

    def check_fits(self, problem: Problem) -> None:
        """Reject a graph that is too large, before memory is allocated for the kernel matrix."""
        if self.graph is GraphKind.FULL:
            check_graph_fits(problem.queries, problem.y)

    def graph_of(self, problem: Problem, space: KernelSpace) -> PreferenceGraph:
        """The graph of pairs of rows in queries."""
        graph, factor = self._unweighted(problem, space), problem.query_weight
        if factor is None:
            return graph
        return replace(graph, weight=graph.weight * factor[problem.queries.query_of_row()[graph.better]])

    def _unweighted(self, problem: Problem, space: KernelSpace) -> PreferenceGraph:
        """The same if all queries count equally."""
        queries, y, weight = problem.queries, problem.y, problem.row_weight
        if self.graph is GraphKind.FULL:
            return full_graph(queries, y, weighting=self.weighting, row_weight=weight)
        features = None if space.kernel.function is KernelName.PRECOMPUTED else space.X
        chosen = self.representative or least_alike(space.kernel_matrix, queries, weight, features)
        return reduced_graph(queries, y, weighting=self.weighting, row_weight=weight, representative=chosen)

    def follow(self, K: Floats, graph: PreferenceGraph, on_event: OnEvent | None) -> SVMPath:
        """The path for these pairs."""
        return ranking_svm_path(
            K,
            graph,
            min_alpha=self.min_alpha,
            max_events=self.max_events,
            tolerance=self.tolerance,
            on_event=on_event,
        )


def checked_settings(given: PathParameters) -> PathSettings:
    """The settings specified by an estimator's parameters."""
    least, most = given.alpha_min, given.max_events
    return PathSettings(
        graph=check_choice("graph", given.graph, GraphKind),
        representative=check_callable("representative", given.representative),
        weighting=check_choice("weighting", given.weighting, Weighting),
        min_alpha=None if least is None else check_number("alpha_min", least, minimum=0.0, exclusive=True),
        max_events=None if most is None else check_count("max_events", most),
        tolerance=check_number("tol", given.tol, minimum=0.0, exclusive=True),
    )
