"""The kinds of measures, by name; adding one takes a formula and a line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rankwise.metrics import judged_formulas, list_formulas, pair_formulas
from rankwise.metrics.arranged_rows import ArrangedRows, Formula
from rankwise.metrics.conventions import Conventions, TiedScores


@dataclass(frozen=True)
class MeasureKind:
    """A family of measures: its formula, its direction, whether it takes a cutoff, and words."""

    formula: Callable[[ArrangedRows, int | None, Conventions], Formula]
    higher_is_better: bool = True
    cutoff: str = "none"  # "none", "optional" or "needed"
    aliases: tuple[str, ...] = ()
    ties: tuple[TiedScores, ...] = tuple(t for t in TiedScores if t is not TiedScores.THRESHOLD)
    words: tuple[str, ...] = ()


KINDS: dict[str, MeasureKind] = {
    "ndcg": MeasureKind(list_formulas.ndcg, cutoff="optional", words=("dcg",)),
    "mean_ndcg": MeasureKind(list_formulas.mean_ndcg, aliases=("meanndcg",)),
    "map": MeasureKind(
        list_formulas.AveragePrecision,
        cutoff="optional",
        aliases=("ap", "average_precision"),
        ties=tuple(TiedScores),
        words=("rel",),
    ),
    "p": MeasureKind(list_formulas.precision, cutoff="needed", aliases=("precision",), words=("rel",)),
    "recall": MeasureKind(list_formulas.recall, cutoff="needed", aliases=("r",), words=("rel",)),
    "rr": MeasureKind(
        list_formulas.reciprocal_rank, cutoff="optional", aliases=("mrr", "reciprocal_rank"), words=("rel",)
    ),
    "err": MeasureKind(list_formulas.expected_reciprocal_rank, cutoff="optional"),
    "success": MeasureKind(judged_formulas.Success, cutoff="needed", words=("rel",)),
    "rprec": MeasureKind(judged_formulas.r_precision, aliases=("r_precision",), words=("rel",)),
    "bpref": MeasureKind(judged_formulas.BinaryPreference, words=("rel",)),
    "rbp": MeasureKind(judged_formulas.RankBiasedPrecision, cutoff="optional", words=("p", "rel")),
    "judged": MeasureKind(judged_formulas.JudgedOfFirst, cutoff="optional"),
    "auc": MeasureKind(
        lambda judged, _, conventions: pair_formulas.AreaUnderCurve(judged, conventions), words=("rel",)
    ),
    "pairwise_error": MeasureKind(
        lambda judged, *_: pair_formulas.PairwiseError(judged), higher_is_better=False
    ),
    "pairwise_error_micro": MeasureKind(
        lambda judged, *_: pair_formulas.PairwiseError(judged, micro=True), higher_is_better=False
    ),
    "disagreement_error": MeasureKind(
        lambda judged, *_: pair_formulas.DisagreementError(judged),
        higher_is_better=False,
        aliases=("disagreement",),
    ),
    "kendall_tau_b": MeasureKind(
        lambda judged, *_: pair_formulas.KendallTauB(judged), aliases=("tau_b", "tau")
    ),
}
# By every name that a kind goes by.
KIND_OF = {alias: kind for kind, entry in KINDS.items() for alias in (kind, *entry.aliases)}
