"""Explicit O(m²) pair code: the oracle that everything fast is held against. Never shipped."""

import numpy as np


def pair_laplacian(y, qid, *, ties="keep", weighting="example", weight=None):
    """The m × m Laplacian of all pairs inside queries, built pair by pair."""
    m = len(y)
    s = np.ones(m) if weight is None else np.asarray(weight, dtype=float)
    L = np.zeros((m, m))
    for q in dict.fromkeys(qid):
        rows = [i for i in range(m) if qid[i] == q]
        pairs = [(i, j) for a, i in enumerate(rows) for j in rows[a + 1 :] if ties == "keep" or y[i] != y[j]]
        total = sum(s[i] for i in rows)
        # With ties kept, a row of weight 2 counts as two rows, which are themselves a (tied) pair.
        count = total * (total - 1) / 2 if ties == "keep" else sum(s[i] * s[j] for i, j in pairs)
        denominator = {"example": total, "pair": 1.0, "query": count}[weighting]
        for i, j in pairs:
            w = s[i] * s[j] / denominator if denominator > 0 else 0.0
            L[i, i] += w
            L[j, j] += w
            L[i, j] -= w
            L[j, i] -= w
    return L
