"""What raters see of a query: its documents in order, what moved, and why."""

from __future__ import annotations

from collections.abc import Container, Mapping
from hashlib import sha256
from typing import Any

import numpy as np

from rankwise.judging.collection import Collection
from rankwise.judging.in_effect import Judgments
from rankwise.judging.live_model import LiveModel
from rankwise.types import Floats, Ints

# Of longer lists, those that are not judged are shown up to this rank.
DOCUMENTS_SHOWN = 100
# So many columns are named as the reason why something moved.
COLUMNS_NAMED = 5


def query_view(
    collection: Collection,
    judgments: Judgments,
    initial: Mapping[int, float],
    model: LiveModel,
    query: int,
    *,
    before: Floats,
    blind: bool,
    wanted: Container[str],
) -> dict[str, Any]:
    """A query as plain JSON: its documents in the order of the model, or in a fixed random order if blind.

    Parameters
    ----------
    initial : dict of int to float
        The grades of rows before the first judgment.
    before : Floats, shape (n,)
        The weights from which documents moved.
    blind : bool
        Whether to leave out scores and order.
    wanted : collection of str
        Documents that are shown wherever they are.
    """
    rows, name = collection.queries.rows_of(query), collection.name(query)
    scores = model.scores(rows)
    ranks, old = ranks_of(scores), ranks_of(model.scores(rows, before))
    order = _shuffled([collection.docs[row] for row in rows.tolist()]) if blind else np.argsort(ranks)
    same = [
        field
        for field, values in collection.shown.items()
        if len(rows) > 1 and len({values[r] for r in rows.tolist()}) == 1
    ]
    said = {docs[0]: judged for docs, judged in judgments.of_query(name) if len(docs) == 1}
    docs = []
    for place, at in enumerate(order.tolist()):
        row = int(rows[at])
        doc = collection.docs[row]
        grade = said[doc].grade if doc in said else None
        known = initial.get(row) if grade is None else grade
        if place >= DOCUMENTS_SHOWN and doc not in said and doc not in wanted:
            continue
        shown = {field: values[row] for field, values in collection.shown.items() if field not in same}
        one: dict[str, Any] = {
            "doc": doc,
            "shown": shown,
            "grade": known,
            "skipped": doc in said and grade is None,
        }
        if not blind:
            one |= {"rank": int(ranks[at]) + 1, "moved": int(old[at] - ranks[at]), "score": float(scores[at])}
        docs.append(one)
    context = {field: collection.shown[field][int(rows[0])] for field in same}
    return {"query": name, "context": context, "docs": docs, "n_docs": len(rows), "blind": blind}


def ranks_of(scores: Floats) -> Ints:
    """The place of each row, from 0, best first; rows with equal scores keep their order."""
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
    return ranks


def changes(collection: Collection, query: int, before: Floats, after: Floats) -> list[dict[str, Any]]:
    """The columns whose weights changed most, by what that does to the documents of a query."""
    if (before == after).all():
        return []
    moved = collection.effects(query, after - before)
    largest = sorted(moved, key=lambda column: -abs(moved[column]))[:COLUMNS_NAMED]
    old, new = collection.effects(query, before), collection.effects(query, after)
    return [{"column": c, "before": old[c], "after": new[c]} for c in largest if moved[c] != 0.0]


def _shuffled(docs: list[str]) -> Ints:
    """A random order that is the same whenever the documents are shown."""
    digests = [sha256(doc.encode(errors="replace")).digest() for doc in docs]
    return np.array(sorted(range(len(docs)), key=digests.__getitem__), dtype=np.int64)
