"""Options that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer


def _use_threads(n_threads: int | None) -> int | None:
    """Tell our kernels and the BLAS library, which reads its setting once, when NumPy is first imported."""
    if n_threads is not None:
        for variable in (
            "RANKWISE_NUM_THREADS",
            "OMP_NUM_THREADS",
            "OPENBLAS_NUM_THREADS",
            "MKL_NUM_THREADS",
        ):
            os.environ[variable] = str(n_threads)
    return n_threads


def of_learner(help: str) -> Any:
    """An option that becomes a parameter of the learner; None leaves it at its default."""
    return typer.Option(help=help, rich_help_panel="Learner", show_default=False)


Data: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="LETOR/SVMlight text (plain, .gz, .xz, .bz2), a .csv or .parquet table, or a .store folder.",
        show_default=False,
    ),
]
Model: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="A model file that 'train', 'select' or 'path' wrote, or SVMrank.",
        show_default=False,
    ),
]
ModelOut: TypeAlias = Annotated[
    Path, typer.Argument(metavar="MODEL", help="The model file to write.", show_default=False)
]
Settings: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any other parameter of the learner's class; may be repeated.",
        rich_help_panel="Learner",
    ),
]
Validation: TypeAlias = Annotated[
    Path | None, typer.Option(metavar="DATA", help="Judged rows to validate on.", show_default=False)
]
Pairs: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Preferences to learn from: preferred, other[, weight], rows from 0; or documents by name, "
        "under the header qid,preferred,other[,weight].",
        show_default=False,
    ),
]
Label: TypeAlias = Annotated[str, typer.Option(help="The column of labels.", rich_help_panel="Tables")]
Qid: TypeAlias = Annotated[
    str | None,
    typer.Option(help="The column of query labels; '' for one global ranking.", rich_help_panel="Tables"),
]
Doc: TypeAlias = Annotated[
    str | None, typer.Option(help="The column of document labels.", rich_help_panel="Tables")
]
Features: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,...",
        help="The feature columns; all others by default.",
        rich_help_panel="Tables",
    ),
]
Scale: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--scale",
        help="Scale every feature to [0, 1] inside each query, in memory. Stores and models remember it, and "
        "what a model is given is then scaled likewise; text does not remember it.",
    ),
]
ZeroBased: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--zero-based/--one-based",
        help="Text: the index of the first feature; by default 0 if it occurs.",
        rich_help_panel="Text",
        show_default=False,
    ),
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Threads: TypeAlias = Annotated[
    int | None,
    typer.Option(min=1, callback=_use_threads, help="How many threads to use; every core by default."),
]

Measures: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,...",
        help="What to measure; by default ndcg@10,map,pairwise_error, or without grades "
        "pairwise_error,kendall_tau_b.",
        show_default=False,
    ),
]
Preset: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Conventions of a known tool: letor, trec, sklearn, lightgbm, xgboost.", show_default=False
    ),
]
