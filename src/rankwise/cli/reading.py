"""Reading the inputs of a command: data for models, scores and models."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rankwise.cli.column_names import named_as_in
from rankwise.cli.data_files import ReadOptions, concatenate, data_files, is_table, read_data
from rankwise.cli.seen import warn_of_seen_rows
from rankwise.errors import DataError, FileFormatError, ParameterError
from rankwise.long_tasks import task
from rankwise.numerals import read_float

if TYPE_CHECKING:
    from rankwise.dask import DistributedData
    from rankwise.features import Features
    from rankwise.metrics import Measure
    from rankwise.model.model import Model
    from rankwise.rows.ranking import RankingData
    from rankwise.types import Floats

# Labels between 0 and this are treated as grades.
MAX_GRADE = 30


def read_for_model(path: Path, how: ReadOptions, model: Model) -> RankingData:
    """Read data with the features, or the columns, of a fitted model."""
    how = replace(named_as_in([model], path, how), as_table=model.encoding is not None)
    return read_with_features(path, how, model.features)


def read_matching(path: Path, how: ReadOptions, training: RankingData) -> RankingData:
    """Read data with the features and the scaling of the training data."""
    from rankwise.model.data_scores import scaled_like
    from rankwise.rows.table import Table

    how = replace(how, labelled=True, as_table=isinstance(training.X, Table))
    data = read_with_features(path, how, training.features)
    if data.qid is None and training.qid is not None:
        raise DataError(f"{path}: the data has no queries, but the training data does.")
    return scaled_like(data, training.features)


def read_with_features(path: Path, how: ReadOptions, known: Features) -> RankingData:
    """Text need not contain the first or the last feature, so what is known of them decides."""
    how = replace(how, chosen_by=None)
    if how.zero_based is None and known.numbered_from is not None:
        how = replace(how, zero_based=known.numbered_from == 0)
    return read_data(path, how, features=known.names, n_features=known.count)


def load_model(path: Path) -> Model:
    """Load a model of rankwise, or one written by SVMrank, without scikit-learn."""
    from rankwise.export.svmrank import load_svmrank
    from rankwise.features import Features
    from rankwise.model.model import Model
    from rankwise.model.model_file import read_model
    from rankwise.scoring.functions import LinearFunction

    if is_table(path) and path.is_file() and not is_model(path):
        raise FileFormatError(path, "is not a model file but a table. Is the order of the arguments right?")
    if not is_svmrank(path):
        return read_model(path)
    coef = load_svmrank(path)
    return Model("RankSVM", LinearFunction(coef), Features(count=len(coef)))


def is_model(path: Path) -> bool:
    """Whether a file is a safetensors file, by name or by its header, or an SVMrank model."""
    return path.suffix == ".safetensors" or _first_bytes(path, 9)[8:] == b"{" or is_svmrank(path)


def is_svmrank(path: Path) -> bool:
    from rankwise.export.svmrank import MAGIC

    return _first_bytes(path, len(MAGIC)) == MAGIC.encode()


def _first_bytes(path: Path, n_bytes: int) -> bytes:
    """The first bytes of a file; empty for a pipe, which cannot be read twice."""
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(n_bytes)


def predict_scores(model: Model, data: RankingData) -> Floats:
    """The model's scores of all rows, with progress on a terminal."""
    from rankwise.model.data_scores import score_data

    with task("Scoring"):
        return score_data(model, data)


def read_scores(path: Path, n_rows: int) -> Floats:
    """One finite number per line, as `predict` writes them; ``-`` is standard input."""
    import numpy as np

    from rankwise.readers.text import numbered_lines, open_text

    scores = np.empty(n_rows)
    number = 0
    with _standard_input() if str(path) == "-" else open_text(path) as file:
        for number, line in numbered_lines(file, path):
            if number > n_rows:  # there may be no end of them
                raise FileFormatError(path, f"the file has more scores than the {n_rows} rows of the data.")
            text = line.decode(errors="replace").removesuffix("\n")
            try:
                scores[number - 1] = read_float(text)
            except ValueError:
                hint = "; a TREC run is evaluated with --qrels" if text.split()[1:2] == ["Q0"] else ""
                message = f"expected one score; found {text[:40]!r}{hint}."
                raise FileFormatError(path, message, line=number) from None
            if not np.isfinite(scores[number - 1]):
                raise FileFormatError(path, f"the score {text.strip()} is not finite.", line=number)
    if number != n_rows:
        raise FileFormatError(path, f"the file has {number} scores, but the data has {n_rows} rows.")
    return scores


@contextmanager
def _standard_input() -> Iterator[IO[bytes]]:
    try:
        yield sys.stdin.buffer
    except OSError as error:
        error.filename = "standard input"
        raise


def read_judged(data: Path, how: ReadOptions, scores: Path) -> tuple[RankingData, Floats]:
    """Read judged rows and their scores, from a file or from a model."""
    if is_model(scores):
        model = load_model(scores)
        rows = read_for_model(data, how, model)
        warn_of_seen_rows(model, data, rows)
        return rows, predict_scores(model, rows)
    if how.label != "" and all(map(is_table, data_files(data))):
        from rankwise.readers.tables import read_judgments

        columns: dict[str, Any] = {"label": how.label_column, "qid": how.qid_column, "doc": how.doc}
        rows = concatenate(data_files(data), lambda path: read_judgments(path, **columns), how)
    else:
        rows = read_data(data, how)
    return rows, read_scores(scores, rows.n_rows)


def read_names(path: Path, how: ReadOptions) -> RankingData:
    """Read the query and document labels of rows; of a table, nothing else."""
    if not is_table(path):
        return read_data(path, how)
    from rankwise.readers.tables import read_judgments

    return read_judgments(path, label=None, qid=how.qid_column, doc=how.doc)


def split_list(text: str | None) -> list[str] | None:
    """Split at commas outside parentheses: ``a,b(c,d)`` has two parts; None if there are none."""
    parts = re.split(r",(?![^(]*\))", text or "")
    return [part.strip() for part in parts if part.strip()] or None


def names_in_engine(features: str | None, mapped: str | None) -> list[str] | dict[str, str] | None:
    """All names in order, or some by what the model calls them."""
    if mapped is None:
        return split_list(features)
    if features is not None:
        raise ParameterError("--features and --map cannot be combined; name all features or some.")
    names = {}
    for part in split_list(mapped) or []:
        own, _, name = part.partition("=")
        if not (own and name) or own in names:
            raise ParameterError(f"--map expects price=cost,device=params.device or the like; got {part!r}.")
        names[own] = name
    return names


def excluded(exclude: str | None, features: str | None) -> list[str] | None:
    """The columns that --exclude names, which --features would leave nothing to do."""
    if exclude is not None and features is not None:
        raise ParameterError("--exclude and --features cannot be combined; name the columns of one kind.")
    return split_list(exclude)


def choose_measures(
    text: str | None, rows: RankingData | DistributedData, preset: str | None = None
) -> list[Measure]:
    """The named measures, or defaults that suit the labels, which are grades or arbitrary numbers."""
    from rankwise.metrics import get_measure

    if text is None:
        graded = are_grades(rows)
        names = ["ndcg@10", "map", "pairwise_error"] if graded else ["pairwise_error", "kendall_tau_b"]
    else:
        names = split_list(text) or []
    return [get_measure(name, preset=preset) for name in names]


def are_grades(rows: RankingData | DistributedData) -> bool:
    """Whether the labels can be grades, for which NDCG and MAP are designed."""
    lowest, highest = rows.label_range
    return lowest >= 0 and highest <= MAX_GRADE
