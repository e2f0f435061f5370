"""What ``--like-svmrank`` means for `rankwise train`: SVMrank's objective, from its one option."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from rankwise.errors import ParameterError

if TYPE_CHECKING:
    from rankwise.data.ranking import RankingData

DEFAULT_C = 0.01


def refuse_others(learner: str, given: dict[str, Any], settings: list[str] | None) -> None:
    """SVMrank's C says it all; another option beside it would be silently unlike SVMrank."""
    if (
        learner not in ("rankrls", "ranksvm")
        or settings
        or any(value is not None for value in given.values())
    ):
        raise ParameterError("--like-svmrank takes -c and no other option of a learner.")


def check_c(c: float | None, like_svmrank: bool) -> float:
    if c is not None and not like_svmrank:
        raise ParameterError("-c belongs to --like-svmrank; the learners of rankwise take --alpha.")
    if c is not None and not 0.0 < c < float("inf"):
        raise ParameterError(f"-c must be above 0; got {c:g}.")
    return DEFAULT_C if c is None else c


def adopt_c(ranker: Any, c: float, data: RankingData) -> None:
    """Let a RankSVM minimize what SVMrank minimizes on these data."""
    from rankwise.export.svmrank import alpha_from_c

    if data.scaled_per_query:
        warnings.warn(
            "SVMrank's model files cannot say that features were scaled inside each query; "
            "predict on data that is scaled, too.",
            stacklevel=2,
        )
    ranker.set_params(weighting="pair", alpha=alpha_from_c(c, data.y, data.queries))
