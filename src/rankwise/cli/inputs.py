"""Reading the inputs of a command: data in any format, scores and models."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rankwise.cli.screen import progress
from rankwise.errors import DataError, FileFormatError, ParameterError

if TYPE_CHECKING:
    from rankwise.data.ranking import RankingData
    from rankwise.metrics import Measure
    from rankwise.scoring.model import ScoringModel
    from rankwise.types import Floats

TABLES = {".csv", ".tsv", ".parquet", ".pq"}
# Labels between 0 and this are treated as grades, for which NDCG and MAP are designed.
MAX_GRADE = 30


@dataclass(frozen=True)
class ReadOptions:
    """How to read data: the columns of tables, the feature numbering of text, and whether to scale.

    Without `labelled`, labels come from another file, and a table need not have a label column.
    """

    label: str | None = "label"
    qid: str | None = "qid"
    doc: str | None = None
    zero_based: bool | None = None
    scale: bool = False
    labelled: bool = True


def read_data(
    path: Path, how: ReadOptions, *, features: Sequence[str] | None = None, n_features: int | None = None
) -> RankingData:
    """Read text, a table or a store, distinguished by name.

    Text without qid may come with a file that lists the query sizes, as in LightGBM. `features` selects the
    columns of a table; `n_features` widens text whose last features never occur.
    """
    import rankwise

    data: RankingData
    with progress(f"Reading {path.name}") as advance:
        if path.is_dir():
            data = rankwise.open_store(path)
        elif is_table(path):
            data = _read_table(path, how, features)
        else:
            data = rankwise.load_letor(
                path,
                zero_based="auto" if how.zero_based is None else how.zero_based,
                n_features=n_features,
                progress=lambda done, total: advance(done / max(total, 1)),
            )
            beside = find_group_sizes(path)
            if data.qid is None and beside is not None:
                data = _grouped(data, path, beside)
    if how.scale and data.qid is None:
        raise DataError(f"{path}: --scale scales features within each query, but the data has no queries.")
    return data.scale_per_query() if how.scale else data


def _read_table(path: Path, how: ReadOptions, features: Sequence[str] | None) -> RankingData:
    from rankwise.data.tables import load_features, load_table

    label, qid = how.label or None, how.qid or None
    if how.labelled:
        return load_table(path, label=label, qid=qid, doc=how.doc, features=features)
    return load_features(path, ignored=label, qid=qid, doc=how.doc, features=features)


def find_group_sizes(path: Path) -> Path | None:
    """The file of query sizes that belongs to a text file: ``.query`` (LightGBM) or ``.group`` (XGBoost)."""
    return next(filter(Path.is_file, (Path(f"{path}{ending}") for ending in (".query", ".group"))), None)


def _grouped(data: RankingData, path: Path, beside: Path) -> RankingData:
    """Group data into queries by a file of query sizes."""
    from rankwise.preferences.queries import group_rows, qid_from_group_sizes

    sizes = []
    for number, line in enumerate(beside.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        if not line.strip().isdecimal() or len(line) > 18 or int(line) == 0:
            raise FileFormatError(
                beside, f"expected the number of rows of a query, at least 1; found {line[:40]!r}.", number
            )
        sizes.append(int(line))
    if sum(sizes) != data.n_rows:
        message = f"the query sizes sum to {sum(sizes)}, but {path} has {data.n_rows} rows."
        raise FileFormatError(beside, message)
    qid = qid_from_group_sizes(sizes)
    return replace(data, qid=qid, queries=group_rows(qid, data.n_rows))


def read_for_model(path: Path, how: ReadOptions, model: ScoringModel) -> RankingData:
    """Read data with the features of a fitted model."""
    return read_data(path, how, features=model.feature_names, n_features=model.n_features)


def read_matching(path: Path, how: ReadOptions, training: RankingData) -> RankingData:
    """Read data with the features and the scaling of the training data."""
    names, width = training.feature_names, training.n_features
    data = read_data(path, replace(how, labelled=True), features=names, n_features=width)
    if data.qid is None and training.qid is not None:
        raise DataError(f"{path}: the data has no queries, but the training data does.")
    return data.scale_per_query() if must_scale(data, training.scaled_per_query) else data


def is_table(path: Path) -> bool:
    return bool(TABLES.intersection(suffix.lower() for suffix in path.suffixes))


def load_model(path: Path) -> ScoringModel:
    """Load what scoring needs of a rankwise model, or of one written by SVMrank, without scikit-learn."""
    from rankwise.export.svmrank import load_svmrank
    from rankwise.persist.model_file import read_model
    from rankwise.scoring.functions import LinearFunction
    from rankwise.scoring.model import ScoringModel

    if not is_svmrank(path):
        return read_model(path).scoring_model()
    coef = load_svmrank(path)
    return ScoringModel("RankSVM", LinearFunction(coef), len(coef))


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


def predict_scores(model: ScoringModel, data: RankingData) -> Floats:
    """The model's scores of all rows, after checking that the features match those of training.

    Rows are scaled within each query if the model was trained on rows scaled that way.
    """
    known = model.feature_names
    if known is not None and data.feature_names is not None and known != list(data.feature_names):
        missing = [name for name in known if name not in data.feature_names]
        what = f"the feature '{missing[0]}' is missing" if missing else "the order of the features differs"
        raise DataError(f"The data does not match the model: {what}.")
    if data.n_features != model.n_features:
        raise DataError(
            f"The data has {data.n_features} features, but the model was trained on {model.n_features}."
        )
    # Models from SVMrank, and those trained in Python, do not record this.
    known_scaling = model.scaled_per_query
    to_scale = must_scale(data, data.scaled_per_query if known_scaling is None else known_scaling)
    with progress("Scoring"):
        return _predict_scaled(model, data) if to_scale else model.predict(data.X)


def must_scale(data: RankingData, wanted: bool) -> bool:
    """Whether the data still has to be scaled within each query to match a model's training data."""
    if data.scaled_per_query == wanted:
        return False
    if not wanted:
        raise DataError(
            "The data was scaled within each query (--scale), which cannot be undone, "
            "but the model's training data was not."
        )
    if data.qid is None:
        raise DataError(
            "The model was trained on features scaled within each query (--scale), "
            "but the data has no queries."
        )
    return True


def _predict_scaled(model: ScoringModel, data: RankingData) -> Floats:
    import numpy as np

    from rankwise.data.scaling import scaled_parts

    scores = np.empty(data.n_rows)
    for rows, X in scaled_parts(data.X, data.queries):
        scores[rows] = model.predict(X)
    return scores


def read_scores(path: Path, n_rows: int) -> Floats:
    """One finite number per line, as `predict` writes them; ``-`` is standard input."""
    import numpy as np

    text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8", errors="replace")
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    scores = np.empty(len(lines))
    for number, line in enumerate(lines, start=1):
        try:
            scores[number - 1] = float(line)
        except ValueError:
            raise FileFormatError(path, f"expected one score; found {line[:40]!r}.", line=number) from None
        if not np.isfinite(scores[number - 1]):
            raise FileFormatError(path, f"the score {line.strip()} is not finite.", line=number)
    if len(scores) != n_rows:
        raise FileFormatError(path, f"the file has {len(scores)} scores, but the data has {n_rows} rows.")
    return scores


def read_judged(data: Path, how: ReadOptions, scores: Path) -> tuple[RankingData, Floats]:
    """Read judged rows and their scores, from a file or from a model."""
    if is_model(scores):
        model = load_model(scores)
        rows = read_for_model(data, how, model)
        return rows, predict_scores(model, rows)
    if is_table(data) and how.label:
        from rankwise.data.tables import read_judgments

        rows = read_judgments(data, label=how.label, qid=how.qid or None, doc=how.doc)
    else:
        rows = read_data(data, how)
    return rows, read_scores(scores, rows.n_rows)


def read_names(path: Path, how: ReadOptions) -> RankingData:
    """Read the query and document labels of rows; of a table, nothing else."""
    if not is_table(path):
        return read_data(path, how)
    from rankwise.data.tables import read_judgments

    return read_judgments(path, label=None, qid=how.qid or None, doc=how.doc)


def split_list(text: str | None) -> list[str] | None:
    """Split at commas outside parentheses: ``a,b(c,d)`` has two parts; None if there are none."""
    parts = re.split(r",(?![^(]*\))", text or "")
    return [part.strip() for part in parts if part.strip()] or None


def choose_measures(text: str | None, rows: RankingData, preset: str | None = None) -> list[Measure]:
    """The named measures, or defaults that suit the labels, which are grades or arbitrary numbers."""
    from rankwise.metrics import get_measure

    if text is None:
        are_grades = rows.y.min() >= 0 and rows.y.max() <= MAX_GRADE
        names = ["ndcg@10", "map", "pairwise_error"] if are_grades else ["pairwise_error", "kendall_tau_b"]
    else:
        names = split_list(text) or []
    return [get_measure(name, preset=preset) for name in names]


def check_output(path: Path, *inputs: Path) -> None:
    """Reject an output file that cannot be written before hours of work rather than after."""
    if path.is_dir():
        raise ParameterError(f"{path} is a folder; expected the name of a file to write.")
    check_destination(path, *inputs)


def check_model_output(path: Path) -> None:
    """Refuse to overwrite anything but a model, such as a data file named by mistake."""
    check_output(path)
    if path.is_file() and path.stat().st_size > 0 and not is_model(path):
        raise ParameterError(f"{path} is not a model file; refusing to overwrite it.")


def check_destination(path: Path, *inputs: Path) -> None:
    """Reject an output in a folder that does not exist, or one that is also an input."""
    if not path.absolute().parent.is_dir():
        raise ParameterError(f"{path}: the folder {path.parent} does not exist.")
    if (path.is_file() or path.is_dir()) and any(read.exists() and path.samefile(read) for read in inputs):
        raise ParameterError(f"{path} is an input of this command; refusing to overwrite it.")
