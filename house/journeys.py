"""Journeys through the sources, traced: which files a fit, a prediction or a command visits.

Run as a module, with a folder that `checkout` made, it prints everything that must be
run to be counted, as JSON.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from house.checkout import import_from


def main() -> None:
    root = Path(sys.argv[1]).resolve()
    import_from(root)
    warnings.simplefilter("ignore")
    print(json.dumps({**visited_files(root), **classes_of_rankers(), **size_of_interfaces()}))


def trace(journey: Callable[[], Any], package: Path) -> list[str]:
    """The files of the package in which a function runs, in the order of their first call."""
    seen: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and code.co_filename.startswith(str(package)):
            seen.setdefault(str(Path(code.co_filename).relative_to(package)))

    sys.setprofile(note)
    try:
        journey()
    finally:
        sys.setprofile(None)
    return list(seen)


def journeys(folder: Path) -> dict[str, Callable[[], Any]]:
    """What is traced, by name; each is run once before, so that nothing is imported on the way."""
    import rankwise
    from rankwise.cli.app import main as command

    data = rankwise.make_search_data(30, random_state=0)
    X, y, qid = data.X, data.y, data.qid
    text, model = str(folder / "rows.letor"), str(folder / "model.safetensors")
    rankwise.save_letor(data, text)
    fitted = rankwise.RankRLS().fit(X, y, qid)
    return {
        "RankRLS.fit": lambda: rankwise.RankRLS().fit(X, y, qid),
        "RankRLSCV.fit": lambda: rankwise.RankRLSCV().fit(X, y, qid),
        "RankSVM.fit": lambda: rankwise.RankSVM().fit(X, y, qid),
        "predict": lambda: fitted.predict(X),
        "rankwise train": lambda: command(["train", text, model, "--json"]),
        "rankwise predict": lambda: command(["predict", text, model, "--out", str(folder / "scores")]),
    }


def visited_files(root: Path) -> dict[str, int]:
    """The number of files that each journey visits."""
    from contextlib import redirect_stdout
    from io import StringIO

    package, counts = root / "src" / "rankwise", {}
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        for name, journey in journeys(Path(folder)).items():
            journey()
            counts[f"files visited by {name}"] = len(trace(journey, package))
    return counts


def classes_of_rankers() -> dict[str, int]:
    """How many classes of ours the rankers inherit from, themselves included."""
    import rankwise

    rankers = [
        getattr(rankwise, name) for name in rankwise.__all__ if name.startswith(("Rank", "KernelRank"))
    ]
    return {
        f"classes of {ranker.__name__}": sum(
            base.__module__.startswith("rankwise.") for base in ranker.__mro__
        )
        for ranker in rankers
        if hasattr(ranker, "predict")
    }


def size_of_interfaces() -> dict[str, int]:
    """Public names, and options of the command line."""
    import typer

    import rankwise
    from rankwise.cli.app import COMMANDS, application

    group: Any = typer.main.get_command(application(COMMANDS))
    options = {
        name: sum(option.param_type_name == "option" for option in command.params)
        for name, command in group.commands.items()
    }
    return {
        "public names": len(rankwise.__all__),
        "commands": len(options),
        "options of all commands": sum(options.values()),
        **{f"options of {name}": options[name] for name in ("train", "select", "update") if name in options},
    }


if __name__ == "__main__":
    main()
