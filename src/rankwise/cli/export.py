"""``rankwise export``: export a model to a search engine or a model server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankwise.cli import options


def run(
    model: options.Model,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.", show_default=False)],
    to: Annotated[
        str,
        typer.Option(
            help="Format: onnx, elasticsearch, elasticsearch-query, opensearch, solr, vespa or svmrank."
        ),
    ] = "onnx",
    name: Annotated[str, typer.Option(help="Name of the model in the engine.")] = "rankwise",
    features: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Names of the features in the engine; the columns of the training table by default.",
        ),
    ] = None,
    dtype: Annotated[str, typer.Option(help="Number type of an ONNX graph: float64 or float32.")] = "float64",
    clauses: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="For elasticsearch-query: a JSON file with a clause for each feature, '$boost' in place of "
            "its boost.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Export a model to ONNX, or to the format of Elasticsearch, OpenSearch, Solr, Vespa or SVMrank."""
    import rankwise
    from rankwise.cli.inputs import check_output, load_model, split_list

    check_output(out, model)
    names = split_list(features)
    rankwise.export_model(
        load_model(model), out, to, name=name, feature_names=names, dtype=dtype, clauses=clauses
    )
