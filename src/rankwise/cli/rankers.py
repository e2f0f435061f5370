"""What 'compare' and 'report' are given: named rankers, and the judged rows that they are compared on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwise.cli.column_names import named_as_in
from rankwise.cli.data_files import ReadOptions, data_files, is_table, read_data
from rankwise.cli.evaluate import count_coverage, describe_coverage
from rankwise.cli.reading import (
    choose_measures,
    is_model,
    load_model,
    read_scores,
    read_with_features,
    split_list,
)
from rankwise.cli.seen import warn_of_seen_rows
from rankwise.errors import ParameterError

if TYPE_CHECKING:
    from rankwise.metrics import Measure
    from rankwise.model.model import Model
    from rankwise.rows.column import Column
    from rankwise.rows.ranking import RankingData


def named_files(paths: Sequence[Path], least: int) -> dict[str, Path]:
    """Short names of what is compared: their last parts, or whole paths where those are the same."""
    if len(set(paths)) < max(len(paths), least):
        what = "at least two models" if least == 2 else "models"
        raise ParameterError(f"Expected {what}, score files or runs, each only once.")
    stems = {path.stem: path for path in paths}
    return stems if len(stems) == len(paths) else {str(path): path for path in paths}


def read_rankers(
    files: dict[str, Path],
    data: Path | None,
    qrels: Path | None,
    how: ReadOptions,
    measures: str | None,
    preset: str | None,
    complete: bool,
) -> tuple[dict[str, Any], RankingData, Sequence[Measure], str]:
    """Rankers by name, judged rows, measures, and a note on which rows count."""
    if (data is None) == (qrels is None):
        raise ParameterError("Expected either --data, with judged rows, or --qrels, with judgments of runs.")
    if qrels is not None:
        return _read_runs(files, qrels, measures, preset, complete)
    if complete:
        raise ParameterError("--complete needs --qrels.")
    assert data is not None
    models = {name: load_ranker(path) for name, path in files.items()}
    rows = _read_rows(data, how, models)
    for name, model in rankwise_models(models).items():
        warn_of_seen_rows(model, data, rows, name=name)
    rankers = {
        name: read_scores(files[name], rows.n_rows) if model is None else model
        for name, model in models.items()
    }
    chosen = choose_measures(measures, rows, preset)
    return rankers, rows, chosen, f"{rows.n_rows:,} rows, {rows.n_queries:,} queries"


def columns_beside(data: Path | None, names: str | None, option: str = "--by") -> dict[str, Column] | None:
    """The columns of the table that an option names besides those of the rankers, one value per row."""
    from rankwise.readers.arrow_tables import open_columns
    from rankwise.rows.frames import check_present

    if names is None:
        return None
    files = [] if data is None else data_files(data)
    if len(files) != 1 or not is_table(files[0]):
        raise ParameterError(f"{option} names columns of a table, so the data must be one table.")
    present, _, column = open_columns(files[0], [])
    wanted = split_list(names) or []
    check_present(present, wanted)
    return {name: column(name) for name in wanted}


def load_ranker(path: Path) -> Any:
    """A model of rankwise, SVMrank, LightGBM or XGBoost, or a TREC run; None for a file of scores."""
    from rankwise.report.peers import load_peer

    if is_model(path):
        return load_model(path)
    if not path.is_file():  # a pipe, which can be read only once
        return None
    peer = load_peer(path)
    return _load_run(path) if peer is None else peer


def _load_run(path: Path) -> Any:
    from rankwise.trec import load_run

    with path.open(encoding="utf-8", errors="replace") as file:
        is_run = file.readline(1000).split()[1:2] == ["Q0"]
    return load_run(path) if is_run else None


def _read_rows(data: Path, how: ReadOptions, rankers: Mapping[str, Any]) -> RankingData:
    """Read data with the features of all rankwise models: a table with every column that one of them names.

    Scores and runs need no features, so the columns of a table may then be anything.
    """
    models = list(rankwise_models(rankers).values())
    if models:
        names = dict.fromkeys(name for model in models for name in model.features.names or ())
        encoded = any(model.encoding is not None for model in models)
        how = replace(named_as_in(models, data, how), as_table=encoded)
        return read_with_features(data, how, replace(models[0].features, names=tuple(names) or None))
    peers = [ranker for ranker in rankers.values() if ranker is not None and not isinstance(ranker, dict)]
    return read_data(data, replace(how, as_table=not peers))


def rankwise_models(rankers: Mapping[str, Any]) -> dict[str, Model]:
    """The models of rankwise among them, by name."""
    from rankwise.model.model import Model

    return {name: ranker for name, ranker in rankers.items() if isinstance(ranker, Model)}


def _read_runs(
    files: dict[str, Path], qrels: Path, measures: str | None, preset: str | None, complete: bool
) -> tuple[dict[str, Any], RankingData, Sequence[Measure], str]:
    from rankwise.metrics import get_measure
    from rankwise.metrics.runs import RUN_MEASURES, align
    from rankwise.trec import load_qrels, load_run

    runs, known = {name: load_run(path) for name, path in files.items()}, load_qrels(qrels)
    judged, scores, labels = align(runs, known, complete=complete)
    names = split_list(measures) or RUN_MEASURES
    chosen = [get_measure(name, preset=preset or "trec") for name in names]
    asking = [measure.name for measure in chosen if measure.kind in ("bpref", "judged")]
    if asking and labels.mask.any():
        raise ParameterError(
            f"The measure '{asking[0]}' depends on which documents were judged, which only 'rankwise "
            "evaluate' and rankwise.metrics.compare_runs know."
        )
    counts = count_coverage({query for run in runs.values() for query in run}, known)
    return dict(scores), judged, chosen, describe_coverage(counts, complete, "a run")


def files_read(files: dict[str, Path], *others: Path | None) -> list[Path]:
    """The files whose checksums a report states."""
    return [*files.values(), *(file for path in others if path is not None for file in data_files(path))]
