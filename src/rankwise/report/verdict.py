"""The verdict of a comparison: which ranker to use, in numbers and in sentences."""

from __future__ import annotations

from typing import Any

from rankwise.rendering import format_cell

SIGNIFICANT = 0.05


def verdict_facts(quality: dict[str, Any], baseline: str | None) -> dict[str, Any] | None:
    """The ranker to look at first, compared with the baseline by the first measure.

    It is the best of those that are significantly better than the baseline or, without one, the best of all.
    With tests of every pair and no baseline, the ranker with the best mean is compared with the second best.
    None for a single ranker, and where no query has a value.

    Parameters
    ----------
    quality : dict
        As from `quality_facts`.
    baseline : str or None
    """
    measure = quality["measures"][0]
    name, sign = measure["name"], 1.0 if measure["higher_is_better"] else -1.0
    means = {ranker: sign * row[name] for ranker, row in quality["means"].items() if row[name] == row[name]}
    ranked = sorted(means, key=lambda ranker: -means[ranker])
    if len(ranked) < 2:
        return None
    against = ranked[1] if baseline is None else baseline
    others = ranked[:1] if baseline is None else [ranker for ranker in ranked if ranker != baseline]
    tests = [_test_of(quality["tests"], name, other, against) for other in others]
    chosen = next((test for test in tests if _decision(test, sign) == "better"), tests[0])
    return {"measure": name, **chosen, "decision": _decision(chosen, sign)}


def _test_of(tests: list[dict[str, Any]], measure: str, ranker: str, against: str) -> dict[str, Any]:
    """The test of two rankers, whichever of them it names first."""
    test = next(
        one for one in tests if one["measure"] == measure and {one["a"], one["b"]} == {ranker, against}
    )
    sign = 1.0 if test["a"] == ranker else -1.0
    better, worse = (test["n_better"], test["n_worse"])[:: int(sign)]
    return {
        "ranker": ranker,
        "against": against,
        "difference": sign * test["difference"],
        "margin": test["margin"],
        "p": test["holm_randomization"],
        "n_better": better,
        "n_worse": worse,
        "n_equal": test["n_equal"],
    }


def _decision(test: dict[str, Any], sign: float) -> str:
    if not test["n_better"] and not test["n_worse"]:
        return "equal"
    p = test["p"]
    if p is None or p != p or p > SIGNIFICANT:
        return "unclear"
    return "better" if sign * test["difference"] > 0.0 else "worse"


def answer(quality: dict[str, Any], baseline: str | None, *, advise: bool = True) -> list[str]:
    """The result in sentences: the verdict, means, the other comparisons, segments, and queries left out.

    The advice to switch or not is for those who have no rule of their own.
    """
    measure = quality["measures"][0]
    name = measure["name"]
    if all(row[name] != row[name] for row in quality["means"].values()):
        return [f"No query has a value of {name}: {measure['reason']}."]
    verdict = verdict_facts(quality, baseline)
    sentences = [] if verdict is None else [verdict_sentence(verdict, advise=advise and baseline is not None)]
    sentences.append(_means(quality, measure))
    for test in quality["tests"]:
        if test["measure"] == name and {test["a"], test["b"]} != _pair(verdict):
            sentences.append(_tested(test, measure["higher_is_better"]))
    sentences += _segments(quality, name)
    if measure["left_out"]:
        one = measure["left_out"] == 1
        sentences.append(
            f"{_queries(measure['left_out'])} {'has' if one else 'have'} no value of {name} and "
            f"{'does' if one else 'do'} not count: {measure['reason']}."
        )
    return sentences


def _segments(quality: dict[str, Any], measure: str) -> list[str]:
    """Where each ranker clearly loses, if queries are divided by something."""
    losing: dict[str, list[str]] = {}
    for fact in quality.get("segments", ()):
        if fact["measure"] == measure and fact.get("verdict") == "loses":
            where = (
                f"{fact['column']} {fact['segment']} ({_signed(fact['gain'])}, {_queries(fact['queries'])})"
            )
            losing.setdefault(fact["ranker"], []).append(where)
    return [f"{ranker} clearly loses {measure} in: {'; '.join(of)}." for ranker, of in losing.items()]


def _pair(verdict: dict[str, Any] | None) -> set[str]:
    return set() if verdict is None else {verdict["ranker"], verdict["against"]}


def verdict_sentence(verdict: dict[str, Any], *, advise: bool = True) -> str:
    """One sentence for readers who read no other."""
    ranker, against, decision = verdict["ranker"], verdict["against"], verdict["decision"]
    if decision == "equal":
        return _same(ranker, against, verdict["measure"], verdict["n_equal"])
    difference = verdict["difference"]
    sure = _interval(difference, verdict["margin"])
    counts = f"{_queries(verdict['n_better'])} better, {verdict['n_worse']:,} worse"
    claim, advice = {
        "better": (f"{ranker} beats {against}", "ship it"),
        "worse": (f"{ranker} is worse than {against}", f"keep {against}"),
        "unclear": (f"{ranker} and {against} cannot be told apart", "no reason to switch"),
    }[decision]
    found = f"{_signed(difference)} {verdict['measure']}{f' ({sure})' if sure else ''}, {counts}"
    return f"{claim}: {found}{f': {advice}' if advise else ''}."


def _means(quality: dict[str, Any], measure: dict[str, Any]) -> str:
    name, direction = measure["name"], "higher" if measure["higher_is_better"] else "lower"
    known = (
        f"{ranker} {_with_margin(row[name], quality['margins'][ranker][name])}"
        for ranker, row in quality["means"].items()
    )
    return f"Mean {name} over {_queries(measure['queries'])}: {', '.join(known)} ({direction} is better)."


def _tested(test: dict[str, Any], higher_is_better: bool) -> str:
    a, b, difference, p = test["a"], test["b"], test["difference"], test["holm_randomization"]
    if not test["n_better"] and not test["n_worse"]:
        return _same(a, b, test["measure"], test["n_equal"])
    counts = f"{_queries(test['n_better'])} better, {test['n_worse']:,} worse, {test['n_equal']:,} equal"
    numbers = [f"difference {_signed(difference)}", _interval(difference, test["margin"]), f"p {_p_value(p)}"]
    sure = f"{', '.join(filter(None, numbers))}; {counts}"
    if p is None or p != p or p > SIGNIFICANT:
        return f"{a} and {b} cannot be told apart ({sure})."
    return f"{a} is {'better' if (difference > 0.0) == higher_is_better else 'worse'} than {b} ({sure})."


def _same(a: str, b: str, measure: str, n_queries: int) -> str:
    return f"{a} and {b} have the same {measure} on all {_queries(n_queries)}."


def _interval(difference: float, margin: float) -> str:
    """The confidence interval; nothing if a single query has a value."""
    if margin != margin:
        return ""
    return f"95 % interval {_signed(difference - margin)} to {_signed(difference + margin)}"


def _signed(value: float) -> str:
    """A difference with its sign and, unless it is smaller, three decimals."""
    shown = f"{value:+.3f}"
    return shown if float(shown) or not value else f"{value:+.1e}"


def _p_value(p: float | None) -> str:
    if p is None or p != p:
        return "unknown"
    return "< 0.0001" if p < 1e-4 else f"= {format_cell(p)}"


def _with_margin(mean: float, margin: float) -> str:
    return format_cell(mean) if margin != margin else f"{format_cell(mean)} ± {format_cell(margin)}"


def _queries(count: int) -> str:
    return f"{count:,} {'query' if count == 1 else 'queries'}"
