"""What fitting finds out besides the function that scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rankwise.held_out import EvalResults
from rankwise.path.path_solutions import PathSolutions
from rankwise.scoring.calibration import Calibration
from rankwise.types import Floats, Ints


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
