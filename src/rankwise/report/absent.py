"""Why a section of a report is missing, or does not cover some rankers, so that readers need not guess."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankwise.report.entrants import Entrant
from rankwise.rows.ranking import RankingData
from rankwise.rows.table import Table
from rankwise.selection.learning_curve import LEAST_QUERIES


def absent_facts(
    entrants: Sequence[Entrant], judged: RankingData, sections: Mapping[str, Any], *, has_training: bool
) -> dict[str, str]:
    """A sentence for each section that readers may expect, and that is missing for some ranker."""
    models = [one for one in entrants if one.model is not None]
    found = {
        "weights": _of(
            [one for one in entrants if one.terms is None],
            "scores are not sums over columns, unlike those of linear models and trees",
        ),
        "choices": _of(
            [
                one
                for one in models
                if not sections["choices"].get(one.name) and not sections["sizes"].get(one.name)
            ],
            "alpha was given, not chosen",
        ),
        "calibration": _of(
            [one for one in models if not sections["calibration"].get(one.name)],
            "not calibrated; rankers that choose alpha, and fits with validation data, are",
        ),
        "learning": _learning(models, sections, has_training),
        "audit": _audit(judged, sections),
    }
    return {section: reason for section, reason in found.items() if reason}


def _of(entrants: Sequence[Entrant], reason: str) -> str | None:
    return f"{', '.join(one.name for one in entrants)}: {reason}." if entrants else None


def _learning(models: Sequence[Entrant], sections: Mapping[str, Any], has_training: bool) -> str | None:
    if not has_training:
        return "Needs the training data (training= or --train)." if models else None
    return _of(
        [one for one in models if not sections["learning"].get(one.name)],
        "not drawn; only linear RankRLS models of numeric columns are retrained on fewer queries, "
        f"if there are at least {LEAST_QUERIES}",
    )


def _audit(judged: RankingData, sections: Mapping[str, Any]) -> str | None:
    if sections["audit"] is not None or not judged.n_features:
        return None
    if isinstance(judged.X, Table):
        return "Skipped, because not all columns are numbers; see rankwise audit."
    return "Skipped: too few queries, or too many rows for a quick audit; see rankwise audit."
