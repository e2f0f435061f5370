"""How much work RankSVM does, and how much of its gap it owes to rounding: figures that must not drift."""

import numpy as np
import pytest

from hinge_ranking import ranking
from rankwise import RankSVM
from rankwise.operators.design import MatrixDesign
from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.queries import group_rows
from rankwise.svm.bundle import Bundle, minimize_bundle
from rankwise.svm.hinge import QueryHinge
from rankwise.svm.newton import minimize_newton
from rankwise.svm.rows_risk import RowsRisk
from rankwise.types import Ties

EPS = np.finfo(float).eps


# The number of products measured; other libraries of linear algebra round differently, and take a few more.
@pytest.mark.parametrize("loss, measured", [("hinge", 1166), ("squared_hinge", 1054)])
def test_a_set_of_problems_takes_no_more_products_than_it_did(loss, measured):
    total = 0
    for seed in range(8):
        X, y, qid = ranking(m=200, n=15 if seed % 2 else 40, seed=seed)
        X *= np.logspace(0, -1, X.shape[1])
        for alpha in (1e-2, 1e-4, 1e-6):
            for tol in (1e-3, 1e-5):
                model = RankSVM(alpha, loss=loss, tol=tol).fit(X, y, qid if seed % 3 else None)
                total += model.n_products_
    assert total <= 1.02 * measured


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_how_queries_differ_from_each_other_costs_nothing(loss):
    """Only differences inside queries matter to the loss, and to the covariances that scale its steps."""
    X, y, qid = ranking(m=400, n=20)
    offsets = np.random.default_rng(0).normal(size=(qid.max() + 1, 20))
    products = [RankSVM(1e-4, loss=loss).fit(X + k * offsets[qid], y, qid).n_products_ for k in (0, 3, 30)]
    assert max(products) <= products[0] + 2 <= 20


def test_a_loose_tolerance_takes_few_values_of_the_hinge(monkeypatch):
    """RankRLS is nearly the first direction, and every point of a line search is a plane."""
    X, y, qid = ranking(m=2000, n=20)
    value, scores = QueryHinge.value, []
    monkeypatch.setattr(QueryHinge, "value", lambda loss, at: scores.append(at) or value(loss, at))
    exact = RankSVM(1e-3, tol=1e-6).fit(X, y, qid)
    scores.clear()
    model = RankSVM(1e-3, tol=0.01).fit(X, y, qid)
    assert model.n_iter_ <= 4
    assert len(scores) <= 12
    assert exact.objective_ - exact.gap_ <= model.objective_ <= exact.objective_ + model.gap_
    assert model.gap_ <= 0.01


def test_a_risk_that_is_known_already_takes_no_iteration():
    X, y, qid = ranking(m=100, n=5)
    loss = QueryHinge(QueryDifferences(group_rows(qid, len(y)), y, ties=Ties.DROP))
    risk = RowsRisk(MatrixDesign(X), loss)
    known = Bundle(risk)
    first = minimize_bundle(risk, 1e-3, known=known)
    again = minimize_bundle(risk, 1e-3, known=known, start=first.coef)
    assert first.n_iter > 0
    assert again.n_iter == 0
    assert again.gap <= 1e-3


# How often scores are rounded: for the risk and, in the bundle method, for the slopes behind its bound.
@pytest.mark.parametrize("minimize, n_rounded", [(minimize_bundle, 2), (minimize_newton, 1)])
@pytest.mark.parametrize("alpha", [3.0, 0.5])
def test_the_gap_allows_for_sixteen_ulps_of_the_objective_and_of_the_scores(minimize, n_rounded, alpha):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 5))
    y = np.round(X @ rng.normal(size=5))
    loss = QueryHinge(QueryDifferences(group_rows(None, len(y)), y, ties=Ties.DROP))
    result = minimize(RowsRisk(MatrixDesign(X), loss), alpha, tol=1e-9)
    ridge = alpha * result.coef @ result.coef
    assert ridge > 0.1
    scores = np.linalg.norm(X, axis=1).max() * np.linalg.norm(result.coef)
    assert result.resolution / EPS == pytest.approx(16.0 * (1.0 + ridge + n_rounded * scores), rel=1e-3)
