"""Explicit O(m²) pair code: the reference for all fast code. Never shipped."""

import numpy as np


def pair_laplacian(y, qid, *, ties="keep", weighting="example", weight=None):
    """The m × m Laplacian of all pairs within queries, built pair by pair."""
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


def pair_errors(y, scores, weight=None):
    """Pairwise error (paper C, equation 1) and disagreement error (paper B, equation 1) of one ranking."""
    y, scores = np.asarray(y, dtype=float), np.asarray(scores, dtype=float)
    s = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    above = y[:, None] > y[None, :]
    heaviside = np.heaviside(np.sign(scores[None, :] - scores[:, None]), 0.5)
    pair_weight = np.where(above, np.outer(s, s), 0.0)
    other = ~np.eye(len(y), dtype=bool)
    signs = np.sign(np.subtract.outer(y, y)) - np.sign(np.subtract.outer(scores, scores))
    with np.errstate(invalid="ignore"):
        return {
            "pairwise": (pair_weight * heaviside).sum() / pair_weight.sum(),
            "disagreement": np.divide(0.5 * np.abs(signs[other]).sum(), other.sum()),
        }


def hinge_pairs(y, qid, *, weighting="query", weight=None):
    """Rows (i, j) of every pair with i preferred, and weights that sum to 1."""
    m = len(y)
    s = np.ones(m) if weight is None else np.asarray(weight, dtype=float)
    found, weights = [], []
    for q in dict.fromkeys(qid):
        rows = [i for i in range(m) if qid[i] == q]
        pairs = [(i, j) for i in rows for j in rows if y[i] > y[j]]
        count = sum(s[i] * s[j] for i, j in pairs)
        if count > 0:
            denominator = {"example": sum(s[i] for i in rows), "pair": 1.0, "query": count}[weighting]
            found += pairs
            weights += [s[i] * s[j] / denominator for i, j in pairs]
    return np.array(found, dtype=int).reshape(-1, 2), np.array(weights) / np.sum(weights)


def pair_hinge(y, qid, scores, **options):
    """Risk and gradient of the hinge and of the squared hinge, the squared one's Hessian, pair by pair."""
    pairs, weights = hinge_pairs(y, qid, **options)
    m = len(y)
    risk = squared = 0.0
    gradient, squared_gradient, hessian = np.zeros(m), np.zeros(m), np.zeros((m, m))
    for (i, j), w in zip(pairs, weights, strict=True):
        if scores[i] - scores[j] < 1:
            slack = 1 - (scores[i] - scores[j])
            e = np.zeros(m)
            e[i], e[j] = 1, -1
            risk += w * slack
            gradient -= w * e
            squared += w * slack**2
            squared_gradient -= 2 * w * slack * e
            hessian += 2 * w * np.outer(e, e)
    return risk, gradient, squared, squared_gradient, hessian
