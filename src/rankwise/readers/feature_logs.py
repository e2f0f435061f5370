"""Feature logs as search engines write them, joined to judgments.

Elasticsearch's and OpenSearch's learning-to-rank plugin log features in the hits of a search, Solr in the
documents of a response::

    {"hits": {"hits": [{"_id": "7", "fields": {"_ltrlog": [{"log": [{"name": "bm25", "value": 9.5}]}]}}]}}
    {"response": {"docs": [{"id": "7", "[features]": "bm25=9.5,age=2.0"}]}}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from os import PathLike

import numpy as np

from rankwise.errors import FileFormatError, warn_caller
from rankwise.files import as_paths
from rankwise.readers.logged_documents import LTRLOG, SOLR, LoggedDocument, logged_documents
from rankwise.rows.ranking import RankingData
from rankwise.rows.storage import is_dense
from rankwise.types import Matrix
from rankwise.validation import check_choice, check_kind


class Unjudged(StrEnum):
    """What becomes of logged documents without a judgment."""

    LEAVE_OUT = "leave-out"
    ZERO = "zero"


def load_feature_log(
    path: str | PathLike[str] | Sequence[str | PathLike[str]],
    judgments: Mapping[str, Mapping[str, float]],
    *,
    qid: str = "qid",
    doc: str | None = None,
    unjudged: str = "leave-out",
) -> RankingData:
    """Read features that a search engine has logged, and join them to judgments by query and document.

    The file holds responses of Elasticsearch or OpenSearch (``_ltrlog`` in the fields of hits) or of Solr
    (``[features]`` in documents): one JSON value for all of them, a list, ``{"responses": [...]}`` from a
    multi-search, or one value per line; single hits or documents are accepted, too. Engines do not repeat the
    query in their responses, so each response (or hit) must name its query under the key `qid`, or each Solr
    request must pass it as a parameter of that name, which Solr returns in the header. A feature that is
    missing from a document is 0, as it is when the engine scores with a linear model.

    Parameters
    ----------
    path : path or list of paths
        ``.gz``, ``.bz2`` and ``.xz`` are decompressed.
    judgments : dict of dicts
        Labels by query and document, such as those of `rankwise.trec.load_qrels`.
    qid : str
        The key of the query.
    doc : str, optional
        The field of a document that holds its name in the judgments, in its ``_source`` for Elasticsearch; by
        default ``_id`` for Elasticsearch and ``id`` for Solr.
    unjudged : {"leave-out", "zero"}
        What to do with logged documents that have no judgment: leave them out, with a warning, or label them
        0. A warning is also given if judged documents of a logged query were not logged.

    Returns
    -------
    RankingData
        With the feature names of the engine, in the order of their first appearance. X is dense if at least
        half of the features are present, CSR otherwise.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rankwise import load_feature_log
    >>> logged = '{"qid": "rambo", "response": {"docs": [{"id": "7", "[features]": "bm25=9.5,age=2.0"}]}}'
    >>> _ = Path("log.jsonl").write_text(logged)
    >>> data = load_feature_log("log.jsonl", {"rambo": {"7": 4}})
    >>> data.feature_names, data.X, data.y
    (('bm25', 'age'), array([[9.5, 2. ]]), array([4.]))
    """
    paths = as_paths(path)
    judgments = check_kind("judgments", judgments, Mapping)
    qid, doc = check_kind("qid", qid, str), check_kind("doc", doc, str, optional=True)
    keep_all = check_choice("unjudged", unjudged, Unjudged) is Unjudged.ZERO
    logged = [document for file in paths for document in logged_documents(file, qid, doc)]
    if not logged:
        raise FileFormatError(paths[0], f"no document has logged features ('{LTRLOG}' or '{SOLR}').")
    _check_unique(logged)
    judged = _judged(logged, judgments)
    kept = logged if keep_all else judged
    if len(kept) < len(logged):
        warn_caller(
            f"{paths[0]}: {len(logged) - len(kept)} of {len(logged)} documents are not judged; left out."
        )
    names = list(dict.fromkeys(name for one in kept for name in one.features))
    if not names:
        raise FileFormatError(paths[0], "no document has any feature.")
    return RankingData.from_arrays(
        _matrix(kept, names),
        [float(judgments.get(one.qid, {}).get(one.doc, 0)) for one in kept],
        [one.qid for one in kept],
        [one.doc for one in kept],
        names,
    )


def _matrix(logged: list[LoggedDocument], names: list[str]) -> Matrix:
    """The features of all documents; CSR if most are missing, as each document may have its own."""
    from scipy import sparse

    column = {name: k for k, name in enumerate(names)}
    rows = np.repeat(np.arange(len(logged)), [len(one.features) for one in logged])
    columns = [column[name] for one in logged for name in one.features]
    values = np.array([value for one in logged for value in one.features.values()])
    X = sparse.csr_matrix((values, (rows, columns)), shape=(len(logged), len(names)))
    return X.toarray() if is_dense("auto", len(values), *X.shape) else X


def _check_unique(logged: list[LoggedDocument]) -> None:
    seen: dict[tuple[str, str], LoggedDocument] = {}
    for one in logged:
        first = seen.setdefault((one.qid, one.doc), one)
        if first is not one:
            before = f"was logged before, in {first.path}, line {first.line}"
            raise FileFormatError(
                one.path, f"the document {one.doc!r} of query {one.qid!r} {before}.", one.line
            )


def _judged(
    logged: list[LoggedDocument], judgments: Mapping[str, Mapping[str, float]]
) -> list[LoggedDocument]:
    """The documents that have a judgment; a warning says if judged documents were not logged."""
    judged = [one for one in logged if one.doc in judgments.get(one.qid, ())]
    if not judged:
        first = logged[0]
        raise FileFormatError(
            first.path,
            f"none of {len(logged)} documents is judged, such as {first.doc!r} of query {first.qid!r}; the "
            f"judgments have queries such as {next(iter(judgments), None)!r}.",
        )
    n_expected = sum(len(judgments.get(qid, ())) for qid in {one.qid for one in logged})
    if len(judged) < n_expected:
        warn_caller(
            f"{logged[0].path}: {n_expected - len(judged)} of {n_expected} judged documents of these queries "
            "were not logged."
        )
    return judged
