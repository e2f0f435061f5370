"""``rankwise svm_rank_learn``: SVMrank's command of this name, with its objective and its model files."""

from __future__ import annotations

import time
import warnings
from typing import Annotated

import typer

from rankwise.cli import options
from rankwise.errors import ParameterError


def run(
    data: options.Data,
    model: options.ModelOut,
    c: Annotated[float, typer.Option("-c", help="SVMrank's C, the cost of errors.")] = 0.01,
    json: options.Json = False,
) -> None:
    """Train as svm_rank_learn does, and write an SVMrank model."""
    import rankwise
    from rankwise.cli.data_files import ReadOptions, read_data, warn_of_one_ranking
    from rankwise.cli.fitting import criterion_and_usual, evaluate_parts, fit, show_result
    from rankwise.export.svmrank import alpha_from_c, save_svmrank

    if not 0.0 < c < float("inf"):
        raise ParameterError(f"-c must be above 0; got {c:g}.")
    how = ReadOptions()
    rows = read_data(data, how)
    warn_of_one_ranking(data, rows, how)
    if rows.scaled_per_query:
        warnings.warn(
            "SVMrank model files cannot record that features were scaled within each query; "
            "scale the data to predict on as well.",
            stacklevel=2,
        )
    ranker = rankwise.RankSVM(alpha_from_c(c, rows.y, rows.queries), weighting="pair")
    start = time.perf_counter()
    fit(ranker, rows)
    seconds = time.perf_counter() - start
    save_svmrank(ranker.coef_, model, n_rows=rows.n_rows)
    found = evaluate_parts(ranker, {"training": rows}, criterion_and_usual(ranker, rows))
    show_result(ranker, rows, model, seconds, found, json)
