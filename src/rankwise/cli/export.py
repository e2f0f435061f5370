"""``rankwise export``: export a model to a search engine or a model server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankwise.cli import completion, options
from rankwise.cli.data_files import ReadOptions, files_to_read
from rankwise.cli.paths import Input, Output
from rankwise.cli.screen import confirm

FORMATS = (
    "onnx",
    "sql",
    "sqlite",
    "elasticsearch",
    "elasticsearch-query",
    "elasticsearch-script",
    "opensearch",
    "solr",
    "solr-function",
    "vespa",
    "svmrank",
)


def run(
    model: options.Model,
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="The file to write.", show_default=False), Output()
    ],
    to: Annotated[
        str | None,
        typer.Option(
            **completion.one_of(*FORMATS, listed=False),
            metavar="FORMAT",
            show_default=False,
            help=f"One of {', '.join(FORMATS)}; by default, the ending of OUT decides: .onnx, .sql, or .sd "
            "and .profile for Vespa.",
        ),
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the model in the engine.")] = "rankwise",
    features: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Names of the features in the engine; the columns of the training table by default.",
        ),
    ] = None,
    map_: Annotated[
        str | None,
        typer.Option(
            "--map",
            metavar="A=B,...",
            help="What some features are called in the engine; A=params.B takes A from the request.",
            show_default=False,
        ),
    ] = None,
    dtype: Annotated[
        str, typer.Option(**completion.one_of("float64", "float32"), help="Number type of an ONNX graph.")
    ] = "float64",
    clauses: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="For elasticsearch-query: a JSON file with a clause for each feature, '$boost' in place of "
            "its boost.",
            show_default=False,
        ),
        Input(),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DATA",
            help="Rows such as those of training, on which the scores of the exported model are checked.",
            show_default=False,
        ),
        Input(files_to_read),
    ] = None,
    qid: options.KnownQid = None,
    nonnegative: Annotated[
        bool, typer.Option("--nonnegative", help="Add a constant that makes the scores of DATA positive.")
    ] = False,
) -> None:
    """Export a model to ONNX, SQL, or the format of Elasticsearch, OpenSearch, Solr, Vespa or SVMrank."""
    import rankwise
    from rankwise.cli.reading import load_model, names_in_engine, read_for_model

    ranker = load_model(model)
    how = ReadOptions(label=None, qid=qid, labelled=False, merge_queries=True)
    rankwise.export_model(
        ranker,
        out,
        to,
        name=name,
        feature_names=names_in_engine(features, map_),
        dtype=dtype,
        clauses=clauses,
        X=None if data is None else read_for_model(data, how, ranker),
        nonnegative=nonnegative,
    )
    confirm(out, f"{ranker.class_name}, {ranker.n_features} features")
