"""The kinds of measures, by name; adding one takes a formula and a line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rankwise.metrics import list_formulas, pair_formulas
from rankwise.metrics.conventions import Conventions, TiedScores
from rankwise.metrics.judged_rows import Formula, JudgedRows


@dataclass(frozen=True)
class Kind:
    """A family of measures: its formula, its direction, and whether it takes a cutoff."""

    formula: Callable[[JudgedRows, int | None, Conventions], Formula]
    higher_is_better: bool = True
    cutoff: str = "none"  # "none", "optional" or "needed"
    aliases: tuple[str, ...] = ()
    ties: tuple[TiedScores, ...] = tuple(t for t in TiedScores if t is not TiedScores.THRESHOLD)


KINDS: dict[str, Kind] = {
    "ndcg": Kind(list_formulas.ndcg, cutoff="optional"),
    "mean_ndcg": Kind(list_formulas.mean_ndcg, aliases=("meanndcg",)),
    "map": Kind(
        list_formulas.AveragePrecision,
        cutoff="optional",
        aliases=("ap", "average_precision"),
        ties=tuple(TiedScores),
    ),
    "p": Kind(list_formulas.precision, cutoff="needed", aliases=("precision",)),
    "recall": Kind(list_formulas.recall, cutoff="needed", aliases=("r",)),
    "rr": Kind(list_formulas.reciprocal_rank, cutoff="optional", aliases=("mrr", "reciprocal_rank")),
    "err": Kind(list_formulas.expected_reciprocal_rank, cutoff="optional"),
    "auc": Kind(lambda judged, _, conventions: pair_formulas.AreaUnderCurve(judged, conventions)),
    "pairwise_error": Kind(lambda judged, *_: pair_formulas.PairwiseError(judged), higher_is_better=False),
    "pairwise_error_micro": Kind(
        lambda judged, *_: pair_formulas.PairwiseError(judged, micro=True), higher_is_better=False
    ),
    "disagreement_error": Kind(
        lambda judged, *_: pair_formulas.DisagreementError(judged),
        higher_is_better=False,
        aliases=("disagreement",),
    ),
    "kendall_tau_b": Kind(lambda judged, *_: pair_formulas.KendallTauB(judged), aliases=("tau_b", "tau")),
}
# By every name that a kind goes by.
KIND_OF = {alias: kind for kind, entry in KINDS.items() for alias in (kind, *entry.aliases)}
