"""TREC runs and qrels as dictionaries by query and document: the form that pytrec_eval and ranx use, too.

A run holds scores, qrels hold judgments::

    301 Q0 FR940104-0-00001 1 12.5 bm25        (query, Q0, document, rank, score, name of the system)
    301 0 FR940104-0-00001 2                   (query, 0, document, relevance)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from numpy.typing import ArrayLike

from rankwise.errors import DataError, FileFormatError
from rankwise.files import as_path, replacing_file
from rankwise.readers.delimited import finite_number, open_delimited, whole_number
from rankwise.readers.text import create_text
from rankwise.rows.documents import Number, values_by_name
from rankwise.rows.ranking import RankingData
from rankwise.validation import check_kind, check_labels

__all__ = ["load_qrels", "load_run", "qrels_from_data", "run_from_scores", "save_qrels", "save_run"]

#: The score of each document that was retrieved for a query, and the relevance of each that was judged.
Run: TypeAlias = Mapping[str, Mapping[str, float]]
Qrels: TypeAlias = Mapping[str, Mapping[str, int]]

_RUN, _QRELS = "qid Q0 doc rank score tag", "qid 0 doc relevance"


def load_run(path: str | PathLike[str]) -> dict[str, dict[str, float]]:
    """Read a TREC run: lines of ``qid Q0 doc rank score tag``.

    As in trec_eval, scores alone decide: ranks and tags are ignored, and so is the order of the lines.

    Parameters
    ----------
    path : path
        ``.gz``, ``.bz2`` and ``.xz`` are decompressed.

    Returns
    -------
    dict
        ``run[qid][doc]`` is the score of a document, for `rankwise.metrics.evaluate_run`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rankwise.trec import load_run
    >>> _ = Path("run.txt").write_text("301 Q0 d7 1 12.5 bm25\\n301 Q0 d3 2 11.0 bm25\\n")
    >>> load_run("run.txt")
    {'301': {'d7': 12.5, 'd3': 11.0}}
    """
    return _read(as_path(path), _RUN, partial(finite_number, name="score"))


def load_qrels(path: str | PathLike[str]) -> dict[str, dict[str, int]]:
    """Read TREC qrels: lines of ``qid 0 doc relevance``.

    Parameters
    ----------
    path : path
        ``.gz``, ``.bz2`` and ``.xz`` are decompressed.

    Returns
    -------
    dict
        ``qrels[qid][doc]`` is the relevance of a document, a whole number.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rankwise.trec import load_qrels
    >>> _ = Path("qrels.txt").write_text("301 0 d7 2\\n301 0 d3 0\\n")
    >>> load_qrels("qrels.txt")
    {'301': {'d7': 2, 'd3': 0}}
    """
    return _read(as_path(path), _QRELS, partial(whole_number, name="relevance"))


def save_run(run: Run, path: str | PathLike[str], *, tag: str = "rankwise") -> None:
    """Write a TREC run, each query's documents by descending score.

    Tied documents are in descending order of their names, which is the order that trec_eval assumes. Scores
    are written with all their digits.

    Parameters
    ----------
    run : dict of dicts
        Scores by query and document.
    path : path
        ``.gz``, ``.bz2`` and ``.xz`` are compressed. An existing file is replaced once the new one is
        complete.
    tag : str
        The name of the system, for the last column.

    Examples
    --------
    >>> from rankwise.trec import save_run
    >>> save_run({"301": {"d3": 11.0, "d7": 12.5}}, "run.txt", tag="bm25")
    >>> print(open("run.txt").read(), end="")
    301 Q0 d7 1 12.5 bm25
    301 Q0 d3 2 11.0 bm25
    """
    _write(path, run_lines(run, tag))


def save_qrels(qrels: Qrels, path: str | PathLike[str]) -> None:
    """Write TREC qrels.

    Parameters
    ----------
    qrels : dict of dicts
        Whole numbers by query and document.
    path : path
        As in `save_run`.

    Examples
    --------
    >>> from rankwise.trec import save_qrels
    >>> save_qrels({"301": {"d7": 2, "d3": 0}}, "qrels.txt")
    >>> print(open("qrels.txt").read(), end="")
    301 0 d7 2
    301 0 d3 0
    """
    _write(path, _qrels_lines(qrels))


def run_from_scores(data: RankingData, scores: ArrayLike) -> dict[str, dict[str, float]]:
    """Convert the scores of rows to a run, by query and document.

    Parameters
    ----------
    data : RankingData
        Rows with document labels; without queries, all of them belong to the query "1".
    scores : array-like, shape (m,)
        The score of each row.

    Returns
    -------
    dict

    Examples
    --------
    >>> from rankwise import RankingData
    >>> from rankwise.trec import run_from_scores
    >>> data = RankingData.from_arrays([[1.0], [2.0]], y=[2, 0], qid=[301, 301], docs=["d7", "d3"])
    >>> run_from_scores(data, [12.5, 11.0])
    {'301': {'d7': 12.5, 'd3': 11.0}}
    """
    data = check_kind("data", data, RankingData)
    return values_by_name(data, check_labels(scores, data.n_rows, name="scores").tolist())


def qrels_from_data(data: RankingData) -> dict[str, dict[str, int]]:
    """Convert the labels of rows to qrels, by query and document.

    Parameters
    ----------
    data : RankingData
        Rows with document labels, whose labels are whole numbers.

    Returns
    -------
    dict

    Examples
    --------
    >>> from rankwise import RankingData
    >>> from rankwise.trec import qrels_from_data
    >>> data = RankingData.from_arrays([[1.0], [2.0]], y=[2, 0], qid=[301, 301], docs=["d7", "d3"])
    >>> qrels_from_data(data)
    {'301': {'d7': 2, 'd3': 0}}
    """
    for row, label in enumerate(check_kind("data", data, RankingData).y.tolist()):
        if not label.is_integer():
            raise DataError(f"Qrels hold whole numbers, but row {row} has the label {label:g}.")
    return values_by_name(data, [int(label) for label in data.y.tolist()])


def run_lines(run: Run, tag: str) -> Iterator[str]:
    """The lines of a run, after checking that they will be read back as they are."""
    _check_word("tag", tag)
    for qid, scores in check_kind("run", run, Mapping).items():
        _check_names(qid, scores)
        for doc, score in scores.items():
            if not math.isfinite(score):
                raise DataError(
                    f"The document {doc!r} of query {qid!r} has the score {score}; must be finite."
                )
    return (
        f"{qid} Q0 {doc} {rank} {float(scores[doc])!r} {tag}\n"
        for qid, scores in run.items()
        # Among equal scores, names descend; larger scores come first.
        for rank, doc in enumerate(sorted(scores, key=lambda d: (scores[d], d), reverse=True), start=1)
    )


def _qrels_lines(qrels: Qrels) -> Iterator[str]:
    for qid, judged in check_kind("qrels", qrels, Mapping).items():
        _check_names(qid, judged)
        for doc, relevance in judged.items():
            if not math.isfinite(relevance) or relevance != int(relevance):
                raise DataError(
                    f"Qrels hold whole numbers, but the document {doc!r} of query {qid!r} has {relevance}."
                )
            yield f"{qid} 0 {doc} {int(relevance)}\n"


def _read(
    path: Path, columns: str, value_of: Callable[[dict[str, str]], Number]
) -> dict[str, dict[str, Number]]:
    values: dict[str, dict[str, Number]] = {}
    with open_delimited(path) as lines:
        lines.names, lines.delimiter = columns.split(), None
        for fields in lines:
            qid, doc = fields["qid"], fields["doc"]
            named = values.setdefault(qid, {})
            if doc in named:
                raise DataError(f"the query {qid!r} contains the document {doc!r} more than once.")
            named[doc] = value_of(fields)
    if not values:
        raise FileFormatError(path, f"the file is empty; expected lines of '{columns}'.")
    return values


def _check_names(qid: str, docs: Iterable[str]) -> None:
    _check_word("query", qid)
    for doc in docs:
        _check_word("document", doc)


def _check_word(what: str, name: str) -> None:
    if not isinstance(name, str) or len(name.split()) != 1 or not name.isprintable():
        raise DataError(
            f"TREC files require names without spaces or control characters; got the {what} {name!r}."
        )


def _write(path: str | PathLike[str], lines: Iterable[str]) -> None:
    with replacing_file(path) as beside, create_text(beside) as file:
        file.writelines(line.encode() for line in lines)
