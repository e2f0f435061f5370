"""Messages of the library, which speak of parameters, in the words of the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from inspect import signature

from rankwise.cli.bundles import unbundled
from rankwise.rendering import enumerated

# Options that are not called what the parameter is called.
RENAMED = {"alphas": "alpha", "max_features": "features_at_most", "n_suspects": "count", "n_draws": "draws"}
# Columns that are named by an option with another name, where none has theirs.
NAMED_BY = {"session": "unit"}
# How messages say what a user of Python would write, and what that is here.
IN_OPTIONS = {
    "columns='auto'": "--columns auto",
    'interactions="auto" or a kernel ranker': "--interactions auto or --learner kernel-rankrls",
    "through across_queries": "through --set across_queries=1",
    ", a number of folds, a splitter or None": " or a number of folds",
    "an eval_set": "--validation",
    "rows_from_clicks and grades_from_clicks need none": "--to rows and --to grades need none",
}


def in_options(message: str, command: Sequence[str] = ()) -> str:
    """A message of the library, which speaks of parameters, as a command does, which has options."""
    runs = [unbundled(import_module(f"rankwise.cli.{name}").run) for name in command]
    known = {parameter for run in runs for parameter in signature(run).parameters}

    def option(found: re.Match[str]) -> str:
        name = RENAMED.get(found[2], found[2])
        if name in known:
            return f"{found[1]} option --{name.replace('_', '-')}"
        return f"{found[1]} option --set {name}" if "settings" in known else found[0]

    message = re.sub(r"\b([Tt]he) '(\w+)' parameter", option, message)
    for parameter, words in IN_OPTIONS.items():
        message = message.replace(parameter, words)
    if "exclude" not in known:
        message = message.replace(", or leave it out with the 'exclude' parameter", "")
    absent = re.match(r"(?:.*: )?The table has no columns? ([^;]*); its columns are", message)
    missing = re.findall(r"'(\w+)'", absent[1] if absent else "")
    options = [name if name in known else NAMED_BY.get(name) for name in missing]
    mine = [f"--{name}" for name in options if name in known]
    if mine:
        message += f" Name {'yours' if len(mine) > 1 else 'it'} with {enumerated(mine)}."
    return message
