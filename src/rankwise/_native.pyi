"""Type stubs for the compiled kernels (native/bindings)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwise.types import AnyArray, Bools, Floats, Ints

compiler: str

class RowMatrix: ...

def column_ranges(X: RowMatrix, offset: Floats, spread: Floats, n_threads: int) -> None: ...
def column_moments(X: RowMatrix, weight: Floats, step: int, moments: Floats) -> None: ...
def renumber_columns(columns: AnyArray, number: AnyArray, out: AnyArray, n_threads: int) -> None: ...
def dense_rows(values: AnyArray, reference: Ints | None, mapped: bool) -> RowMatrix: ...
def sparse_rows(
    offsets: Ints, columns: AnyArray, values: AnyArray, n_columns: int, mapped: bool
) -> RowMatrix: ...
def give_back_pages(array: AnyArray) -> None: ...
def scores(X: RowMatrix, weights: Floats, out: Floats, n_threads: int) -> None: ...
def adjoint(X: RowMatrix, u: Floats, out: Floats, n_threads: int) -> None: ...
def query_normal_product(
    X: RowMatrix,
    offsets: Ints,
    order: Ints | None,
    level_offsets: Ints | None,
    row_weight: Floats,
    query_weight: Floats,
    weights: Floats,
    out: Floats,
    n_threads: int,
) -> None: ...
def row_normal_product(
    X: RowMatrix, scale: Floats, shift: Floats, weights: Floats, out: Floats, n_threads: int
) -> None: ...
def centred_rows(
    values: AnyArray,
    row: Ints,
    offsets: Ints,
    weight: Floats,
    scale: Floats,
    mean: Floats | None,
    out: Floats,
    n_threads: int,
) -> None: ...

class Lapack:
    def __init__(self, lapack: Mapping[str, Any], blas: Mapping[str, Any]) -> None: ...

class FoldRows:
    def __init__(self, values: Floats, offsets: Ints) -> None: ...

def solve_shifted(diagonal: Floats, off_diagonal: Floats, shifts: Floats, values: Floats) -> None: ...
def solve_half(
    diagonal: Floats, off_diagonal: Floats, shift: float, columns: Floats, out: Floats
) -> None: ...
def left_out_systems(
    lapack: Lapack,
    matrix: Floats,
    right: Floats,
    differences: FoldRows,
    target: Floats,
    scored: FoldRows,
    alphas: Floats,
    least_eigenvalue: float,
    least_share: float,
    scores: Floats,
    resolved: Bools,
    n_threads: int,
) -> None: ...
def left_out_blocks(
    lapack: Lapack,
    diagonal: Floats,
    off_diagonal: Floats,
    right: Floats,
    differences: FoldRows,
    target: Floats | None,
    scored: FoldRows,
    alphas: Floats,
    tolerance: float,
    scores: Floats,
    resolved: Bools,
    n_threads: int,
) -> None: ...
def misordered_pairs(
    lapack: Lapack,
    rows: Floats,
    offset: float,
    sign: float,
    weight: Floats,
    root: Floats,
    inverse: Floats,
    free: Floats,
    residual: Floats,
    label: Floats,
    below: Ints,
    level: float,
    size: float,
    wrong: Floats,
    n_threads: int,
) -> None: ...
def move_rows(rows: AnyArray, centre: Floats, scale: float, moved: Floats, half_squares: Floats) -> None: ...
def negative_half_distances(values: Floats, half_a: Floats, half_b: Floats) -> None: ...
def shifted_update(
    active: Ints,
    step: Floats,
    zeta: Floats,
    beta: Floats,
    residual: Floats,
    solutions: Floats,
    directions: Floats,
    n_threads: int,
) -> None: ...
def rank_rows(offsets: Ints, scores: Floats, row: Ints, first: Ints, end: Ints, n_threads: int) -> None: ...
def order_by_label(
    offsets: Ints, labels: Floats, row: Ints, level: Ints, n_pairs: Floats, n_threads: int
) -> None: ...
def average_precision(
    offsets: Ints,
    first: Ints,
    end: Ints,
    relevant: Floats,
    cutoff: int,
    harmonic: Floats | None,
    values: Floats,
    n_threads: int,
) -> None: ...
def cascade(
    offsets: Ints, first: Ints, end: Ints, stop: Floats, cutoff: int, values: Floats, n_threads: int
) -> None: ...
def count_pairs(offsets: Ints, level: Ints, scores: Floats, counts: Ints, n_threads: int) -> None: ...
def count_weighted_pairs(
    offsets: Ints, level: Ints, scores: Floats, row_weight: Floats, counts: Floats, n_threads: int
) -> None: ...
def count_nearby_pairs(
    offsets: Ints, level: Ints, column: Ints, scores: Floats, counts: Ints, n_threads: int
) -> None: ...
def format_entries(
    indptr: Ints, indices: Ints, values: AnyArray, first_index: int, n_threads: int
) -> tuple[bytes, list[int]]: ...

class LetorReader:
    def __init__(self, min_index: int, max_index: int, single_precision: bool) -> None: ...
    def feed(self, text: memoryview, n_threads: int) -> tuple[int, str] | None: ...
    def take(
        self,
    ) -> tuple[Floats, Ints | None, Ints, AnyArray, AnyArray, bytes | None, bytes | None]: ...
    def query_labels(self) -> list[bytes]: ...
    @property
    def n_lines(self) -> int: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def lowest_index(self) -> int: ...
    @property
    def highest_index(self) -> int: ...

def order_scores(offsets: Ints, scores: Floats, row: AnyArray, score: Floats, n_threads: int) -> None: ...
def sum_active(
    offsets: Ints,
    lower: AnyArray,
    upper: AnyArray,
    row: AnyArray,
    score: Floats,
    values: Floats | None,
    above: Floats,
    below: Floats,
    n_threads: int,
) -> None: ...
def minimize_on_simplex(H: Floats, b: Floats, x: Floats) -> None: ...

class PathScores:
    def __init__(
        self,
        pairs: NDArray[np.int32],
        changes: Floats,
        offsets: Ints,
        better: NDArray[np.int32],
        worse: NDArray[np.int32],
        weight: Floats,
        kernel: Floats,
    ) -> None: ...
    def follow(self, first: int, scores: Floats, n_threads: int) -> None: ...
    def count_pairs(
        self,
        first: int,
        queries: Ints,
        level: Ints,
        column: Ints,
        rounding: Floats,
        twin: Ints,
        counts: Ints,
        doubtful: NDArray[np.bool_],
        n_threads: int,
    ) -> None: ...

class PathWalk:
    def __init__(
        self,
        kernel: Floats,
        better: NDArray[np.int32],
        worse: NDArray[np.int32],
        weight: Floats,
        n_threads: int,
    ) -> None: ...
    def follow(self, floor: float, tolerance: float, max_events: int, n_events: int) -> int: ...
    def breakpoints(self, levels: Floats, violations: Floats, offsets: Ints) -> None: ...
    def changes(self, active_sizes: Ints, pairs: NDArray[np.int32], changes: Floats) -> None: ...
    @property
    def level(self) -> float: ...
    @property
    def violation(self) -> float: ...
    @property
    def remaining(self) -> float: ...
    @property
    def active_size(self) -> int: ...
    @property
    def n_breakpoints(self) -> int: ...
