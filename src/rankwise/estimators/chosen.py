"""What rankers that choose alpha by themselves have to show for it."""

from __future__ import annotations

from typing import Any

from rankwise.estimators.base import Ranker
from rankwise.persist.fields import Fields, array, value
from rankwise.types import Floats


class ChoosingRanker(Ranker):
    """A ranker that measured every alpha, in every setting on offer, and became the best."""

    alphas_: Floats
    scores_: Floats
    settings_: list[dict[str, Any]]
    best_: dict[str, Any]
    cv_: str

    _choice_state: Fields = (
        array("alphas_", "alphas"),
        array("scores_", "settings alphas"),
        value("settings_", list),
        value("best_", dict),
        value("cv_", str),
    )

    @property
    def alpha_(self) -> float:
        """The alpha that was chosen."""
        return float(self.best_["alpha"])

    @property
    def best_score_(self) -> float:
        """What was measured at the chosen alpha and setting."""
        return float(self.best_["score"])
