"""The documents that search engines log, in the JSON of Elasticsearch, OpenSearch and Solr."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankwise.errors import FileFormatError
from rankwise.numerals import read_float
from rankwise.readers.json_values import entry_at, json_values

LTRLOG, SOLR = "_ltrlog", "[features]"


@dataclass(frozen=True)
class LoggedDocument:
    """The features of one document for one query, and where they come from."""

    qid: str
    doc: str
    features: dict[str, float]
    path: Path
    line: int


def logged_documents(path: Path, qid: str, doc: str | None) -> Iterator[LoggedDocument]:
    """The documents of a file, whose queries and names are under these keys; see `load_feature_log`."""
    for line, response in json_values(path, "responses of a search engine"):
        yield from ResponseReader(path, line, qid, doc).documents(response)


@dataclass(frozen=True)
class ResponseReader:
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
        params = entry_at(value, "responseHeader", "params")
        found = value.get(self.qid, entry_at(params, self.qid))
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
            found = entry_at(value, *place)
            found = found[0] if isinstance(found, list) and len(found) == 1 else found
            if isinstance(found, str | int) and not isinstance(found, bool):
                return str(found)
        raise self.error(
            f"a document has no name; expected the key {' or '.join(repr(p[-1]) for p in places)}."
        )

    def _features_of(self, value: dict[str, Any]) -> dict[str, float]:
        entries = entry_at(value, "fields", LTRLOG)
        if entries is not None:
            pairs = self._of_elasticsearch(entries)
        elif SOLR in value:
            pairs = self._of_solr(value[SOLR])
        else:
            keys = ", ".join(sorted(value)[:8])
            raise self.error(f"a document has no logged features ('{LTRLOG}' or '{SOLR}'), only {keys}.")
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
                    raise self.error(f"'{LTRLOG}' must hold lists of names and values; got {str(spec)[:60]}.")
                if "value" in entry:
                    yield entry["name"], self._number(entry["name"], entry["value"])
                else:
                    yield entry["name"], 0.0

    def _of_solr(self, text: Any) -> Iterator[tuple[str, float]]:
        if not isinstance(text, str):
            raise self.error(f"'{SOLR}' must be text such as 'bm25=9.5,age=2.0'; got {str(text)[:60]}.")
        for part in filter(None, text.split(",")):
            name, equals, value = part.rpartition("=")
            if not (name and equals):
                raise self.error(f"'{SOLR}' must be text such as 'bm25=9.5,age=2.0'; got {text[:60]!r}.")
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
        found = entry_at(value, *place)
        if isinstance(found, list):
            return found
    return None
