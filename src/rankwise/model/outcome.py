"""How a model was made: of what, and what fitting found out besides the function that scores."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import rankwise
from rankwise.held_out import EvalResults
from rankwise.model.history import SEEN, History, Step, UsedRows, updated
from rankwise.path.path_solutions import PathSolutions
from rankwise.scoring.calibration import Calibration
from rankwise.types import Floats, Ints
from rankwise.validation import Problem


@dataclass(frozen=True)
class Origin:
    """Which version of rankwise made a model, of how much data, and how; None is what an old file lacks.

    Attributes
    ----------
    version : str or None
    n_rows : int or None
    n_queries : int or None
        None for rows without queries as well.
    fitted_with_qid : bool or None
    history : tuple of Step or None
        The fit and all updates, the last of which the others describe.
    """

    version: str | None = None
    n_rows: int | None = None
    n_queries: int | None = None
    fitted_with_qid: bool | None = None
    history: History | None = field(default=None, compare=False)

    @property
    def column_names(self) -> dict[str, str]:
        """The columns with the "label" and the "qid" of the rows that were learned last, as far as known.

        "" stands for the queries of a table that was learned as one ranking.
        """
        names: dict[str, str] = {}
        for rows in (rows for step in self.history or () for rows in step.rows if rows.part in SEEN):
            if rows.label is not None:
                names |= {"label": rows.label, "qid": rows.qid or ""}
            elif rows.qid is not None:  # the labels came from another file
                names["qid"] = rows.qid
        return names

    @classmethod
    def of(cls, problem: Problem, *, method: str = "fit") -> Origin:
        """The origin of a model that this version makes of these rows."""
        n_queries = problem.queries.n_queries if problem.has_queries else None
        return cls.now(problem.X.shape[0], n_queries, method=method)

    @classmethod
    def now(cls, n_rows: int, n_queries: int | None = None, *, method: str = "fit") -> Origin:
        """The origin of a model that this version makes; without queries, the rows form one ranking."""
        history = (Step.now(method, UsedRows("training", n_rows, n_queries)),)
        return cls(rankwise.__version__, n_rows, n_queries, n_queries is not None, history)

    def updated(self, n_rows: int, n_queries: int | None) -> Origin:
        """The origin of this model once it has learned of so many rows altogether."""
        learned = None if self.n_rows is None else n_rows - self.n_rows
        history = updated(self.history, learned)
        return replace(Origin.now(n_rows, n_queries), history=history)


@dataclass(frozen=True, eq=False)
class Outcome:
    """How a model was found and chosen; None is what its ranker does not say.

    The attributes of rankers that have these names with an underscore, such as ``objective_``, describe them.
    """

    # Columns that are constant within queries, and so add nothing to differences of scores.
    context_columns: list[str] | None = None

    # Of solvers.
    solver: str | None = None
    n_iter: int | None = None
    n_products: int | None = None
    objective: float | None = None
    gap: float | None = None

    # On held-out rows.
    validation_score: float | None = None
    validation_curve: Floats | None = None
    best_iter: int | None = None
    evals_result: EvalResults | None = None

    # Of updates, and of signs.
    coef_error: float | None = None
    kkt_residual: float | None = None
    contradicted_signs: list[str] | None = None
    progress: Floats | None = None
    progress_queries: Ints | None = None

    # Of a search.
    alphas: Floats | None = None
    scores: Floats | None = None
    settings: list[dict[str, Any]] | None = None
    best: dict[str, Any] | None = None
    cv: str | None = None
    surface: Floats | None = None
    readings: dict[str, dict[str, Any]] | None = None
    left_out_scores: Floats | None = None

    # Of a regularization path.
    path: PathSolutions | None = None
    alpha: float | None = None
    best_score: float | None = None
    n_pairs: int | None = None
    active_size: Ints | None = None
    violation: Floats | None = None

    # Of models of several numbers of features.
    n_features: int | None = None
    coefs: Floats | None = None
    costs: Floats | None = None
    criterion: Floats | None = None
    standard_errors: Floats | None = None
    errors_of_difference: Floats | None = None
    calibrations: dict[int, Calibration] | None = None
