"""Every family of models has the same methods, and leaves out what its loss leaves out."""

import inspect

import numpy as np
import pytest

from rankwise.errors import ParameterError
from rankwise.family import Family, Fold
from rankwise.held_out import HeldOut
from rankwise.preferences.queries import group_rows
from rankwise.ridge.closed_form import DualFamily, PrimalFamily
from rankwise.ridge.conjugate_gradient import ConjugateGradientFamily
from rankwise.ridge.moments.moment_family import MomentFamily
from rankwise.ridge.signed import SignedFamily, SignedMoments
from rankwise.ridge.spaces import LinearSpace
from rankwise.ridge.squared import loss_on_scores
from rankwise.svm.hinge_family import HingeFamily
from rankwise.types import Ties, Weighting
from rankwise.validation import Problem

FAMILIES = [
    *(PrimalFamily, DualFamily, SignedFamily, ConjugateGradientFamily),
    *(MomentFamily, SignedMoments, HingeFamily),
]
ALPHAS = np.array([1e-2, 1.0, 100.0])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("method", ["scores", "solve", "leave_out", "solve_without", "with_loss", "for_run"])
def test_methods_of_families_take_the_same_arguments(family, method):
    assert Family in family.__mro__
    found, expected = (inspect.signature(getattr(one, method)).parameters for one in (family, Family))
    assert [(one.name, one.default) for one in found.values()] == [
        (one.name, one.default) for one in expected.values()
    ]


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    qid = np.repeat(np.arange(6), 5)
    return Problem(rng.normal(size=(30, 4)), rng.normal(size=30), group_rows(qid, 30), None)


def loss_of(problem):
    return loss_on_scores(problem, Ties.KEEP, Weighting.EXAMPLE)


def quadratic_without(problem, rows):
    return loss_of(problem.without(rows)).quadratic(LinearSpace(problem.X).features)


@pytest.mark.parametrize("signs", [None, np.array([1, -1, 0, 1])])
def test_moments_solve_measure_and_leave_out_as_rows_do(problem, signs):
    space, loss = LinearSpace(problem.X, signs=signs), loss_of(problem)
    whole = loss.quadratic(space.features)
    if signs is None:
        of_rows, of_moments = PrimalFamily(space, loss), MomentFamily(whole)
    else:
        of_rows, of_moments = SignedFamily(space, loss), SignedMoments(whole, signs)
    held_out = HeldOut(problem.X[:7], lambda scores: float(scores @ np.arange(7.0)))
    expected, found = (family.solve(ALPHAS, held_out) for family in (of_rows, of_moments))
    np.testing.assert_allclose(found.coef, expected.coef, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-9, atol=1e-12)
    rows = [np.arange(5), np.arange(5, 15)]
    queries = [np.array([0]), np.array([1, 2])]
    in_rows = [
        Fold(problem.X, index, own, lambda r=index: loss_of(problem.without(r)))
        for index, own in zip(rows, queries, strict=True)
    ]
    in_moments = [
        Fold(problem.X, index, own, lambda r=index: quadratic_without(problem, r))
        for index, own in zip(rows, queries, strict=True)
    ]
    for known, refitted, index in zip(
        of_rows.leave_out(in_rows, ALPHAS), of_moments.leave_out(in_moments, ALPHAS), rows, strict=True
    ):
        gap = known.scores - refitted.scores  # up to a constant per query
        for query in range(0, len(index), 5):
            one = gap[query : query + 5]
            np.testing.assert_allclose(one - one.mean(axis=0), 0.0, atol=1e-9)


def test_moments_have_no_rows_to_leave_out_in_pairs(problem):
    family = MomentFamily(loss_of(problem).quadratic(LinearSpace(problem.X).features))
    with pytest.raises(ParameterError, match="Leave-pair-out needs a closed form"):
        family.leave_pair_out(problem.y, ALPHAS)
