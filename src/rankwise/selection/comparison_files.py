"""Comparisons written as files: values by query, tests, a table for papers, and TREC runs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from rankwise.files import as_path, created_folder, replacing_file
from rankwise.metrics.comparison import TEST_HEADER, Comparison
from rankwise.metrics.latex import latex_table
from rankwise.readers.delimited import write_delimited
from rankwise.rows.ranking import RankingData
from rankwise.trec import run_from_scores, save_run
from rankwise.types import Floats


def write_comparison(
    comparison: Comparison, out: str | os.PathLike[str], data: RankingData, scores: Mapping[str, Floats]
) -> None:
    """Write what was compared into a folder; the scores are those of all rows of the data."""
    folder = as_path(out)
    with created_folder(folder):
        first = next(iter(comparison.evaluations.values())).per_query
        measures = [name for name in first if name not in ("qid", "n_rows")]
        rows = [
            (query, name, *(values.per_query[measure][place] for measure in measures))
            for name, values in comparison.evaluations.items()
            for place, query in enumerate(first["qid"].tolist())
        ]
        _write(folder, "queries.csv", ["query", "learner", *measures], rows)
        _write(folder, "tests.csv", list(TEST_HEADER), [test.row for test in comparison.tests])
        with replacing_file(folder / "table.tex") as beside:
            table = latex_table(comparison.means, comparison, len(first["qid"]))
            beside.write_text(table, encoding="utf-8")
        for name, own in scores.items() if data.docs is not None else ():
            tag = re.sub(r"[^\w.-]+", "-", name)
            save_run(run_from_scores(data, own), folder / f"{tag}.run", tag=tag)


def _write(folder: os.PathLike[str], name: str, header: list[str], rows: list[tuple[object, ...]]) -> None:
    cells = ([("" if cell != cell else cell) for cell in row] for row in rows)
    write_delimited(as_path(folder) / name, header, cells)
