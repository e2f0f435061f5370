"""Data that is not nice, and what rankers make of it in 60-digit arithmetic."""

import mpmath
import numpy as np
from scipy import sparse

mpmath.mp.dps = 60


def _plain(rng, m=24, n=4, n_queries=5):
    X = rng.normal(size=(m, n))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=m), [-0.5, 0.5]).astype(float)
    return X, y, rng.permutation(np.arange(m) % n_queries)


def _offset(by):
    def make(rng):
        X, y, qid = _plain(rng)
        return X + by, y, qid

    return make


def _timestamps(rng):
    """One column far from zero, at another place in every query."""
    X, y, qid = _plain(rng)
    X[:, 1] = 1.7e9 + 1e7 * qid + 1e3 * X[:, 1]
    return X, y, qid


def _scales(rng):
    X, y, qid = _plain(rng)
    X[:, 2] *= 1e7
    return X, y, qid


def _single_precision(rng):
    X, y, qid = _plain(rng)
    return (X + 100.0).astype(np.float32), y, qid


def _integers(rng):
    X, y, qid = _plain(rng)
    return np.round(2.0 * X), y, qid


def _repeated(rng):
    X, y, qid = _plain(rng)
    X[12:] = X[:12]
    return X, y, qid


def _dominated(rng):
    """A feature that only one query has, a million times larger than the others."""
    X, y, qid = _plain(rng)
    X[:, 3] = np.where(qid == 2, 1e6 * X[:, 3], 0.0)
    return X, y, qid


def _small_queries(rng):
    """Queries of one row, and queries whose labels are all tied."""
    X, y, qid = _plain(rng)
    qid[:3] = [10, 11, 12]
    y[qid == 1] = 1.0
    return X, y, qid


def _wide(rng):
    return _plain(rng, m=14, n=40, n_queries=3)


def _wide_timestamps(rng):
    X, y, qid = _wide(rng)
    X[:, 5] = 1.7e9 + 1e5 * X[:, 5]
    return X, y, qid


def _constants(rng):
    X, y, qid = _plain(rng)
    X[:, 1], X[:, 2] = 0.0, 1e6
    return X, y, qid


def _sparse(rng):
    X, y, qid = _plain(rng, m=30, n=6)
    X[rng.random(X.shape) < 0.6] = 0.0
    X[::7] = 0.0
    return sparse.csr_matrix(X), y, qid


def _sparse_offset(rng):
    """Sparse rows that all store a column far from zero."""
    X, y, qid = _plain(rng, m=30, n=6)
    X[rng.random(X.shape) < 0.5] = 0.0
    X[:, 2] = 1e9 + 1e3 * rng.normal(size=30)
    return sparse.csr_matrix(X), y, qid


KINDS = {
    "plain": _plain,
    "offset 1e6": _offset(1e6),
    "offset 1e9": _offset(1e9),
    "timestamps": _timestamps,
    "scales": _scales,
    "float32": _single_precision,
    "integers": _integers,
    "repeated rows": _repeated,
    "dominating query": _dominated,
    "one-row and tied queries": _small_queries,
    "more features than rows": _wide,
    "wide timestamps": _wide_timestamps,
    "constant columns": _constants,
    "sparse": _sparse,
    "sparse offset": _sparse_offset,
}


def stressed(kind, seed=0):
    """X, y and qid of a kind."""
    return KINDS[kind](np.random.default_rng(seed))


def dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def pairs_of(y, qid, ties="keep"):
    """All pairs (i, j) of rows in the same query, i < j; without tied ones if they are dropped."""
    i, j = np.triu_indices(len(y), 1)
    kept = (qid[i] == qid[j]) & ((ties == "keep") | (y[i] != y[j]))
    return i[kept], j[kept]


def pair_weights(y, qid, ties, weighting):
    i, _ = pairs_of(y, qid, ties)
    counts = {q: np.count_nonzero(qid[i] == q) for q in np.unique(qid)}
    sizes = {q: np.count_nonzero(qid == q) for q in np.unique(qid)}
    by = {"pair": lambda q: 1, "example": lambda q: sizes[q], "query": lambda q: counts[q]}[weighting]
    return [mpmath.mpf(1) / by(q) for q in qid[i]]


def exact_rankrls(X, y, qid, alpha, ties="keep", weighting="example"):
    """Exact differences of scores, one for each pair of `pairs_of(y, qid)` with ties kept."""
    return exact_differences(X, exact_weights(X, y, qid, alpha, ties, weighting), *pairs_of(y, qid))


def exact_weights(X, y, qid, alpha, ties="keep", weighting="example"):
    """Ridge regression on the differences of pairs, solved in the space of pairs or of features."""
    X, alpha = dense(X).astype(float), mpmath.mpf(float(alpha))
    i, j = pairs_of(y, qid, ties)
    root = [mpmath.sqrt(w) for w in pair_weights(y, qid, ties, weighting)]
    D = mpmath.matrix(len(i), X.shape[1])
    t = mpmath.matrix(len(i), 1)
    for e, (a, b) in enumerate(zip(i, j, strict=True)):
        t[e] = root[e] * (mpmath.mpf(y[a]) - mpmath.mpf(y[b]))
        for k in range(X.shape[1]):
            D[e, k] = root[e] * (mpmath.mpf(float(X[a, k])) - mpmath.mpf(float(X[b, k])))
    if X.shape[1] <= len(i):
        return mpmath.lu_solve(D.T * D + alpha * mpmath.eye(X.shape[1]), D.T * t)
    return D.T * mpmath.lu_solve(D * D.T + alpha * mpmath.eye(len(i)), t)


def exact_differences(X, w, i, j):
    """``(x_i − x_j) · w`` in full precision, rounded once."""
    X, weights = dense(X).astype(float), list(w)
    moved = [
        [mpmath.mpf(float(p)) - mpmath.mpf(float(q)) for p, q in zip(*rows, strict=True)]
        for rows in zip(X[i], X[j], strict=True)
    ]
    return np.array([float(mpmath.fdot(row, weights)) for row in moved])


def exact_kernel(X, kernel, gamma, degree=3, coef0=1):
    """All kernel values between the rows."""
    rows = [[mpmath.mpf(float(v)) for v in row] for row in dense(X)]
    of = {
        "linear": mpmath.fdot,
        "polynomial": lambda a, b: (mpmath.mpf(gamma) * mpmath.fdot(a, b) + coef0) ** degree,
        "rbf": lambda a, b: mpmath.exp(
            -mpmath.mpf(gamma) * sum((p - q) ** 2 for p, q in zip(a, b, strict=True))
        ),
    }[kernel]
    return mpmath.matrix([[of(a, b) for b in rows] for a in rows])


def exact_kernel_rankrls(K, y, qid, alpha, basis=None):
    """Exact differences of scores of a kernel model on all rows or on basis vectors."""
    basis = range(len(y)) if basis is None else basis
    scores = exact_kernel_scores(K, y, qid, alpha, range(len(y)), range(len(y)), basis)
    i, j = pairs_of(y, qid)
    return np.array([float(scores[a] - scores[b]) for a, b in zip(i, j, strict=True)])


def exact_kernel_scores(K, y, qid, alpha, train, rows, basis=None):
    """Exact scores of rows by a kernel model of training rows, of which y and qid are."""

    def block(of, by):
        return mpmath.matrix([[K[int(i), int(j)] for j in by] for i in of])

    m = len(y)
    sizes = {q: mpmath.mpf(np.count_nonzero(qid == q)) for q in np.unique(qid)}
    L = mpmath.matrix([[(i == j) - (qid[i] == qid[j]) / sizes[qid[i]] for j in range(m)] for i in range(m)])
    basis = train if basis is None else basis
    t, alpha, K_MR = (
        L * mpmath.matrix([mpmath.mpf(float(v)) for v in y]),
        mpmath.mpf(alpha),
        block(train, basis),
    )
    if len(basis) == m:
        coef = mpmath.lu_solve(L * K_MR + alpha * mpmath.eye(m), t)
    else:
        coef = mpmath.lu_solve(K_MR.T * L * K_MR + alpha * block(basis, basis), K_MR.T * t)
    return list(block(rows, basis) * coef)


def exact_hinge_objective(X, y, qid, w, alpha, *, squared=False):
    """``R(w) + alpha ‖w‖²`` with every query weighted equally, for weights in double precision."""
    i, j = pairs_of(y, qid, "drop")
    better, worse = np.where(y[i] > y[j], i, j), np.where(y[i] > y[j], j, i)
    weights = [mpmath.mpf(float(v)) for v in w]
    X = dense(X).astype(float)
    total = share_sum = mpmath.mpf(0)
    for a, b, share in zip(better, worse, pair_weights(y, qid, "drop", "query"), strict=True):
        moved = [mpmath.mpf(float(p)) - mpmath.mpf(float(q)) for p, q in zip(X[a], X[b], strict=True)]
        slack = max(mpmath.mpf(0), 1 - mpmath.fdot(moved, weights))
        total += share * (slack**2 if squared else slack)
        share_sum += share
    return float(total / share_sum + alpha * mpmath.fdot(weights, weights))
