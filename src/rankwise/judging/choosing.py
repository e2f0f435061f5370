"""What to judge next: at random from a reserve of queries, otherwise what teaches the model most."""

from __future__ import annotations

from hashlib import sha256

import numpy as np

from rankwise.judging.collection import Collection
from rankwise.judging.entries import Reason
from rankwise.judging.in_effect import Judgments
from rankwise.judging.live_model import LiveModel
from rankwise.ridge.knowledge import Knowledge
from rankwise.ridge.teaching import Documents, PairsToCompare, wanted_differences
from rankwise.types import Floats, Ints

# One query in so many is judged at random, and visited as often.
RESERVE = 4
# Fewer queries leave nothing to compare a reserve with.
LEAST_QUERIES = 4
# Of so many queries drawn at random, the one that teaches most comes next.
QUERIES_LOOKED_AT = 30


class Chooser:
    """Chooses queries, documents and pairs.

    Judgments that teach most are not a sample of anything, and what is estimated on them is biased. So a
    quarter of the queries is a reserve, the same in every session: there, documents and pairs are drawn
    at random, and only they say how good the model is.

    Parameters
    ----------
    collection : Collection
    rng : Generator
    """

    def __init__(self, collection: Collection, rng: np.random.Generator) -> None:
        self._collection, self._rng = collection, rng
        self._wanted = wanted_differences(collection.X, collection.queries)
        n_queries = collection.queries.n_queries
        by_digest = sorted(collection.names, key=lambda name: sha256(name.encode(errors="replace")).digest())
        n_reserved = max(1, round(n_queries / RESERVE)) if n_queries >= LEAST_QUERIES else 0
        self.reserve = frozenset(collection.names[name] for name in by_digest[:n_reserved])

    def document(self, query: int, judgments: Judgments, model: LiveModel) -> tuple[int, Reason] | None:
        """The document of a query to judge next; None if all are judged."""
        judged = self._judged(query, judgments)
        rows = self._collection.queries.rows_of(query)
        left = rows[~np.isin(rows, judged)]
        if len(left) == 0:
            return None
        if query in self.reserve:
            return int(self._rng.choice(left)), Reason.RANDOM
        known = np.zeros(self._collection.X.shape[0], dtype=np.bool_)
        known[judged] = True
        found = Documents(self._collection.X, self._collection.queries, known).best(
            query, self._knowledge(model), self._wanted
        )
        return (int(left[0]) if found is None else found.rows[0]), Reason.TEACHES

    def pair(
        self, query: int, judgments: Judgments, model: LiveModel
    ) -> tuple[tuple[int, int], Reason] | None:
        """Two documents of a query to compare next; None if all pairs were compared."""
        rows = self._collection.queries.rows_of(query)
        name, n = self._collection.name(query), len(rows)
        compared = [
            tuple(self._collection.row(name, doc) for doc in docs)
            for docs, _ in judgments.of_query(name)
            if len(docs) == 2
        ]
        if len(compared) >= n * (n - 1) // 2:
            return None
        if query in self.reserve:
            seen = {frozenset(pair) for pair in compared}
            while True:
                first, second = self._rng.choice(rows, 2, replace=False).tolist()
                if {first, second} not in seen:
                    return (first, second), Reason.RANDOM
        candidates = PairsToCompare(
            self._collection.X, self._collection.queries, np.array(compared, dtype=np.int64)
        )
        found = candidates.best(query, self._knowledge(model), self._wanted)
        if found is None:
            return None
        first, second = self._rng.permutation(found.rows).tolist()  # the left one is not the better one
        return (first, second), Reason.TEACHES

    def query(self, judgments: Judgments, model: LiveModel, *, pairs: bool, but: int | None) -> int | None:
        """The query to judge next, other than the present one; None if nothing is left to judge."""
        n_queries = self._collection.queries.n_queries
        order = [q for q in self._rng.permutation(n_queries).tolist() if q != but]
        if but is not None:
            order.append(but)
        reserved = [q for q in order if q in self.reserve]
        others = [q for q in order if q not in self.reserve]
        if self._rng.random() < 1.0 / RESERVE or not others:
            reserved, others = [], reserved + others
            ranked = others
        else:
            looked, rest = others[:QUERIES_LOOKED_AT], others[QUERIES_LOOKED_AT:]
            worth = self._worth(looked, judgments, model, pairs=pairs)
            ranked = [looked[k] for k in np.argsort(-worth, kind="stable")] + rest + reserved
        has_more = self.pair if pairs else self.document
        return next((q for q in ranked if has_more(q, judgments, model) is not None), None)

    def _worth(self, queries: list[int], judgments: Judgments, model: LiveModel, *, pairs: bool) -> Floats:
        """What the best judgment of each of these queries teaches."""
        known = self._knowledge(model)
        X, groups = self._collection.X, self._collection.queries
        judged = np.zeros(X.shape[0], dtype=np.bool_)
        for query in queries:
            judged[self._judged(query, judgments)] = True
        candidates = PairsToCompare(X, groups) if pairs else Documents(X, groups, judged)
        found = [candidates.best(query, known, self._wanted) for query in queries]
        return np.array([-1.0 if one is None else one.worth for one in found])

    def _judged(self, query: int, judgments: Judgments) -> Ints:
        """The rows of a query that were graded or skipped."""
        name = self._collection.name(query)
        about = [docs[0] for docs, _ in judgments.of_query(name) if len(docs) == 1]
        return np.array([self._collection.row(name, doc) for doc in about], dtype=np.int64)

    @staticmethod
    def _knowledge(model: LiveModel) -> Knowledge:
        return Knowledge.of(model.quadratic, model.alpha)
