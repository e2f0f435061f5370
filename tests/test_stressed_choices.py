"""Every hold-out and measure, and the path, on every kind of data that is not nice, against exact models."""

import re
import warnings
from functools import cache

import numpy as np
import pytest

from rankwise import KernelRankRLSCV, RankRLSCV, RankSVM, RankSVMPath
from rankwise.metrics import get_measure
from sixty_digits import rounded
from stressed import (
    KINDS,
    dense,
    exact_differences,
    exact_hinge_objective,
    exact_kernel,
    exact_kernel_scores,
    exact_weights,
    stressed,
)

ALPHAS = (1e-3, 1.0)
MEASURES = ("pairwise_error", "disagreement_error", "tau_b", "ndcg@5", "map", "rr", "p@3", "err@5")
GAMMA = 0.1


def folds_of_queries(qid):
    """Two folds of whole queries."""
    return [(np.flatnonzero(qid % 2 != k), np.flatnonzero(qid % 2 == k)) for k in (0, 1)]


def each_query(qid):
    return [(np.flatnonzero(qid != q), np.flatnonzero(qid == q)) for q in np.unique(qid)]


HOLD_OUTS = {"leave-query-out": each_query, "folds": folds_of_queries}


def _rounded(scores):
    """Equal rows are tied exactly; digits beyond those compared must not decide about others."""
    scale = np.abs(scores - scores.mean()).max() or 1.0
    return np.round(scores / scale, 9)


@cache
def exact_held_out(kind, hold_out, alpha, kernel):
    """The scores of held-out rows by exact models of the others; differences within a query are exact."""
    X, y, qid = stressed(kind)
    K = exact_kernel(X, "rbf", GAMMA) if kernel else None
    scores = np.empty(len(y))
    for train, test in HOLD_OUTS[hold_out](qid):
        for q in np.unique(qid[test]):
            rows = test[qid[test] == q]
            if kernel:
                exact = exact_kernel_scores(K, y[train], qid[train], alpha, train, rows)
                scores[rows] = _rounded(rounded(exact - exact[0]))
            else:
                w = exact_weights(X[train], y[train], qid[train], alpha)
                scores[rows] = _rounded(exact_differences(X, w, rows, np.full(len(rows), rows[0])))
    return scores


CHOICES = {
    "primal": RankRLSCV(ALPHAS, solver="primal"),
    "dual": RankRLSCV(ALPHAS, solver="dual"),
    "cg": RankRLSCV(ALPHAS, solver="cg", tol=1e-13, max_iter=5000),
    "linear kernel": KernelRankRLSCV(ALPHAS, kernel="linear"),
    "rbf kernel": KernelRankRLSCV(ALPHAS, gamma=GAMMA),
}
# Kinds on which rounding errors may decide the order of rows in single cases; a warning says so.
MAY_WARN = ("timestamps", "scales", "dominating query", "wide timestamps", "sparse offset")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("hold_out", HOLD_OUTS)
def test_held_out_measures_are_right_on_data_that_is_not_nice(kind, name, hold_out):
    X, y, qid = stressed(kind)
    cv = hold_out if hold_out == "leave-query-out" else HOLD_OUTS[hold_out](qid)
    for measure in MEASURES:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            choice = CHOICES[name].set_params(cv=cv, measure=measure).fit(X, y, qid)
        if any(re.search("digits|tells almost nothing", str(warning.message)) for warning in caught):
            assert kind in MAY_WARN, caught[0].message
            continue
        for a, alpha in enumerate(ALPHAS):
            scores = exact_held_out(kind, hold_out, alpha, name == "rbf kernel")
            assert choice.scores_[0, a] == pytest.approx(get_measure(measure)(y, scores, qid), abs=1e-12), (
                measure
            )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("graph", ["full", "reduced"])
def test_a_path_is_optimal_on_data_that_is_not_nice_or_says_where_it_ends(kind, graph):
    X, y, qid = stressed(kind)
    first = {q: np.flatnonzero(qid == q)[0] for q in qid}
    moved = dense(X).astype(float) - dense(X).astype(float)[[first[q] for q in qid]]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The path stops")
        path = RankSVMPath(kernel="linear", graph=graph, alpha_min=1e-4).fit(X, y, qid)
    if graph == "reduced":
        assert path.violation_.max() < 1e-6  # no other solver takes its pairs
        return
    for alpha in path.alphas_[:: max(1, len(path.alphas_) // 4)]:
        objective = exact_hinge_objective(X, y, qid, moved.T @ path.dual_coef_at(alpha), alpha)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the certificate below counts, whatever the tolerance reached
            other = RankSVM(alpha, tol=1e-8).fit(X, y, qid)
        assert objective <= other.objective_ + 1e-6
        assert objective >= other.objective_ - other.gap_ - 1e-12
