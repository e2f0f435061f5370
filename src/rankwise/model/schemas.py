"""What the file of each class of models holds: its parameters and its fitted attributes.

A class and its schema are separate, because files are also read, checked and scored with where the class, and
scikit-learn with it, is not imported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from rankwise.model.choices import check_choice_of_search
from rankwise.model.fields import Field, Fields, array, check_within, rows, value
from rankwise.model.object_fields import (
    CalibrationField,
    CalibrationsField,
    EncodingField,
    HistoryField,
    MomentsField,
    PathField,
    ProfileField,
)
from rankwise.operators.kernel import KernelName
from rankwise.tensor_file import RefusedError

Attributes: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class ModelSchema:
    """What the file of one class holds.

    Attributes
    ----------
    parameters : frozenset of str
        The names of the parameters that a file may set.
    state : Fields
        The attributes that fitting sets.
    checks : tuple of callable
        Each raises `RefusedError` if parameters and attributes do not fit each other.
    oldest : int
        Files with an older schema version are rejected.
    """

    parameters: frozenset[str]
    state: Fields
    checks: tuple[Callable[[Attributes, Attributes], None], ...] = ()
    oldest: int = 1

    @cached_property
    def attributes(self) -> dict[str, Field]:
        """The attributes by name."""
        return {field.name: field for field in self.state}


def _check_basis(parameters: Attributes, fitted: Attributes) -> None:
    kernel = parameters["kernel"]
    if kernel == KernelName.PRECOMPUTED:
        check_within("basis_indices_", fitted["basis_indices_"], fitted["n_features_in_"])
    elif "basis_" not in fitted:
        raise RefusedError(f"the rows 'basis_' are missing, which the kernel {kernel!r} needs")
    if "basis_reference_" in fitted:
        check_within("basis_reference_", fitted["basis_reference_"], len(fitted["basis_indices_"]))


def _check_sizes(parameters: Attributes, fitted: Attributes) -> None:
    n_sizes = len(fitted["coefs_"])
    if not 1 <= fitted["n_features_"] <= n_sizes:
        raise RefusedError(f"the value 'n_features_' must be from 1 to {n_sizes}, the number of sizes")


def _check_columns(parameters: Attributes, fitted: Attributes) -> None:
    encoding = fitted.get("encoding_")
    encodes = any(parameters.get(name) is not None for name in ("columns", "interactions"))
    if encodes != (encoding is not None):
        raise RefusedError("the parameter 'columns' and the encoding of columns need each other")
    if encoding is None:
        return
    if parameters.get("kernel") == KernelName.PRECOMPUTED:
        raise RefusedError("a model of kernel values cannot have encoded columns")
    if fitted["dual_coef_" if "dual_coef_" in fitted else "coef_"].ndim != 1:
        raise RefusedError("a model of encoded columns must have one target")
    names = fitted.get("feature_names_in_")
    if (None if names is None else names.tolist()) != (None if encoding.labels else encoding.columns):
        raise RefusedError("the names of the features are not those of the encoded columns")


_RANKER: Fields = (
    value("version_", str, optional=True),
    value("n_rows_", int, optional=True, minimum=0),
    value("n_queries_", int, optional=True, minimum=0),
    value("fitted_with_qid_", bool, optional=True),
    HistoryField("history_"),
    value("context_columns_", list, optional=True),
    value("scaled_per_query_", bool, optional=True),
    value("numbered_from_", int, optional=True),
    CalibrationField("calibration_"),
    ProfileField("profile_"),
)
# The encoding comes first, because it determines how many features there are.
_LINEAR: Fields = (EncodingField("encoding_"), *_RANKER, array("coef_", "targets? features"))
_CERTIFIED: Fields = (
    *_LINEAR,
    value("objective_", float),
    value("gap_", float),
    value("n_iter_", int),
    value("n_products_", int),
)
_KERNEL: Fields = (
    EncodingField("encoding_"),
    *_RANKER,
    rows("basis_", "basis features", optional=True),
    array("basis_indices_", "basis", "i"),
    array("basis_reference_", "basis", "i", optional=True),
    array("dual_coef_", "targets? basis"),
    value("gamma_", float, minimum=0.0),
    value("degree_", float, minimum=0.0),
    value("coef0_", float, minimum=0.0),
    value("rank_", int),
)
# Set by fits with held-out rows.
_HELD_OUT: Fields = (
    value("validation_score_", float, optional=True),
    value("best_iter_", int, optional=True),
    array("validation_curve_", "iterations", optional=True),
)
_RIDGE: Fields = (value("solver_", str), value("n_iter_", int, type(None)), *_HELD_OUT)
_UPDATED: Fields = (MomentsField("moments_"), value("coef_error_", float, optional=True))
# Set by fits with signs.
_SIGNED: Fields = (
    value("kkt_residual_", float, optional=True, minimum=0.0),
    value("contradicted_signs_", list, optional=True),
)
_PROGRESS: Fields = (
    array("progress_", "batches alphas", optional=True, nan=True),
    array("progress_queries_", "batches", "i", optional=True),
)
_CHOICE: Fields = (
    array("alphas_", "alphas"),
    array("scores_", "settings alphas", nan=True),
    value("settings_", list),
    value("best_", dict),
    value("cv_", str),
)
_RIDGE_CHOICE: Fields = (
    *_RIDGE,
    *_CHOICE,
    array("surface_", "alphas iterations", optional=True),
    value("readings_", dict, optional=True),
)
_PATH: Fields = (
    array("alphas_", "breakpoints"),
    array("active_size_", "breakpoints", "i"),
    array("violation_", "breakpoints"),
    array("scores_", "breakpoints", optional=True),
    value("best_score_", float, optional=True),
    value("n_pairs_", int),
    value("alpha_", float),
    PathField("_path"),
)
_FEATURE_PATH: Fields = (
    array("coef_", "features"),
    value("n_features_", int),
    array("coefs_", "sizes features"),
    array("alphas_", "sizes"),
    array("scores_", "sizes"),
    array("standard_errors_", "sizes"),
    array("errors_of_difference_", "sizes"),
    array("criterion_", "sizes"),
    array("costs_", "sizes"),
    CalibrationsField("calibrations_"),
    value("cv_", str),
)

# Parameters that every version has written; what reads a file may rely on them.
ALWAYS_WRITTEN = frozenset({"alpha", "kernel", "measure", "ties", "weighting"})

_OF_KERNEL = {"kernel", "gamma", "degree", "coef0", "columns"}
_OF_RIDGE = {"solver", "ties", "weighting", "checkpoint", "checkpoint_seconds"}
_OF_ITERATIONS = {"tol", "max_iter", "early_stopping", "patience"}
_OF_HOLDING_OUT = {"validation_fraction", "measure", "random_state"}
_OF_SEARCH = {"alphas", "cv", "measure"}


def _names(*groups: set[str]) -> frozenset[str]:
    return frozenset[str]().union(*groups)


SCHEMAS: dict[str, ModelSchema] = {
    "RankRLS": ModelSchema(
        _names(
            {"alpha", "monotonic_cst", "columns", "interactions", "across_queries"},
            _OF_RIDGE,
            _OF_ITERATIONS,
            _OF_HOLDING_OUT,
        ),
        (*_LINEAR, *_RIDGE, *_UPDATED, *_SIGNED),
        (_check_columns,),
    ),
    "RankRLSCV": ModelSchema(
        _names(
            {"half_life", "monotonic_cst", "columns", "interactions", "across_queries"},
            _OF_SEARCH,
            _OF_RIDGE,
            _OF_ITERATIONS,
        ),
        (*_LINEAR, *_RIDGE_CHOICE, *_UPDATED, *_SIGNED, *_PROGRESS),
        (_check_columns, check_choice_of_search),
    ),
    "KernelRankRLS": ModelSchema(
        _names({"alpha", "basis"}, _OF_KERNEL, _OF_RIDGE, _OF_ITERATIONS, _OF_HOLDING_OUT),
        (*_KERNEL, *_RIDGE),
        (_check_columns, _check_basis),
    ),
    "KernelRankRLSCV": ModelSchema(
        _names({"basis", "random_state"}, _OF_SEARCH, _OF_KERNEL, _OF_RIDGE, _OF_ITERATIONS),
        (*_KERNEL, *_RIDGE_CHOICE),
        (_check_columns, _check_basis, check_choice_of_search),
    ),
    "RankSVM": ModelSchema(
        _names(
            {"alpha", "loss", "weighting", "warm_start", "columns", "interactions"},
            _OF_ITERATIONS,
            _OF_HOLDING_OUT,
        ),
        (*_CERTIFIED, *_HELD_OUT),
        (_check_columns,),
    ),
    "RankSVMCV": ModelSchema(
        _names({"loss", "weighting", "columns", "interactions"}, _OF_SEARCH, _OF_ITERATIONS),
        (*_CERTIFIED, *_CHOICE, value("validation_score_", float, optional=True)),
        (_check_columns, check_choice_of_search),
    ),
    "RankRLSPath": ModelSchema(
        _names({"method", "max_features", "feature_costs", "ties", "weighting"}, _OF_SEARCH),
        (*_RANKER, *_FEATURE_PATH),
        (_check_sizes,),
    ),
    "RankSVMPath": ModelSchema(
        _names({"graph", "representative", "weighting", "alpha_min", "max_events", "tol"}, _OF_KERNEL),
        (*_KERNEL, *_PATH),
        (_check_columns, _check_basis),
        oldest=2,  # earlier, alphas_ was descending
    ),
}
