"""What a learner has chosen, and by what: as facts, as tables and as a sentence."""

from __future__ import annotations

from typing import Any

from rankwise.cli.screen import show_table

# Alphas in the table, evenly spaced.
ROWS_SHOWN = 12


def choice_facts(ranker: Any) -> dict[str, Any]:
    """All that was tried and what was chosen; empty if nothing was to be chosen."""
    if hasattr(ranker, "path_table"):
        path, chosen = ranker.path_table(), ranker.n_features_
        return {"cv": ranker.cv_, "measure": ranker.measure, "path": path, "chosen": chosen}
    if not hasattr(ranker, "best_"):
        return {}
    return {
        "cv": ranker.cv_,
        "measure": ranker.measure,
        "alphas": ranker.alphas_,
        "settings": ranker.settings_,
        "scores": ranker.scores_,
        "best": ranker.best_,
    }


def show_choice(ranker: Any) -> None:
    """Show what was tried: each number of features, or alphas with each setting."""
    if hasattr(ranker, "path_table"):
        _show_features(ranker)
    elif hasattr(ranker, "best_"):
        _show_alphas(ranker)


def describe_choice(ranker: Any) -> str:
    """What was chosen by which measure on which rows, in a line of its own; empty if nothing was."""
    if hasattr(ranker, "path_table"):
        score = next(row["score"] for row in ranker.path_table() if row["n_features"] == ranker.n_features_)
        return f"Chosen: {ranker.n_features_} features; {ranker.measure} {score:.4f} by {ranker.cv_}\n"
    if not hasattr(ranker, "best_"):
        return ""
    # Where the default was used, the fitted parameter has the actual value.
    best = {name: getattr(ranker, f"{name}_", value) for name, value in ranker.best_.items()}
    score = best.pop("score")
    chosen = ", ".join(
        f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in best.items()
    )
    return f"Chosen: {chosen}; {ranker.measure} {score:.4f} by {_left_out(ranker)}{_untried(ranker)}\n"


def _untried(ranker: Any) -> str:
    """Which alphas the search did not get to, because larger ones were better or an interrupt came first."""
    smallest = min(ranker.alphas_)
    return f"; alphas below {smallest:.6g} were not tried" if min(ranker.alphas) < smallest else ""


def _left_out(ranker: Any) -> str:
    return "validation data" if ranker.cv_ == "eval_set" else str(ranker.cv_)


def _show_alphas(ranker: Any) -> None:
    from rankwise.selection.search import distinguished

    names = [distinguished(setting, ranker.settings_) or "score" for setting in ranker.settings_]
    alphas, best = ranker.alphas_.tolist(), ranker.best_["alpha"]
    step = -(-len(alphas) // ROWS_SHOWN)
    lines = [
        (f"{alpha:.6g}", *scores, "best" if alpha == best else "")
        for place, (alpha, scores) in enumerate(zip(alphas, ranker.scores_.T.tolist(), strict=True))
        if place % step == 0 or alpha in (best, alphas[-1])
    ]
    show_table(f"{ranker.measure} by {_left_out(ranker)}", ["alpha", *names, ""], lines)


def _show_features(ranker: Any) -> None:
    table = ranker.path_table()
    columns = [name for name in table[0] if name != "criterion"]
    lines = [
        (*(row[name] for name in columns), "chosen" if row["n_features"] == ranker.n_features_ else "")
        for row in table
    ]
    heading = [name.replace("_", " ") for name in columns]
    show_table(f"{ranker.measure} on {ranker.cv_}", [*heading, ""], lines)
