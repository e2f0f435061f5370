"""Work that replaces the old version of a file by a new one; tests kill it, starve it and fill its disk."""

import os
import shutil
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

import rankwise
from rankwise.cli import main


@dataclass(frozen=True)
class Work:
    """Something to do in the current folder, once `prepare` has been called there.

    Attributes
    ----------
    place : str
        The file or folder that is replaced.
    do : callable
        ``do("old")`` and ``do("new")`` write the two versions, each always the same bytes.
    steps : str
        The folder in which it saves its state on the way; "" if it does not.
    read : callable, optional
        Reads the place while the work is under way, and returns what it saw, as `now` does.
    """

    place: str
    do: Callable[[str], object]
    steps: str = ""
    read: Callable[[], object] | None = None

    def now(self):
        """What is in its place: "old", "new", or a description of what should not be there."""
        content = contents(Path(self.place))
        for version in ("old", "new"):
            if content == contents(Path("expected", version, self.place)):
                return version
        return f"neither version: {content if content is None else sorted(content)}"

    def temporaries(self):
        """The unfinished files beside its place and among its steps."""
        folders = [Path(), *Path(self.steps).rglob("*/")] if self.steps else [Path()]
        return [path for folder in folders for path in folder.glob(".rankwise-*")]

    def restore_old(self):
        """Put the old version in its place, and remove everything that was left on the way to a new one."""
        for path in [Path(self.place), Path(self.steps or "none"), *self.temporaries()]:
            remove(path)
        copy(Path("expected", "old", self.place), Path(self.place))


def contents(place):
    """Every byte of a file or folder by relative name; None if it is missing."""
    if not place.exists():
        return None
    files = [place, *sorted(place.rglob("*"))]
    return {str(path.relative_to(place)): path.read_bytes() for path in files if path.is_file()}


def copy(source, place):
    (shutil.copytree if source.is_dir() else shutil.copyfile)(source, place)


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@cache
def data_of(version, n_rows=300, n_features=30):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n_rows, n_features)), rng.integers(0, 3, n_rows)
    if version == "new":  # no number is the same
        X, y = 2.0 * X, y + 0.5
    return rankwise.RankingData.from_arrays(X, y, np.arange(n_rows) // 15)


@cache
def large_model(version):
    data = data_of(version, 400, 400)
    return rankwise.KernelRankRLS().fit(data.X, data.y, data.qid)


def save(version):
    large_model(version).save("save.safetensors", date=False)


def save_store(version):
    rankwise.save_store(data_of(version, 400, 400), "save.store")


def replace_store(version):
    """Replace a store by its other version and back, several times."""
    for k in range(5, -1, -1):
        other = "old" if version == "new" else "new"
        rankwise.save_store(data_of(other if k % 2 else version), "replaced.store")


def read_store():
    data = rankwise.open_store("replaced.store", verify=True)
    for version in ("old", "new"):
        if (data.X == data_of(version).X).all() and (data.y == data_of(version).y).all():
            return version
    return "a mixture of two stores"


def train_in_steps(version):
    """Conjugate gradient that saves its state after each iteration, with rows to stop on."""
    data, rest = data_of(version), data_of("old", 150)
    options = {"solver": "cg", "alpha": 0.01, "early_stopping": True, "patience": 100, "tol": 1e-12}
    ranker = rankwise.RankRLS(checkpoint="steps", checkpoint_seconds=0.0, **options)
    ranker.fit(data.X, data.y, data.qid, eval_set=(rest.X, rest.y, rest.qid)).save(
        "steps.safetensors", date=False
    )


def search_in_steps(version):
    data = data_of(version)
    options = {"solver": "cg", "alphas": [0.01, 1.0], "cv": 3, "ties": ("keep", "drop"), "tol": 0.01}
    ranker = rankwise.RankRLSCV(checkpoint="search", checkpoint_seconds=0.0, **options)
    ranker.fit(data.X, data.y, data.qid).save("search.safetensors", date=False)


def command(line, version):
    """Run a command of the command line; what is wrong is raised."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        if main(["--debug", *line.format(version).split()]) != 0:
            sys.exit("the command failed")


#: By name; the first word of a command is its name.
WORKS = {
    "save": Work("save.safetensors", save),
    "save_store": Work("save.store", save_store),
    "replace_store": Work("replaced.store", replace_store, read=read_store),
    "steps": Work("steps.safetensors", train_in_steps, "steps"),
    "search": Work("search.safetensors", search_in_steps, "search"),
} | {
    line.split()[0] if name is None else name: Work(place, partial(command, f"{line} {place}"))
    for name, line, place in [
        (
            None,
            "train {}.store --learner ranksvm --alpha 0.001 --set tol=1e-4 --no-date",
            "train.safetensors",
        ),
        ("choose", "train {}.store --no-date", "choose.safetensors"),
        (None, "convert {}.txt", "convert.store"),
        ("write_text", "convert {}.store", "rows.txt"),
        (None, "predict {}.store model.safetensors --out", "scores.txt"),
    ]
}


def prepare(names):
    """Write, in the current folder, what the work reads, and the versions that are expected of it."""
    for version in ("old", "new"):
        rankwise.save_store(data_of(version), f"{version}.store")
        rankwise.save_letor(data_of(version), f"{version}.txt")
    data = data_of("old")
    rankwise.RankRLS().fit(data.X, data.y, data.qid).save("model.safetensors")
    for work in (WORKS[name] for name in names):
        for version in ("new", "old"):
            remove(Path(work.steps or "none"))
            work.do(version)
            Path("expected", version).mkdir(parents=True, exist_ok=True)
            copy(Path(work.place), Path("expected", version, work.place))
        assert contents(Path("expected/new", work.place)) != contents(Path("expected/old", work.place))
        work.restore_old()
