"""Validation of X, y, qid, weights, pairs and parameters, all in one place."""

from rankwise.validation.arrays import (
    check_column,
    check_labels,
    check_matrix,
    check_products,
    check_query_weight,
    check_row_weight,
    check_scores,
    check_vectors,
)
from rankwise.validation.by_feature import check_costs, check_signs
from rankwise.validation.explicit_pairs import check_pairs
from rankwise.validation.parameters import (
    check_alphas,
    check_callable,
    check_choice,
    check_count,
    check_flag,
    check_flag_or_auto,
    check_folder,
    check_kind,
    check_number,
    check_random_state,
)
from rankwise.validation.problems import (
    Problem,
    check_eval_parts,
    check_eval_sets,
    check_pairs_to_learn,
    check_problem,
    check_scaling,
    refuse_beside_parts,
    taken_apart,
)
from rankwise.validation.rows import check_fitted, check_judged_rows, check_read_rows, check_rows

__all__ = [
    "Problem",
    "check_alphas",
    "check_callable",
    "check_choice",
    "check_column",
    "check_costs",
    "check_count",
    "check_eval_parts",
    "check_eval_sets",
    "check_fitted",
    "check_flag",
    "check_flag_or_auto",
    "check_folder",
    "check_judged_rows",
    "check_kind",
    "check_labels",
    "check_matrix",
    "check_number",
    "check_pairs",
    "check_pairs_to_learn",
    "check_problem",
    "check_products",
    "check_query_weight",
    "check_random_state",
    "check_read_rows",
    "check_row_weight",
    "check_rows",
    "check_scaling",
    "check_scores",
    "check_signs",
    "check_vectors",
    "refuse_beside_parts",
    "taken_apart",
]
