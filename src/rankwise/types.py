"""Types of arrays and options used throughout rankwise."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy import sparse

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]
# Values of a `random_state` parameter; an int makes the result reproducible.
RandomSource: TypeAlias = "int | np.random.RandomState | np.random.Generator | None"
# A feature matrix: dense rows in C order, or CSR.
Matrix: TypeAlias = "NDArray[np.float64] | NDArray[np.float32] | sparse.csr_matrix | sparse.csr_array"
# An alternative to True and False: decide from the data.
Auto: TypeAlias = Literal["auto"]


def is_sparse(X: object) -> bool:
    """Whether this is a SciPy sparse matrix or array; SciPy is not imported to see that an array is not."""
    if isinstance(X, np.ndarray):
        return False
    from scipy import sparse

    return bool(sparse.issparse(X))


class Ties(StrEnum):
    """How pairs of rows with equal labels are treated (paper A, section 3)."""

    KEEP = "keep"
    DROP = "drop"


class Weighting(StrEnum):
    """The weight c of a query's pairs: 1/h, 1, or 1 over the number of pairs counted."""

    EXAMPLE = "example"
    PAIR = "pair"
    QUERY = "query"


class Solver(StrEnum):
    """How RankRLS is solved: for feature weights, for row coefficients, or by conjugate gradient.

    "closed" is the cheaper of the first two, "auto" the cheapest of all that fits in memory.
    """

    AUTO = "auto"
    CLOSED = "closed"
    PRIMAL = "primal"
    DUAL = "dual"
    CG = "cg"


class PathMethod(StrEnum):
    """How features are chosen: one after the other, or by the lasso."""

    GREEDY = "greedy"
    LASSO = "lasso"


class Reading(StrEnum):
    """What the values of a column of a table are taken for."""

    NUMBER = "number"
    FLAG = "flag"
    DATE = "date"
    TEXT = "text"
    # Numbers as they compare with those of their query; see `rankwise.rows.relative`.
    SHARE = "share"
    RANK = "rank"
    DISTANCE = "distance"

    @property
    def is_relative(self) -> bool:
        """Whether the reading of a row depends on the other rows of its query."""
        return self in (Reading.SHARE, Reading.RANK, Reading.DISTANCE)
