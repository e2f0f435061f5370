"""Learners of any library, compared on queries that they were not fitted to, and the files that say how."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone

from rankwise.errors import DataError, ParameterError
from rankwise.files import as_path, created_folder, replacing_file
from rankwise.long_tasks import step, task
from rankwise.metrics.comparison import TEST_HEADER, Comparison, compare
from rankwise.metrics.evaluation import DEFAULT_MEASURES, chosen_measures
from rankwise.metrics.latex import latex_table
from rankwise.metrics.named_measures import MeasureLike
from rankwise.readers.delimited import write_delimited
from rankwise.rows.ranking import RankingData
from rankwise.selection.folding import draw_folds
from rankwise.trec import run_from_scores, save_run
from rankwise.types import Floats
from rankwise.validation import check_kind, check_labels


def compare_learners(
    data: RankingData,
    learners: Mapping[str, Any],
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT_MEASURES,
    *,
    cv: Any = 5,
    baseline: str | None = None,
    preset: str | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Comparison:
    """Compare learners by cross-validation over whole queries.

    Each learner is fitted to all folds but one, in turn, and scores the one left out. Every query is
    therefore scored once, by models that have not seen it, and compared by the tests of `metrics.compare`.
    Estimators that choose their parameters choose them on their training queries.

    Parameters
    ----------
    data : RankingData
        With queries.
    learners : dict of name to estimator or str
        Estimators with `fit` and `predict`, which are cloned; or the name of a feature, which is used as the
        score. Rows are passed query by query, with ``qid`` if `fit` accepts it (rankers, `XGBRanker`), with
        ``group`` if it accepts that (`LGBMRanker`), and otherwise on their own. Weights of the data are
        passed as ``sample_weight``.
    measures, baseline, preset
        As in `rankwise.metrics.compare`.
    cv : int, splitter or list of splits, default=5
        Folds of whole queries.
    out : path, optional
        A folder for ``queries.csv``, the values of every query; ``tests.csv``; ``table.tex``; and, if the
        data has document labels, a TREC run of each learner.

    Returns
    -------
    Comparison
        ``evaluations[name].per_query`` has the values of every query.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from rankwise import RankRLSCV, compare_learners, make_search_data
    >>> data = make_search_data(60, random_state=0)
    >>> learners = {"rls": RankRLSCV(), "ridge": Ridge(), "bm25": "body_bm25"}
    >>> means = compare_learners(data, learners, ["ndcg@10"]).means
    >>> means["rls"]["ndcg@10"] > means["ridge"]["ndcg@10"] > means["bm25"]["ndcg@10"]
    True
    """
    data = check_kind("data", data, RankingData)
    if data.queries.labels is None:
        raise DataError("compare_learners leaves out queries, but the data has none.")
    if len(check_kind("learners", learners, Mapping)) < 2:
        raise ParameterError(
            f"The 'learners' parameter must contain at least two learners; got {len(learners)}."
        )
    for name, learner in learners.items():
        check_learner(name, learner, data)
    chosen = chosen_measures(measures, preset)
    folds = draw_folds(cv, data.y, data.queries)
    tested = np.concatenate(folds.held)
    scores = {name: np.full(data.n_rows, np.nan) for name in learners}
    with task("Comparing learners"):
        for number, held in enumerate(folds.held):
            training = query_by_query(data.select(np.setdiff1d(np.arange(data.n_rows), held)))
            for place, (name, learner) in enumerate(learners.items()):
                done = (number + place / len(learners)) / len(folds.held)
                step(f"fold {number + 1} of {len(folds.held)}, {name}", done=done)
                scores[name][held] = scores_without(learner, training, data.select(held), name)
    of_tested = {name: own[tested] for name, own in scores.items()}
    rows = data.select(tested)
    found = compare(rows.y, of_tested, rows.queries, chosen, baseline=baseline, docs=rows.docs)
    if out is not None:
        write_comparison(found, out, data, scores)
    return found


def scores_without(learner: Any, training: RankingData, test: RankingData, name: str) -> Floats:
    """The scores of rows by a learner fitted to others; or those of a feature."""
    if isinstance(learner, str):
        return np.asarray(column_of(test, learner), dtype=np.float64)
    fitted = fit_any(clone(learner), training)
    return check_labels(fitted.predict(test.X), test.n_rows, name=f"The scores of '{name}'")


def fit_any(learner: Any, training: RankingData, **options: Any) -> Any:
    """Fit an estimator of any library to rows that are given query by query."""
    parameters = inspect.signature(learner.fit).parameters
    open_ended = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    routed = open_ended and sklearn.get_config()["enable_metadata_routing"]
    if "qid" in parameters or routed:
        options["qid"] = training.qid if "group" not in parameters else training.queries.query_of_row()
    elif "group" in parameters:
        options["group"] = training.queries.sizes
    if training.sample_weight is not None:
        # XGBoost's rankers have a parameter of this name for weights of queries.
        by_row = "sample_weight" in parameters and not type(learner).__module__.startswith("xgboost")
        if not by_row and not routed:
            raise DataError(f"The data has weights of rows, which {type(learner).__name__} does not take.")
        options["sample_weight"] = training.sample_weight
    learner.fit(training.X, training.y, **options)
    return learner


def column_of(data: RankingData, feature: str) -> Any:
    """The values of one feature."""
    column = data.features.labels.index(feature)
    values = data.X[:, [column]]
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)[:, 0]


def query_by_query(data: RankingData) -> RankingData:
    """The rows of one query after those of another."""
    return data if data.queries.order is None else data.select(data.queries.order)


def check_learner(name: Any, learner: Any, data: RankingData) -> None:
    if isinstance(learner, str):
        if learner not in data.features.labels:
            raise DataError(f"The learner '{name}' is the feature {learner!r}, which the data does not have.")
    elif not (hasattr(learner, "fit") and hasattr(learner, "predict")):
        raise ParameterError(
            f"The learner '{name}' must have 'fit' and 'predict', or be the name of a feature; "
            f"got {type(learner).__name__}."
        )


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
