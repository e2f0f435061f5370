"""What a measure is: its formula's name, its cutoff and its conventions. Nothing here computes.

Tools that share the names of measures disagree on their details, so every detail is a field of
`Conventions` and `PRESETS` holds the combinations that known tools use.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from rankwise.errors import ParameterError
from rankwise.validation import check_choice, check_number


class Gain(StrEnum):
    """What a label is worth in NDCG: 2^label − 1, or the label itself."""

    EXPONENTIAL = "exponential"
    LINEAR = "linear"


class Discount(StrEnum):
    """What a rank (from 1) is worth in NDCG: 1/log2(1 + rank), or LETOR's 1, 1, then 1/log2(rank)."""

    LOG2 = "log2"
    LETOR = "letor"


class TiedScores(StrEnum):
    """How rows with equal scores are ordered.

    ``average`` is the exact expectation over all orders of the tied rows; ``row-order`` keeps the order of
    the rows; ``doc-descending`` puts the greater document label first (row order without documents);
    ``threshold`` retrieves tied rows together, so each of them is ranked last among them.
    """

    AVERAGE = "average"
    ROW_ORDER = "row-order"
    DOC_DESCENDING = "doc-descending"
    THRESHOLD = "threshold"


class Empty(StrEnum):
    """What a query without relevant rows counts: nothing (left out, and reported as such), 0 or 1."""

    LEAVE_OUT = "leave-out"
    ZERO = "zero"
    ONE = "one"


class ShortLists(StrEnum):
    """NDCG@k of a query with fewer than k rows: of the rows there are, or 0 (the LETOR scripts)."""

    AS_IS = "as-is"
    ZERO = "zero"


class Denominator(StrEnum):
    """What a sum cut off at k is divided by: the full number, or the largest the cut leaves room for.

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
    """Everything on which implementations of a measure differ; a measure reads the fields that concern it.

    Attributes
    ----------
    gain, discount, short : what NDCG is made of.
    ties, empty : tied scores and queries without relevant rows, in all measures of ranked lists.
    relevant : the least label of a relevant row, where relevance is yes or no (MAP, P@k, RR, AUC).
    denominator : what AP@k and P@k divide by.
    max_grade : the greatest grade in ERR, whose stop probability is (2^label − 1) / 2^max_grade; None takes
        the greatest label at hand.
    """

    gain: Gain = Gain.EXPONENTIAL
    discount: Discount = Discount.LOG2
    ties: TiedScores = TiedScores.AVERAGE
    empty: Empty = Empty.LEAVE_OUT
    short: ShortLists = ShortLists.AS_IS
    relevant: float = 1.0
    denominator: Denominator = Denominator.FULL
    max_grade: float | None = None

    def with_options(self, **options: Any) -> Conventions:
        """These conventions with some replaced; strings become enums and None means unchanged."""
        known = [f.name for f in fields(self)]
        changes: dict[str, Any] = {}
        for name, value in options.items():
            if name not in known:
                raise ParameterError(f"There is no convention '{name}'; there are: {', '.join(known)}.")
            if value is None:
                continue
            choices = _CHOICES.get(name)
            changes[name] = check_choice(name, value, choices) if choices else check_number(name, value)
        return replace(self, **changes)


@dataclass(frozen=True)
class Preset:
    """A tool's conventions, and where single measures of that tool depart from them."""

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
    # ndcg_score, average_precision_score and roc_auc_score, query by query.
    "sklearn": Preset(
        Conventions(gain=Gain.LINEAR, empty=Empty.ZERO),
        {"map": {"ties": TiedScores.THRESHOLD}},
    ),
    "lightgbm": Preset(
        Conventions(ties=TiedScores.ROW_ORDER, empty=Empty.ONE, denominator=Denominator.ATTAINABLE)
    ),
    # The names without a trailing minus: empty queries count 1 in ndcg and map, 0 in pre.
    "xgboost": Preset(
        Conventions(ties=TiedScores.ROW_ORDER, empty=Empty.ONE, denominator=Denominator.ATTAINABLE),
        {"p": {"empty": Empty.ZERO}},
    ),
}


def get_preset(name: str | None) -> Preset:
    """The preset of that name; None is the default one."""
    preset = PRESETS.get("default" if name is None else name)
    if preset is None:
        raise ParameterError(f"There is no preset {name!r}; there are: {', '.join(PRESETS)}.")
    return preset
