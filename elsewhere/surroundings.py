"""The declared surroundings: where the tests run, and which of them."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from wheels.pythons import OLDEST_STABLE, find_interpreters

from elsewhere import places
from elsewhere.places import ROOT, Place

PROCESSORS = ("Haswell", "Zen", "SkylakeX", "Sandybridge", "Nehalem", "Prescott")
THREADS = (1, 4)
PYTHONS = ("3.12", "3.13")
ASCII = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}

# Test files in which no processor can make a difference: other processes, clusters, browsers, pages, sources.
NOT_COMPUTING = frozenset(
    {
        "test_architecture.py",
        "test_building.py",
        "test_cli_failures.py",
        "test_cli_outputs.py",
        "test_cli_streams.py",
        "test_dask.py",
        "test_dask_faults.py",
        "test_docstrings.py",
        "test_elsewhere.py",
        "test_examples.py",
        "test_files.py",
        "test_fuzz_corpus.py",
        "test_gallery.py",
        "test_hostile_files.py",
        "test_house.py",
        "test_interrupts.py",
        "test_kills.py",
        "test_letor_refusals.py",
        "test_light_commands.py",
        "test_limits.py",
        "test_makefile.py",
        "test_mutation.py",
        "test_pages.py",
        "test_progress.py",
        "test_replaced_stores.py",
        "test_report_page.py",
        "test_report_schema.py",
        "test_site.py",
        "test_types.py",
    }
)
# What type checkers say depends on the stubs of the packages.
NOT_WITH_OTHER_PACKAGES = frozenset({"test_types.py"})

FILES_AND_COMMANDS = (
    "test_cli_data.py",
    "test_cli_streams.py",
    "test_export_names.py",
    "test_odd_values.py",
)
PRODUCTS_AND_DECOMPOSITIONS = (
    "test_decompositions.py",
    "test_gram.py",
    "test_kernel_rankrls.py",
    "test_leave_out.py",
    "test_preference_proba.py",
)


@dataclass(frozen=True)
class Surrounding:
    """A name, what it stands for, how to prepare it, and the test files that it leaves out.

    Attributes
    ----------
    name, what : str
    prepare : callable
        Takes what is to be cleaned up afterwards; raises `UnavailableError` where it cannot be had.
    left_out : frozenset of str
    short : tuple of str
        A few test files that are likely to notice it, for a quick look.
    """

    name: str
    what: str
    prepare: Callable[[ExitStack], Place]
    left_out: frozenset[str] = frozenset()
    short: tuple[str, ...] = FILES_AND_COMMANDS

    def files(self, short: bool = False) -> list[str]:
        """The paths of its test files."""
        if short:
            return [str(ROOT / "tests" / name) for name in self.short]
        return [
            str(path) for path in sorted((ROOT / "tests").glob("test_*.py")) if path.name not in self.left_out
        ]


def declared() -> dict[str, Surrounding]:
    """All surroundings by name, in the order of the table."""
    every = [_processor(kind, threads) for kind in PROCESSORS for threads in THREADS]
    every += [
        Surrounding(
            "locale",
            "an ASCII locale",
            lambda _: Place(variables=ASCII),
        ),
        Surrounding("order", "tests in random order", lambda _: _random_order()),
        Surrounding("folder", "another working directory", places.another_folder),
        Surrounding("user", "an ordinary user on a read-only checkout", places.another_user),
        Surrounding(
            "lowest",
            "the lowest versions of packages that pyproject.toml allows",
            lambda _: places.lowest_versions(),
            NOT_WITH_OTHER_PACKAGES,
        ),
    ]
    found = [f"{major}.{minor}" for major, minor, _ in (one.version for one in find_interpreters())]
    newer = [version for version in found if tuple(map(int, version.split("."))) >= OLDEST_STABLE]
    every += [_python(version) for version in dict.fromkeys([*PYTHONS, *newer])]
    return {surrounding.name: surrounding for surrounding in every}


def _processor(kind: str, threads: int) -> Surrounding:
    plural = "" if threads == 1 else "s"
    return Surrounding(
        f"cpu-{kind}-{threads}",
        f"OpenBLAS as on {kind}, {threads} thread{plural}",
        lambda _: places.processor(kind, threads),
        NOT_COMPUTING,
        PRODUCTS_AND_DECOMPOSITIONS,
    )


def _python(version: str) -> Surrounding:
    return Surrounding(
        f"python-{version}",
        f"Python {version}",
        lambda _: places.another_python(version),
        NOT_WITH_OTHER_PACKAGES,
    )


def _random_order() -> Place:
    seed = secrets.randbelow(1_000_000)
    return Place(options=("--random-order", str(seed)), note=f"seed {seed}")
