"""Logs of User Behavior Insights: what a search engine answered, and the events that its pages report."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankwise.errors import FileFormatError, warn_caller
from rankwise.readers.json_values import entry_at, json_values

# The event that names a result that was shown, and the one that implies it.
IMPRESSION, CLICK = "impression", "click"


@dataclass
class _IssuedQuery:
    """A query that a user issued: its text, the results that were shown, and what was done with them.

    Attributes
    ----------
    shown, clicked : dict of str to int
        The position that events give for each result.
    actions : dict of str to set
        What was done with each result.
    """

    text: str | None = None
    application: Any = None
    hits: list[str] = field(default_factory=list)
    shown: dict[str, int] = field(default_factory=dict)
    clicked: dict[str, int] = field(default_factory=dict)
    actions: dict[str, set[str]] = field(default_factory=dict)

    def places(self, first: int) -> dict[str, int]:
        """The position of each result that was shown, from 1; events count from `first`."""
        named = {doc: place - first + 1 for doc, place in {**self.clicked, **self.shown}.items()}
        returned = {} if self.shown else {doc: rank for rank, doc in enumerate(self.hits, start=1)}
        return {**named, **returned}


def load_ubi(path: Path) -> Any:
    """Read queries and events as an arrow table with a row per result shown.

    Returns
    -------
    pyarrow.Table
        Columns ``session``, ``qid``, ``doc`` and ``position`` and, for each kind of action on results that
        were shown, one that says whether it was taken.
    """
    import pyarrow as pa

    queries = _issued_queries(path)
    first: dict[Any, int] = {}
    for query in queries.values():
        for place in (*query.shown.values(), *query.clicked.values()):
            first[query.application] = min(place, first.get(query.application, 1))
    rows: list[tuple[str, str, str, int]] = []
    taken: list[set[str]] = []
    n_unknown = 0
    for name, query in queries.items():
        places = {} if query.text is None else query.places(first.get(query.application, 1))
        n_unknown += sum(len(done) for doc, done in query.actions.items() if doc not in places)
        seen: Counter[int] = Counter()
        for doc, place in places.items():
            seen[place] += 1  # a list that is sorted or filtered shows other results at the same positions
            rows.append((f"{name}/{seen[place]}", str(query.text), doc, place))
            taken.append(query.actions.get(doc, set()))
    if not rows:
        raise FileFormatError(
            path,
            "no query with a text has results: neither 'impression' events with an object and a position, "
            "nor 'query_response_hit_ids'.",
        )
    if n_unknown:
        warn_caller(f"{path}: {n_unknown:,} actions on results that were not shown are left out.")
    names = ("session", "qid", "doc", "position")
    columns: dict[str, list[Any]] = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    for action in sorted({CLICK}.union(*taken)):
        columns[action] = [int(action in done) for done in taken]
    return pa.table(columns)


def _issued_queries(path: Path) -> dict[str, _IssuedQuery]:
    """Every query that is named by a query or an event of the file."""
    queries: dict[str, _IssuedQuery] = {}
    for line, value in json_values(path, "queries and events"):
        for entry in value if isinstance(value, list) else [value]:
            found = entry_at(entry, "_source") or entry  # as exported, with the index around it
            if not isinstance(found, dict):
                raise FileFormatError(path, f"expected an object; found {str(found)[:40]!r}.", line)
            name = found.get("query_id")
            if isinstance(name, str) and name:  # neither in the lines between documents of a bulk request
                _take_in(queries.setdefault(name, _IssuedQuery()), found)
    return queries


def _take_in(query: _IssuedQuery, found: dict[str, Any]) -> None:
    """Add what an entry of the query's or the events' index says."""
    text, action = found.get("user_query"), found.get("action_name")
    if isinstance(text, str) and text and query.text is None:
        query.text = text
    query.application = found.get("application", query.application)
    if action is None:
        hits = found.get("query_response_hit_ids")
        query.hits = [str(hit) for hit in hits] if isinstance(hits, list) else query.hits
        return
    doc = entry_at(found, "event_attributes", "object", "object_id")
    if doc is None:
        return
    place = entry_at(found, "event_attributes", "position", "ordinal")
    if isinstance(place, int) and place >= 0:
        places = {IMPRESSION: query.shown, CLICK: query.clicked}.get(action, {})
        places.setdefault(str(doc), place)
    if action != IMPRESSION:
        query.actions.setdefault(str(doc), set()).add(str(action))
