"""Feature logs as search engines write them, joined to judgments.

Elasticsearch's and OpenSearch's learning-to-rank plugin log features in the hits of a search, Solr in the
documents of a response::

    {"hits": {"hits": [{"_id": "7", "fields": {"_ltrlog": [{"log": [{"name": "bm25", "value": 9.5}]}]}}]}}
    {"response": {"docs": [{"id": "7", "[features]": "bm25=9.5,age=2.0"}]}}
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from rankwise.errors import FileFormatError, warn_caller
from rankwise.files import as_paths
from rankwise.foreign_json import parse_json
from rankwise.numerals import read_float
from rankwise.readers.text import BLOCK_BYTES, open_text
from rankwise.rows.csr import is_dense
from rankwise.rows.ranking import RankingData
from rankwise.types import Matrix
from rankwise.validation import check_choice, check_kind

_LTRLOG, _SOLR = "_ltrlog", "[features]"
MAX_LOG_BYTES = 1 << 30


class Unjudged(StrEnum):
    """What becomes of logged documents without a judgment."""

    LEAVE_OUT = "leave-out"
    ZERO = "zero"


@dataclass(frozen=True)
class LoggedDocument:
    """The features of one document for one query, and where they come from."""

    qid: str
    doc: str
    features: dict[str, float]
    path: Path
    line: int


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
    multi-search, or one value per line; single hits or documents will do. As engines do not return what they
    were asked, each response (or hit) must name its query under the key `qid`, or each Solr request must pass
    it as a parameter of that name, which is returned in the header. A feature that is missing from a document
    is 0, as it is when the engine scores with a linear model.

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
        0. There is a warning, too, if judged documents of a logged query were not logged.

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
    logged = [
        document
        for file in paths
        for line, response in _responses(file)
        for document in _Reader(file, line, qid, doc).documents(response)
    ]
    if not logged:
        raise FileFormatError(paths[0], f"no document has logged features ('{_LTRLOG}' or '{_SOLR}').")
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


@dataclass(frozen=True)
class _Reader:
    """Finds logged documents in a JSON value of one line of a file."""

    path: Path
    line: int
    qid: str
    doc: str | None

    def documents(self, value: Any, qid: Any = None) -> Iterator[LoggedDocument]:
        """The documents of one response or several, or a single one; `qid` is the query around it."""
        if isinstance(value, list):
            for entry in value:
                yield from self.documents(entry, qid)
            return
        if not isinstance(value, dict):
            raise self.error(f"expected a response or a document as an object; found {str(value)[:40]!r}.")
        if "error" in value:
            raise self.error(f"the engine answered with an error: {str(value['error'])[:200]}.")
        qid = self._query_of(value, qid)
        within = _within(value)
        if within is not None:
            yield from self.documents(within, qid)
            return
        if qid is None:
            raise self.error(f"there is no query label; expected the key {self.qid!r} in the response.")
        features = self._features_of(value)
        yield LoggedDocument(str(qid), self._name_of(value), features, self.path, self.line)

    def _query_of(self, value: dict[str, Any], around: Any) -> Any:
        """The query label of a response or document: its own, that of Solr's header, or that around it."""
        params = _at(value, "responseHeader", "params")
        found = value.get(self.qid, _at(params, self.qid))
        if found is None:
            return around
        if isinstance(found, bool) or not isinstance(found, str | int):
            raise self.error(f"the query label {self.qid!r} must be text or a whole number; got {found!r}.")
        return found

    def _name_of(self, value: dict[str, Any]) -> str:
        places = (
            [(self.doc,), ("_source", self.doc), ("fields", self.doc)] if self.doc else [("_id",), ("id",)]
        )
        for place in places:
            found = _at(value, *place)
            found = found[0] if isinstance(found, list) and len(found) == 1 else found
            if isinstance(found, str | int) and not isinstance(found, bool):
                return str(found)
        raise self.error(
            f"a document has no name; expected the key {' or '.join(repr(p[-1]) for p in places)}."
        )

    def _features_of(self, value: dict[str, Any]) -> dict[str, float]:
        entries = _at(value, "fields", _LTRLOG)
        if entries is not None:
            pairs = self._of_elasticsearch(entries)
        elif _SOLR in value:
            pairs = self._of_solr(value[_SOLR])
        else:
            keys = ", ".join(sorted(value)[:8])
            raise self.error(f"a document has no logged features ('{_LTRLOG}' or '{_SOLR}'), only {keys}.")
        features: dict[str, float] = {}
        for name, number in pairs:
            if name in features:
                raise self.error(f"a document has the feature {name!r} more than once.")
            features[name] = number
        return features

    def _of_elasticsearch(self, entries: Any) -> Iterator[tuple[str, float]]:
        """Features under the names of their log specs; one without a value did not match."""
        specs = entries if isinstance(entries, list) else [entries]
        for spec in specs:
            logs = list(spec.values()) if isinstance(spec, dict) else [None]
            for entry in [entry for log in logs for entry in (log if isinstance(log, list) else [None])]:
                if not (isinstance(entry, dict) and isinstance(entry.get("name"), str)):
                    raise self.error(
                        f"'{_LTRLOG}' must hold lists of names and values; got {str(spec)[:60]}."
                    )
                if "value" in entry:
                    yield entry["name"], self._number(entry["name"], entry["value"])
                else:
                    yield entry["name"], 0.0

    def _of_solr(self, text: Any) -> Iterator[tuple[str, float]]:
        if not isinstance(text, str):
            raise self.error(f"'{_SOLR}' must be text such as 'bm25=9.5,age=2.0'; got {str(text)[:60]}.")
        for part in filter(None, text.split(",")):
            name, equals, value = part.rpartition("=")
            if not (name and equals):
                raise self.error(f"'{_SOLR}' must be text such as 'bm25=9.5,age=2.0'; got {text[:60]!r}.")
            yield name, self._number(name, value)

    def _number(self, name: str, value: Any) -> float:
        try:
            read = read_float if isinstance(value, str) else float
            number = math.nan if isinstance(value, bool) else read(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise self.error(f"the feature {name!r} must be a finite number; got {str(value)[:40]!r}.")
        return number

    def error(self, message: str) -> FileFormatError:
        return FileFormatError(self.path, message, self.line)


def _within(value: dict[str, Any]) -> Any:
    """What a response or a multi-search contains; None for a hit or document."""
    for place in (("responses",), ("hits", "hits"), ("hits",), ("response", "docs")):
        found = _at(value, *place)
        if isinstance(found, list):
            return found
    return None


def _at(value: Any, *keys: str) -> Any:
    """The entry of nested objects; None if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _responses(path: Path) -> Iterator[tuple[int, Any]]:
    """The JSON values of a file, one per line or one for the whole file, with their lines."""
    content = bytearray()
    with open_text(path) as file:
        while block := file.read(BLOCK_BYTES):
            content += block
            if len(content) > MAX_LOG_BYTES:
                raise FileFormatError(path, f"the log is larger than {MAX_LOG_BYTES:,} bytes; split it.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].count(b"\n")
        raise FileFormatError(path, "the log is not UTF-8 text.", before + 1) from None
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not lines:
        raise FileFormatError(path, "the file is empty; expected responses of a search engine as JSON.")
    try:
        parse_json(lines[0][1])
    except ValueError:  # the first line is not a value by itself, so the file must be one
        lines = [(lines[0][0], text)]
    for number, line in lines:
        try:
            yield number, parse_json(line)
        except ValueError as error:
            at = getattr(error, "lineno", 1) - 1 if len(lines) == 1 else 0
            reason = getattr(error, "msg", str(error))
            raise FileFormatError(path, f"not valid JSON: {reason}.", number + at) from None
