"""The conventions of measures; nothing is computed here.

Tools use the same names for measures that differ in detail, so every detail is a field of `Conventions`, and
`PRESETS` holds the combinations used by well-known tools.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from rankwise.errors import ParameterError, did_you_mean
from rankwise.validation import check_choice, check_number


class Gain(StrEnum):
    """The gain of a label in NDCG: 2^label − 1, or the label itself."""

    EXPONENTIAL = "exponential"
    LINEAR = "linear"


class Discount(StrEnum):
    """The discount of a rank (from 1) in NDCG: 1/log2(1 + rank), or LETOR's 1, 1, then 1/log2(rank)."""

    LOG2 = "log2"
    LETOR = "letor"


class TiedScores(StrEnum):
    """How rows with equal scores are ordered.

    ``average`` takes the exact expectation over all orders of the tied rows; ``row-order`` keeps the order of
    the rows; ``doc-descending`` puts the larger document label first (row order without documents);
    ``threshold`` retrieves tied rows together, so each of them has the rank of the last.
    """

    AVERAGE = "average"
    ROW_ORDER = "row-order"
    DOC_DESCENDING = "doc-descending"
    THRESHOLD = "threshold"


class Empty(StrEnum):
    """The value of a query without relevant rows: none (excluded, and reported as such), 0 or 1."""

    LEAVE_OUT = "leave-out"
    ZERO = "zero"
    ONE = "one"


class ShortLists(StrEnum):
    """NDCG@k of a query with fewer than k rows: computed from the rows it has, or 0 (the LETOR scripts)."""

    AS_IS = "as-is"
    ZERO = "zero"


class Denominator(StrEnum):
    """The denominator of a sum cut off at k: the full number, or the largest attainable within the cutoff.

    AP@k: all relevant rows, or at most k of them. P@k: k, or at most the number of rows.
    """

    FULL = "full"
    ATTAINABLE = "attainable"


class Average(StrEnum):
    """The mean over queries, or over all pairs of all queries."""

    MACRO = "macro"
    MICRO = "micro"


_CHOICES: dict[str, type[StrEnum]] = {
    "gain": Gain,
    "discount": Discount,
    "ties": TiedScores,
    "empty": Empty,
    "short": ShortLists,
    "denominator": Denominator,
}


@dataclass(frozen=True)
class Conventions:
    """All details on which implementations of a measure differ; a measure uses the fields that apply to it.

    Attributes
    ----------
    gain, discount, short : Gain, Discount, Short
        The components of NDCG; see `ndcg`.
    ties, empty : Ties, Empty
        How to treat tied scores, and queries without relevant rows, in all measures of ranked lists.
    relevant : float
        The lowest label of a relevant row, for binary relevance (MAP, P@k, RR, AUC).
    denominator : Denominator
        The denominator of AP@k and P@k.
    max_grade : float or None
        The highest grade in ERR, whose stop probability is (2^label − 1) / 2^max_grade; None uses the largest
        label in the data.
    persistence : float
        p in RBP, the probability that a reader continues to the next rank.

    See Also
    --------
    get_measure : Measures with the conventions of a tool.
    Measure : Follows them.

    Examples
    --------
    >>> from rankwise.metrics import Conventions, get_measure
    >>> Conventions().gain.value, get_measure("ndcg@10", preset="trec").conventions.gain.value
    ('exponential', 'linear')
    """

    gain: Gain = Gain.EXPONENTIAL
    discount: Discount = Discount.LOG2
    ties: TiedScores = TiedScores.AVERAGE
    empty: Empty = Empty.LEAVE_OUT
    short: ShortLists = ShortLists.AS_IS
    relevant: float = 1.0
    denominator: Denominator = Denominator.FULL
    max_grade: float | None = None
    persistence: float = 0.8

    def with_options(self, **options: Any) -> Conventions:
        """Return the conventions with some replaced; strings become enums, and None means unchanged."""
        known = [f.name for f in fields(self)]
        changes: dict[str, Any] = {}
        for name, value in options.items():
            if name not in known:
                raise ParameterError(f"Unknown convention '{name}'; must be one of {', '.join(known)}.")
            if value is None:
                continue
            if name == "persistence":
                value = check_number(name, value, minimum=0.0, maximum=1.0, exclusive=True)
            choices = _CHOICES.get(name)
            changes[name] = check_choice(name, value, choices) if choices else check_number(name, value)
        return replace(self, **changes)


@dataclass(frozen=True)
class Preset:
    """The conventions of a tool, and the exceptions for individual measures."""

    conventions: Conventions
    departures: dict[str, dict[str, Any]] = field(default_factory=dict)

    def of(self, kind: str) -> Conventions:
        departures = self.departures.get(kind)
        return replace(self.conventions, **departures) if departures else self.conventions


PRESETS: dict[str, Preset] = {
    "default": Preset(Conventions()),
    # The evaluation scripts of LETOR 3.0 and 4.0.
    "letor": Preset(
        Conventions(
            discount=Discount.LETOR, ties=TiedScores.ROW_ORDER, empty=Empty.ZERO, short=ShortLists.ZERO
        )
    ),
    # trec_eval, pytrec_eval and ir_measures; ERR as in gdeval.
    "trec": Preset(
        Conventions(gain=Gain.LINEAR, ties=TiedScores.DOC_DESCENDING, empty=Empty.ZERO, max_grade=4.0)
    ),
    # ndcg_score, average_precision_score and roc_auc_score, applied to each query.
    "sklearn": Preset(
        Conventions(gain=Gain.LINEAR, empty=Empty.ZERO),
        {"map": {"ties": TiedScores.THRESHOLD}},
    ),
    "lightgbm": Preset(
        Conventions(ties=TiedScores.ROW_ORDER, empty=Empty.ONE, denominator=Denominator.ATTAINABLE)
    ),
    # Metric names without a trailing minus: empty queries count as 1 in ndcg and map, and as 0 in pre.
    "xgboost": Preset(
        Conventions(ties=TiedScores.ROW_ORDER, empty=Empty.ONE, denominator=Denominator.ATTAINABLE),
        {"p": {"empty": Empty.ZERO}},
    ),
}


def get_preset(name: str | None) -> Preset:
    """The preset with this name; None is the default preset."""
    preset = PRESETS.get("default" if name is None else name)
    if preset is None:
        raise ParameterError(
            f"Unknown preset {name!r}; must be one of {', '.join(PRESETS)}{did_you_mean(name, PRESETS)}"
        )
    return preset
