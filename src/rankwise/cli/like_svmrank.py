"""The ``--like-svmrank`` mode of `rankwise train`: SVMrank's objective, from its only option."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from rankwise.errors import ParameterError

if TYPE_CHECKING:
    from rankwise.rows.ranking import RankingData

DEFAULT_C = 0.01


def refuse_others(learner: str, given: dict[str, Any], settings: list[str] | None) -> None:
    """Reject learner options other than SVMrank's C, which would silently deviate from SVMrank."""
    if (
        learner not in ("rankrls", "ranksvm")
        or settings
        or any(value is not None for value in given.values())
    ):
        raise ParameterError("--like-svmrank accepts no learner options other than -c.")


def check_c(c: float | None, like_svmrank: bool) -> float:
    if c is not None and not like_svmrank:
        raise ParameterError("-c requires --like-svmrank; use --alpha for the learners of rankwise.")
    if c is not None and not 0.0 < c < float("inf"):
        raise ParameterError(f"-c must be above 0; got {c:g}.")
    return DEFAULT_C if c is None else c


def adopt_c(ranker: Any, c: float, data: RankingData) -> None:
    """Make a RankSVM minimize the same objective as SVMrank on this data."""
    from rankwise.export.svmrank import alpha_from_c

    if data.scaled_per_query:
        warnings.warn(
            "SVMrank model files cannot record that features were scaled within each query; "
            "scale the data to predict on as well.",
            stacklevel=2,
        )
    ranker.set_params(weighting="pair", alpha=alpha_from_c(c, data.y, data.queries))
