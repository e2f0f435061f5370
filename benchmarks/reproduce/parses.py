"""Table 1 of paper B and Table 8 of paper A, on a sample of their data: ranking the parses of sentences.

``python -m benchmarks.reproduce.parses --data DIR``, with DIR holding parses/rank_train.light and
parses/rank_test.light (or .xz).

THIS IS A SAMPLE: 100 training and 100 test parses of 22 and 20 sentences, where paper B had 10,000 parses of
500 sentences and 600 more for testing; linear and RBF kernels on the parses' features replace the papers'
graph kernel. It demonstrates the protocol; its numbers do not reproduce the papers'.

As in paper B, the basic methods learn from some parses of every sentence (here 3), and the sparse methods use
these as basis vectors while learning from all parses. Alpha and the width of the RBF kernel are chosen
separately for each method, by the disagreement error in 10-fold cross-validation over sentences.
"""

import argparse
from pathlib import Path

import numpy as np
from scipy import linalg, stats
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import GroupKFold

from benchmarks.reproduce._data import check_folder
from rankwise import KernelRankRLSCV, load_letor
from rankwise.metrics import get_measure

ALPHAS = 2.0 ** np.arange(-15, 16)
GAMMAS = {"linear": [1.0], "rbf": list(2.0 ** np.arange(-9, 4, 2))}
PARSES_OF_BASIC = 3
FOLDS = 10
N_FEATURES = 195_097  # the largest index in either file
ERROR, TAU = get_measure("disagreement_error"), get_measure("kendall_tau_b")
PAPER_B = {"basic RLS": 0.27, "sparse RLS": 0.24, "basic RankRLS": 0.23, "sparse RankRLS": 0.21}


def read(folder: Path, part: str):
    path = next(path for path in sorted(folder.iterdir()) if path.name.startswith(f"rank_{part}.light"))
    return load_letor(path, n_features=N_FEATURES)


def rank_rls(kernel, X, y, qid, basis, X_test):
    model = KernelRankRLSCV(
        ALPHAS, cv=FOLDS, measure=ERROR, kernel=kernel, gamma=GAMMAS[kernel], basis=basis, weighting="pair"
    )
    return model.fit(X, y, qid).predict(X_test), model.best_["alpha"]


def rls(kernel, X, y, qid, basis, X_test):
    """Ridge regression on the scores, with the features spanned by the basis vectors."""
    basis = np.arange(X.shape[0]) if basis is None else basis
    best = (np.inf, None)
    prepared = ERROR.prepare(y, qid)
    for gamma in GAMMAS[kernel]:
        features = features_of_basis(kernel, gamma, X[basis])
        Z = features(X)
        for alpha in ALPHAS:
            held = np.empty(len(y))
            for train, test in GroupKFold(FOLDS).split(X, y, qid):
                held[test] = Ridge(alpha).fit(Z[train], y[train]).predict(Z[test])
            error = prepared(held)
            if error < best[0]:
                best = error, (alpha, features)
    alpha, features = best[1]
    return Ridge(alpha).fit(features(X), y).predict(features(X_test)), alpha


def features_of_basis(kernel, gamma, basis):
    """From rows to features whose inner products are the kernel's, projected on what the basis spans."""

    def between(rows):
        return linear_kernel(rows, basis) if kernel == "linear" else rbf_kernel(rows, basis, gamma=gamma)

    values, vectors = linalg.eigh(between(basis))
    kept = values > 1e-12 * values.max()
    transform = vectors[:, kept] / np.sqrt(values[kept])
    return lambda rows: between(rows) @ transform


def first_of_each(qid, count):
    """Row numbers of the first `count` rows of every query."""
    seen: dict = {}
    kept = []
    for row, query in enumerate(qid):
        seen[query] = seen.get(query, 0) + 1
        if seen[query] <= count:
            kept.append(row)
    return np.array(kept)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder of real data sets")
    data = parser.parse_args().data
    check_folder(parser, data, [f"parses/rank_{part}.light*" for part in ("train", "test")])
    folder = data / "parses"
    train = read(folder, "train")
    test = read(folder, "test")
    basis = first_of_each(train.qid, PARSES_OF_BASIC)
    print(f"A SAMPLE of the papers' data: {train.n_rows} parses of {train.n_queries} sentences for training")
    print(f"({len(basis)} for the basic methods), {test.n_rows} of {test.n_queries} for testing.\n")
    print(
        f"{'kernel':8} {'method':15} {'alpha':>9} {'error':>7} {'paper B':>8} {'tau-b':>7} {'Wilcoxon p':>11}"
    )
    small = train.X[basis], train.y[basis], np.asarray(train.qid)[basis], None
    whole = train.X, train.y, np.asarray(train.qid), basis
    error, tau = ERROR.prepare(test.y, test.qid), TAU.prepare(test.y, test.qid)
    for kernel in GAMMAS:
        methods = {
            "sparse RankRLS": (rank_rls, whole),
            "basic RankRLS": (rank_rls, small),
            "sparse RLS": (rls, whole),
            "basic RLS": (rls, small),
        }
        reference = None
        for name, (method, data) in methods.items():
            scores, alpha = method(kernel, *data, test.X)
            errors = error.per_query(scores)
            reference = errors if reference is None else reference
            differs = np.nan_to_num(errors - reference)
            p = f"{stats.wilcoxon(differs).pvalue:11.3f}" if differs.any() else f"{'-':>11}"
            cells = f"{alpha:9.2g} {error(scores):7.3f} {PAPER_B[name]:8.2f} {tau(scores):7.3f} {p}"
            print(f"{kernel:8} {name:15} {cells}")
    print("\nWilcoxon: signed-rank test of the errors per sentence against those of sparse RankRLS.")


if __name__ == "__main__":
    main()
