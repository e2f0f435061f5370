"""Columns that tell no rows of a query apart, alone or together, cost neither digits nor passes."""

import numpy as np
import pytest
from scipy import sparse

from rankwise import RankRLS, RankRLSCV
from rankwise.family import Family
from rankwise.operators.constant_columns import constant_within_queries
from rankwise.operators.design import MatrixDesign
from rankwise.preferences.queries import group_rows
from rankwise.ridge.closed_form import PrimalFamily
from rankwise.ridge.spaces import LinearSpace
from rankwise.ridge.spectrum import precise_spectrum, spectrum_without_null_space
from rankwise.ridge.squared import losses_on_scores
from rankwise.types import Ties, Weighting
from rankwise.validation import Problem

SMALL_ALPHAS = [2.0**-40, 2.0**-10, 1.0]
SPLITS = {"queries": "leave-query-out", "folds": 3}


def with_null_directions(rows=30, n_queries=9, offset=0.0, flag=False):
    """Numbers, one of them twice at another scale, three flags that add up to 1, a number of the query."""
    rng = np.random.default_rng(5)
    qid = np.repeat(np.arange(n_queries), rows)
    numbers = rng.normal(size=(len(qid), 2))
    flags = np.eye(3)[rng.integers(3, size=len(qid))]
    X = np.column_stack([numbers, 3.0 * numbers[:, 0], flags, rng.normal(size=n_queries)[qid]]) + offset
    if flag:  # something that only one query has
        X = np.column_stack([X, (qid == 4) * rng.integers(2, size=len(qid))])
    return X, np.round(numbers @ [1.0, 2.0] + flags[:, 0] + rng.normal(size=len(qid))), qid


def family_of(X, y, qid):
    (loss,) = losses_on_scores(Problem(X, y, group_rows(qid, len(y)), None), Ties.KEEP, Weighting.EXAMPLE)
    return PrimalFamily(LinearSpace(X), loss)


def refitted(X, y, qid, left, alpha):
    """Left-out scores, centred by query, of ridge regression on centred rows."""
    mean = np.array([X[qid == q].mean(axis=0) for q in np.unique(qid)])[qid]
    Z, t = (X - mean)[~left], (y - np.array([y[qid == q].mean() for q in np.unique(qid)])[qid])[~left]
    rows = np.vstack([Z, np.sqrt(alpha) * np.eye(X.shape[1])])
    return (X - mean)[left] @ np.linalg.lstsq(rows, np.append(t, np.zeros(X.shape[1])))[0]


def refuse(*_, **__):
    raise AssertionError("not needed")


@pytest.mark.parametrize("alpha", SMALL_ALPHAS)
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("flag", [False, True])
def test_leaving_out_takes_no_factor_of_the_rows(alpha, split, flag, monkeypatch):
    X, y, qid = with_null_directions(flag=flag)
    monkeypatch.setattr(MatrixDesign, "difference_factor", refuse)
    if not flag:
        monkeypatch.setattr(Family, "solve_without", refuse)
    model = RankRLSCV([alpha], cv=SPLITS[split], solver="primal").fit(X, y, qid)
    fold = qid if split == "queries" else fold_of(X, y, qid)
    for number in np.unique(fold):
        left = fold == number
        expected = refitted(X, y, qid, left, alpha)
        found = model.left_out_scores_[left]
        for q in np.unique(qid[left]):
            own = qid[left] == q
            np.testing.assert_allclose(
                found[own] - found[own].mean(), expected[own] - expected[own].mean(), atol=1e-8
            )


def fold_of(X, y, qid):
    from sklearn.model_selection import GroupKFold

    fold = np.empty(len(y), dtype=int)
    for number, (_, left) in enumerate(GroupKFold(3).split(X, y, qid)):
        fold[left] = number
    return fold


@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_the_solutions_are_those_of_the_factor_of_the_rows(offset):
    family = family_of(*with_null_directions(offset=offset))
    found = spectrum_without_null_space(family.space.features, family.loss, family.system)
    assert len(found.values) == 4
    assert found.resolves(0.0)
    alphas = np.array([0.0, *SMALL_ALPHAS])
    expected = precise_spectrum(family.space.features, family.loss).solve_all(alphas)
    np.testing.assert_allclose(found.solve_all(alphas), expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("gap", [1e-9, 1e-7, 1e-5])
def test_a_direction_that_rounding_hides_is_not_taken_for_null(gap):
    X, y, qid = with_null_directions()
    X[:, 2] += gap * np.random.default_rng(6).normal(size=len(X))
    family = family_of(X, y, qid)
    assert spectrum_without_null_space(family.space.features, family.loss, family.system) is None


def test_features_without_differences_have_no_spectrum_but_a_solution():
    _, y, qid = with_null_directions()
    constant = qid[:, None].astype(float)
    assert RankRLS(0.0, solver="primal").fit(constant, y, qid).coef_ == 0.0


def test_one_factorization_falls_back_to_the_complement_too(monkeypatch):
    X, y, qid = with_null_directions()
    expected = RankRLS(2.0**-40, solver="dual").fit(X, y, qid).coef_
    monkeypatch.setattr(MatrixDesign, "difference_factor", refuse)
    found = RankRLS(2.0**-40, solver="primal").fit(X, y, qid).coef_
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("shuffled", [False, True])
def test_columns_that_are_constant_within_queries_of_any_size_are_found(kind, shuffled, monkeypatch):
    X, _, qid = with_null_directions(rows=5)
    qid = np.where(qid < 4, 0, qid)  # a query larger than a block
    X[:, -1] = qid
    X = np.column_stack([X, np.zeros(len(X)), np.arange(len(X)) == 7])
    if shuffled:
        order = np.random.default_rng(7).permutation(len(X))
        X, qid = X[order], qid[order]
    monkeypatch.setattr("rankwise.operators.constant_columns.block_rows", lambda X: 12)
    found = constant_within_queries(X if kind == "dense" else sparse.csr_array(X), group_rows(qid, len(qid)))
    assert found.tolist() == [False] * 6 + [True, True, False]
