"""Measures by name, with words as ir_measures writes them: ``AP(rel=2)@100``, ``RBP(p=0.9)``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeAlias

from rankwise.errors import ParameterError, did_you_mean
from rankwise.metrics.conventions import get_preset
from rankwise.metrics.kinds import KIND_OF, KINDS
from rankwise.metrics.measure import Measure
from rankwise.numerals import read_float
from rankwise.types import Floats
from rankwise.validation import check_kind

# What `get_measure` takes.
MeasureLike: TypeAlias = "str | Measure | Callable[[Floats, Floats], float]"


# What words mean among the fields of `Conventions`.
_NUMBERS = {"rel": "relevant", "p": "persistence"}
_GAINS = {"log2": "linear", "exp-log2": "exponential"}


def get_measure(name: MeasureLike, *, preset: str | None = None, **conventions: Any) -> Measure:
    """Look up a measure by name.

    Parameters
    ----------
    name : str, Measure or callable
        A kind, with ``@k`` for a cutoff: "ndcg@10", "mean_ndcg", "map", "p@5", "recall@100", "rr", "err@20",
        "success@5", "rprec", "bpref", "rbp", "judged@10", "auc", "pairwise_error", "pairwise_error_micro",
        "disagreement_error", "kendall_tau_b". Measures of ir_measures and their names also work:
        "AP(rel=2)@100", "RBP(p=0.9)", "nDCG(dcg='log2')@10". A preset may come first: "letor:ndcg@10". A
        `Measure` is returned unchanged. Any function of the labels and scores of one query can be a measure;
        higher values are better, unless its attribute ``higher_is_better`` is False.
    preset : str, optional
        "default", "letor", "trec", "sklearn", "lightgbm" or "xgboost".
    **conventions
        Fields of `Conventions` that override the preset, such as ``gain="linear"``; None changes nothing.

    Examples
    --------
    >>> from rankwise.metrics import get_measure
    >>> measure = get_measure("ndcg@10", preset="letor")
    >>> measure.name, measure.higher_is_better
    ('ndcg@10', True)
    """
    if isinstance(name, Measure):
        return name
    if type(name).__module__.partition(".")[0] == "ir_measures":
        name = str(name)
    if callable(name) and not isinstance(name, type):
        return Measure(getattr(name, "__name__", type(name).__name__), function=name)
    if not isinstance(name, str):
        raise ParameterError(f"A measure must be a name such as 'ndcg@10', or a function; got {name!r}.")
    measure = _named(name, check_kind("preset", preset, str, optional=True))
    if conventions:
        measure = replace(measure, conventions=measure.conventions.with_options(**conventions))
    if measure.conventions.ties not in KINDS[measure.kind].ties:
        raise ParameterError(
            f"The measure '{measure.kind}' does not support ties='{measure.conventions.ties}'."
        )
    return measure


@lru_cache
def _named(name: str, preset: str | None) -> Measure:
    before, colon, rest = name.partition(":")
    if colon:
        if preset not in (None, before.strip()):
            raise ParameterError(f"The measure {name!r} names a preset other than {preset!r}.")
        return _named(rest, before.strip())
    pattern = r"\s*([a-z_]+)\s*(?:\(([^()]*)\))?(?:@([0-9]+))?\s*"
    match = re.fullmatch(pattern, re.sub(r"-(?!\w*log)", "_", name.lower()))
    kind = KIND_OF.get(match[1]) if match else None
    if match is None or kind is None:
        raise ParameterError(
            f"Unknown measure {name!r}; must be one of {', '.join(KINDS)}, with a cutoff as in "
            f"'ndcg@10'{did_you_mean(name.partition('@')[0], KIND_OF)}"
        )
    if match[3] is not None and len(match[3]) > 18:
        raise ParameterError(f"The cutoff of {name[:40]!r} must be from 1 to 10^18 - 1.")
    cutoff = None if match[3] is None else int(match[3])
    entry = KINDS[kind]
    if cutoff == 0:
        raise ParameterError(f"The cutoff of {name!r} must be at least 1.")
    if entry.cutoff == "none" and cutoff is not None:
        raise ParameterError(f"The measure '{kind}' takes no cutoff; got {name!r}.")
    if entry.cutoff == "needed" and cutoff is None:
        raise ParameterError(f"The measure '{kind}' requires a cutoff, as in '{kind}@10'.")
    measure = Measure(kind, cutoff, get_preset(preset).of(kind))
    if not match[2]:
        return measure
    words, shown = conventions_of_words(kind, match[2], entry.words)
    return replace(measure, conventions=measure.conventions.with_options(**words), words=shown)


def conventions_of_words(kind: str, text: str, allowed: tuple[str, ...]) -> tuple[dict[str, Any], str]:
    """The conventions that words such as ``rel=2`` stand for, and the words as the name shows them."""
    found: dict[str, Any] = {}
    shown = []
    for part in text.split(","):
        word, equals, value = (piece.strip() for piece in part.partition("="))
        if word not in allowed or not equals:
            takes = f"takes {' and '.join(map(repr, allowed))}" if allowed else "takes no words"
            raise ParameterError(f"The measure '{kind}' {takes} in parentheses; got {part.strip()!r}.")
        if word == "dcg":
            name, known = "gain", _GAINS.get(value.strip("'\""))
            if known is None:
                raise ParameterError(f"dcg in '{kind}' must be 'log2' or 'exp-log2'; got {value}.")
            found[name], value = known, value.strip("'\"")
        else:
            found[_NUMBERS[word]] = _number(kind, word, value)
            value = f"{found[_NUMBERS[word]]:g}"
        shown.append(f"{word}={value}")
    return found, f"({','.join(shown)})"


def _number(kind: str, word: str, value: str) -> float:
    try:
        return read_float(value)
    except ValueError:
        raise ParameterError(f"{word} in '{kind}' must be a number; got {value!r}.") from None
