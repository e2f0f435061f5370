"""Data that is not nice, and what rankers make of it in 60-digit arithmetic."""

import numpy as np
from scipy import sparse

from sixty_digits import exact, least_norm, rounded, solve


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


def _misaligned(rng):
    return tuple(misaligned(array) for array in _plain(rng))


def misaligned(array):
    """A copy whose elements start at odd bytes, as in messages and packed files."""
    moved = np.frombuffer(bytearray(array.nbytes + 1), array.dtype, offset=1).reshape(array.shape)
    moved[...] = array
    return moved


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
    "misaligned": _misaligned,
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


def pair_weights(y, qid, ties, weighting, weight=None):
    i, j = pairs_of(y, qid, ties)
    s = exact(np.ones(len(y)) if weight is None else weight)
    products, by = s[i] * s[j], {}
    for q in np.unique(qid):
        total = s[qid == q].sum()
        count = total * (total - 1) / 2 if ties == "keep" else products[qid[i] == q].sum()
        by[q] = {"pair": 1, "example": total, "query": count}[weighting]
    return products / np.array([by[q] for q in qid[i]], dtype=object)


def exact_rankrls(X, y, qid, alpha, ties="keep", weighting="example"):
    """Exact differences of scores, one for each pair of `pairs_of(y, qid)` with ties kept."""
    return exact_differences(X, exact_weights(X, y, qid, alpha, ties, weighting), *pairs_of(y, qid))


def exact_weights(X, y, qid, alpha, ties="keep", weighting="example", weight=None):
    """Ridge regression on the differences of pairs, solved in the space of pairs or of features.

    With alpha = 0, the solution of smallest norm.
    """
    X, alpha = exact(X), exact(alpha)
    i, j = pairs_of(y, qid, ties)
    root = np.sqrt(pair_weights(y, qid, ties, weighting, weight))
    D, t = root[:, None] * (X[i] - X[j]), root * (exact(y[i]) - exact(y[j]))
    if alpha == 0:
        return least_norm(D.T @ D, D.T @ t)
    if X.shape[1] <= len(i):
        return solve(D.T @ D + alpha * exact(np.eye(X.shape[1])), D.T @ t)
    return D.T @ solve(D @ D.T + alpha * exact(np.eye(len(i))), t)


def exact_differences(X, w, i, j):
    """``(x_i − x_j) · w`` in full precision, rounded once."""
    X = exact(X)
    return rounded((X[i] - X[j]) @ exact(w))


def exact_kernel(X, kernel, gamma, degree=3, coef0=1):
    """All kernel values between the rows."""
    X, gamma = exact(X), exact(gamma)
    of = {
        "linear": lambda: X @ X.T,
        "polynomial": lambda: (gamma * (X @ X.T) + coef0) ** degree,
        "rbf": lambda: np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2)),
    }
    return of[kernel]()


def exact_kernel_rankrls(K, y, qid, alpha, basis=None):
    """Exact differences of scores of a kernel model on all rows or on basis vectors."""
    basis = range(len(y)) if basis is None else basis
    scores = exact_kernel_scores(K, y, qid, alpha, range(len(y)), range(len(y)), basis)
    i, j = pairs_of(y, qid)
    return rounded(scores[i] - scores[j])


def exact_kernel_scores(K, y, qid, alpha, train, rows, basis=None):
    """Exact scores of rows by a kernel model of training rows, of which y and qid are."""
    basis, alpha = train if basis is None else basis, exact(alpha)
    K_MR = K[np.ix_(train, basis)]
    t, centred = _centred(exact(y), qid), _centred(K_MR, qid)
    if len(basis) == len(y):
        coef = solve(centred + alpha * exact(np.eye(len(y))), t)
    else:
        coef = solve(K_MR.T @ centred + alpha * K[np.ix_(basis, basis)], K_MR.T @ t)
    return K[np.ix_(rows, basis)] @ coef


def _centred(values, qid):
    """``L`` times the values: they minus the mean of their query."""
    centred = values.copy()
    for q in np.unique(qid):
        centred[qid == q] -= values[qid == q].sum(axis=0) / np.count_nonzero(qid == q)
    return centred


def exact_hinge_objective(X, y, qid, w, alpha, *, squared=False):
    """``R(w) + alpha ‖w‖²`` with every query weighted equally, for weights in double precision."""
    i, j = pairs_of(y, qid, "drop")
    X, w, sign = exact(X), exact(w), exact(np.sign(y[i] - y[j]))
    slack = np.maximum(1 - sign * ((X[i] - X[j]) @ w), 0)
    share = pair_weights(y, qid, "drop", "query")
    loss = share @ (slack**2 if squared else slack) / share.sum()
    return float(loss + exact(alpha) * (w @ w))
