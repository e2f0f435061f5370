"""Options shared by several commands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from rankwise.cli import completion
from rankwise.cli.data_files import ReadOptions, files_to_read
from rankwise.cli.outputs import check_model, check_page
from rankwise.cli.paths import Input, Output

# The panels of the help.
ROWS, TABLES = "Rows", "Tables"
PRESETS = ("letor", "trec", "sklearn", "lightgbm", "xgboost")

Data: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="LETOR/SVMlight text (plain, .gz, .xz, .bz2), a .csv or .parquet table, or a .store folder; "
        "several files as a.txt,b.txt or as a pattern in quotes, 'part-*.txt'.",
        show_default=False,
    ),
    Input(files_to_read),
]
DataOrRun: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="Judged rows, in any format that 'train' reads; with --qrels, a TREC run.",
        show_default=False,
    ),
    Input(files_to_read),
]
Rankers: TypeAlias = Annotated[
    list[Path],
    typer.Argument(
        metavar="RANKER",
        help="Models of rankwise, SVMrank, LightGBM or XGBoost, files with one score per line, or TREC runs; "
        "the first is the baseline.",
        show_default=False,
    ),
    Input(list),
]
TestData: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="DATA", help="Judged rows, in any format that 'train' reads.", show_default=False
    ),
    Input(files_to_read),
]
Baseline: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The ranker that others are compared with, by its file name without the ending.",
        show_default=False,
    ),
]
Model: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL",
        help="A model file written by 'train', 'path' or SVMrank.",
        show_default=False,
    ),
    Input(),
]
ModelOut: TypeAlias = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="The model file to write.", show_default=False),
    Output(check_model),
]
Pairs: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Preferences to learn from: preferred, other[, weight] by row number from 0, or documents by "
        "name, below the header qid,preferred,other[,weight]. The labels are then ignored.",
        rich_help_panel=ROWS,
        show_default=False,
    ),
    Input(),
]
Qrels: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="TREC qrels that judge the documents of TREC runs.", show_default=False
    ),
    Input(),
]
Human: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Human labels for a random sample of whole queries: a table of qid,doc,label. The labels of "
        "DATA come from a model, and make the estimate, or the training, more precise.",
        show_default=False,
    ),
    Input(),
]
Complete: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--complete", help="Count judged queries that the run lacks, as 'trec_eval -c' does (with --qrels)."
    ),
]
Judgments: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Labels to learn from instead of those of the data: a table of qid,doc,label[,weight] with a "
        "header, as 'clicks' writes it. Other rows are left out.",
        rich_help_panel=ROWS,
        show_default=False,
    ),
    Input(),
]
Label: TypeAlias = Annotated[
    str | None, typer.Option(help="The label column.", rich_help_panel=TABLES, show_default="label")
]
Qid: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="The column of query labels; '' for one global ranking.",
        rich_help_panel=TABLES,
        show_default="qid",
    ),
]
# Of commands that take models, which know what the columns were called in training.
KnownLabel: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="The label column; by default as in training, otherwise label.",
        rich_help_panel=TABLES,
        show_default=False,
    ),
]
KnownQid: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="The column of query labels, '' for one global ranking; by default as in training, otherwise "
        "qid.",
        rich_help_panel=TABLES,
        show_default=False,
    ),
]
Doc: TypeAlias = Annotated[
    str | None, typer.Option(help="The column of document labels.", rich_help_panel=TABLES)
]
Features: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,...",
        help="The feature columns; all others by default.",
        rich_help_panel=TABLES,
    ),
]
Exclude: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,...",
        help="Columns to ignore; all others are features.",
        rich_help_panel=TABLES,
    ),
]
Scale: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--scale",
        help="Scale every feature to [0, 1] within each query, in memory. Stores and models record this, and "
        "the inputs of such a model are scaled the same way; text does not record it.",
        rich_help_panel=ROWS,
    ),
]
MergeQueries: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--merge-queries",
        help="Let several files share queries: rows with the same label are one query.",
        rich_help_panel=ROWS,
    ),
]
ZeroBased: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--zero-based/--one-based",
        help="Index of the first feature in text; zero-based by default if index 0 occurs.",
        rich_help_panel=ROWS,
        show_default=False,
    ),
]
Report: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FILE", help="Also write a page, as 'rankwise report' does.", show_default=False
    ),
    Output(check_page),
]
By: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN,...",
        help="Also show the changes by segments of queries: columns of a table that are the same in all rows "
        "of a query, numbers and dates in bins.",
        show_default=False,
    ),
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")]


@dataclass(frozen=True)
class RowOptions:
    """How to read judged rows whose features are known."""

    label: Label = None
    qid: Qid = None
    doc: Doc = None
    zero_based: ZeroBased = None
    merge_queries: MergeQueries = False

    def how(self) -> ReadOptions:
        return ReadOptions(self.label, self.qid, self.doc, self.zero_based, merge_queries=self.merge_queries)


@dataclass(frozen=True)
class KnownRowOptions(RowOptions):
    """How to read judged rows for models."""

    label: KnownLabel = None
    qid: KnownQid = None


@dataclass(frozen=True)
class FeatureOptions(RowOptions):
    """How to read rows, and which of their columns, scaled or not, are the features."""

    features: Features = None
    exclude: Exclude = None
    scale: Scale = False

    def how(self, *, labelled: bool = True, as_table: bool = False) -> ReadOptions:
        from rankwise.cli.reading import excluded

        left_out = excluded(self.exclude, self.features)
        given = {"--exclude": self.exclude, "--features": self.features}
        return replace(
            super().how(),
            scale=self.scale,
            exclude=left_out,
            labelled=labelled,
            as_table=as_table,
            chosen_by=next((option for option, names in given.items() if names is not None), None),
        )

    def columns(self) -> list[str] | None:
        """The feature columns of a table; None for all others."""
        from rankwise.cli.reading import split_list

        return split_list(self.features)


Measures: TypeAlias = Annotated[
    str | None,
    typer.Option(
        **completion.measures(),
        help="Measures to compute; by default ndcg@10,map,pairwise_error for grades, "
        "pairwise_error,kendall_tau_b for other labels, and ndcg@10,map,p@10,recall@100,rr with --qrels.",
        show_default=False,
    ),
]
Preset: TypeAlias = Annotated[
    str | None,
    typer.Option(
        **completion.one_of(*PRESETS, listed=False),
        metavar="TOOL",
        help=f"Follow the conventions of a tool: {', '.join(PRESETS)}.",
        show_default=False,
    ),
]
PresetOrTrec: TypeAlias = Annotated[
    str | None,
    typer.Option(
        **completion.one_of(*PRESETS, listed=False),
        metavar="TOOL",
        help=f"Follow the conventions of a tool: {', '.join(PRESETS)}; trec by default with --qrels.",
        show_default=False,
    ),
]
