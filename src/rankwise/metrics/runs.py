"""Evaluation of TREC runs against qrels, aligned by query and document, by the conventions of trec_eval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from rankwise.errors import DataError, ParameterError
from rankwise.features import column_names
from rankwise.metrics.comparison import Comparison, compare
from rankwise.metrics.evaluation import Evaluation, evaluate
from rankwise.metrics.named_measures import MeasureLike
from rankwise.preferences.queries import Queries
from rankwise.rows.frames import values_of_frame
from rankwise.rows.ranking import RankingData
from rankwise.trec import Qrels, Run
from rankwise.validation import check_flag, check_kind

MaskedFloats: TypeAlias = "np.ma.MaskedArray[Any, np.dtype[np.float64]]"

RUN_MEASURES = ("ndcg@10", "map", "p@10", "recall@100", "rr")


def evaluate_run(
    run: Run | Any,
    qrels: Qrels | Any,
    measures: MeasureLike | Iterable[MeasureLike] = RUN_MEASURES,
    *,
    preset: str | None = "trec",
    complete: bool = False,
) -> Evaluation:
    """Measure a run against qrels.

    As in trec_eval, documents without a judgment count as 0, and so do negative judgments. Judged documents
    that were not retrieved count in the normalization (the best DCG, the number of relevant documents), but
    contribute nothing. Queries without judgments are ignored. Documents with equal scores are in descending
    order of their names. (trec_eval rounds scores to single precision first, which can create more ties.)

    Parameters
    ----------
    run : dict of dicts, or frame
        Scores by query and document, as from `rankwise.trec.load_run`; or a frame with the columns of
        PyTerrier (qid, docno, score) or ir_measures (query_id, doc_id, score).
    qrels : dict of dicts, or frame
        Judgments by query and document, as from `rankwise.trec.load_qrels`; or a frame of PyTerrier (label)
        or ir_measures (relevance).
    measures
        As in `evaluate`.
    preset : str or None, default="trec"
        As in `evaluate`; None for our own conventions.
    complete : bool
        Whether judged queries for which the run has no documents count, with nothing retrieved
        (``trec_eval -c``). Otherwise they are ignored.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from rankwise.metrics import evaluate_run
    >>> run, qrels = {"301": {"d7": 12.5, "d3": 11.0}}, {"301": {"d3": 1, "d9": 2}, "302": {"d1": 1}}
    >>> evaluate_run(run, qrels, ["map", "recall@10"]).means
    {'map': 0.25, 'recall@10': 0.5}
    >>> evaluate_run(run, qrels, ["map", "recall@10"], complete=True).means
    {'map': 0.125, 'recall@10': 0.25}
    """
    rows, scores, known = align({"run": run}, qrels, complete=complete)
    return evaluate(known, scores["run"], rows.queries, measures, preset=preset)


def compare_runs(
    runs: Mapping[str, Run | Any],
    qrels: Qrels | Any,
    measures: MeasureLike | Iterable[MeasureLike] = RUN_MEASURES,
    *,
    preset: str | None = "trec",
    complete: bool = False,
    **options: Any,
) -> Comparison:
    """Compare runs by means and by paired tests over queries.

    Parameters
    ----------
    runs : dict of name to run
        At least two. A judged query that only some of the runs contain counts for all of them; the other runs
        retrieved nothing for it.
    qrels, measures, preset, complete
        As in `evaluate_run`.
    **options
        Passed to `compare`: `n_permutations`, `random_state`.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from rankwise.metrics import compare_runs
    >>> runs = {"bm25": {"301": {"d7": 12.5, "d3": 11.0}}, "model": {"301": {"d7": 0.1, "d3": 0.2}}}
    >>> compare_runs(runs, {"301": {"d3": 1}}, ["rr"]).means
    {'bm25': {'rr': 0.5}, 'model': {'rr': 1.0}}
    """
    rows, scores, known = align(runs, qrels, complete=complete)
    return compare(known, scores, rows.queries, measures, preset=preset, **options)


def align(
    runs: Mapping[str, Run | Any], qrels: Qrels | Any, *, complete: bool
) -> tuple[RankingData, dict[str, MaskedFloats], MaskedFloats]:
    """The documents that were judged or retrieved, as rows, the scores of each run, and the labels.

    Queries are in the order of the qrels, their documents in descending order of names. A score is masked if
    the run did not retrieve the document, and a label if it was not judged. O(documents).
    """
    complete = check_flag("complete", complete)
    runs = {
        name: _by_name(f"The run '{name}'" if len(runs) > 1 else "The run", run, "score")
        for name, run in check_kind("runs", runs, Mapping).items()
    }
    qrels = _by_name("The qrels", qrels, "label", "relevance")
    asked = [qid for qid in qrels if complete or any(qid in run for run in runs.values())]
    if not any(qid in run for qid in asked for run in runs.values()):
        retrieved = dict.fromkeys(qid for run in runs.values() for qid in run)
        raise DataError(
            f"The run and the qrels share no query: the run has {_some(retrieved)}, the qrels {_some(qrels)}."
        )
    queries: list[str] = []
    sizes: list[int] = []
    y: list[float] = []
    unjudged: list[bool] = []
    docs: list[str] = []
    scores: dict[str, list[float]] = {name: [] for name in runs}
    for qid in asked:
        lists = {name: run.get(qid, {}) for name, run in runs.items()}
        # In this order, measures that break ties by the order of the rows break them by name.
        known = sorted({doc for names in (qrels[qid], *lists.values()) for doc in names}, reverse=True)
        if not known:
            continue
        queries.append(qid)
        sizes.append(len(known))
        docs += known
        y += [max(float(qrels[qid].get(doc, 0)), 0.0) for doc in known]
        unjudged += [doc not in qrels[qid] for doc in known]
        for name, own in lists.items():
            scores[name] += [_finite(own[doc], qid, doc) if doc in own else math.nan for doc in known]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    labels = np.array(queries, dtype=object)
    rows = RankingData(
        X=np.empty((len(y), 0)),
        y=np.array(y),
        queries=Queries(offsets, None, labels),
        qid=np.repeat(labels, sizes),
        docs=np.array(docs, dtype=object),
    )
    masked: dict[str, MaskedFloats] = {
        name: np.ma.masked_invalid(np.array(column)) for name, column in scores.items()
    }
    return rows, masked, np.ma.masked_array(rows.y, unjudged)


def _finite(score: float, qid: str, doc: str) -> float:
    if not math.isfinite(score):
        raise DataError(f"The document {doc!r} of query {qid!r} has the score {score}, which is not finite.")
    return score


def _by_name(what: str, given: Any, *values: str) -> Any:
    """Numbers by query and document, of a dict of dicts or a frame."""
    if column_names(given) is not None:
        try:
            return values_of_frame(given, *values)
        except DataError as error:
            raise DataError(f"{what}: {error}") from error
    if not isinstance(given, Mapping) or not all(isinstance(docs, Mapping) for docs in given.values()):
        raise ParameterError(
            f"{what} must be a dict of dicts, numbers by query and document, as from load_run or load_qrels, "
            f"or a frame with columns such as qid, docno and {values[0]}."
        )
    return given


def _some(queries: Iterable[str]) -> str:
    first = list(islice(queries, 4))
    return ", ".join(map(repr, first[:3])) + (", ..." if len(first) > 3 else "") or "none"
