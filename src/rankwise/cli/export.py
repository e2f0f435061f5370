"""``rankwise export``: a model for a search engine or a model server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankwise.cli import options


def run(
    model: options.Model,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.", show_default=False)],
    to: Annotated[
        str, typer.Option(help="onnx, elasticsearch, opensearch, solr, vespa or svmrank.")
    ] = "onnx",
    name: Annotated[str, typer.Option(help="What the engine calls the model.")] = "rankwise",
    features: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="What the engine calls the features; by default as the columns of the training table.",
        ),
    ] = None,
    dtype: Annotated[str, typer.Option(help="The numbers of an ONNX graph: float64 or float32.")] = "float64",
) -> None:
    """Write a model as ONNX, or as Elasticsearch, OpenSearch, Solr, Vespa or SVMrank take it."""
    import rankwise
    from rankwise.cli.inputs import check_output, load_model, split_list

    check_output(out, model)
    rankwise.export_model(
        load_model(model), out, to, name=name, feature_names=split_list(features), dtype=dtype
    )
