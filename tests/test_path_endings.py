"""Where a path ends, and what is rejected before it starts."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from graded_queries import toy
from rankwise import DataError, ParameterError, RankSVMPath
from rankwise.path.svm_path import End, _read
from stressed import stressed


@pytest.mark.parametrize("graph", ["full", "reduced"])
def test_a_path_ends_where_no_event_is_left(graph):
    X, y, qid = toy()
    model = RankSVMPath(kernel="linear", graph=graph, weighting="pair", alpha_min=1e-30).fit(X, y, qid)
    assert model.alphas_[0] > 1e-6
    # Beyond this point, the scores minimize the loss without regularization: a linear program.
    pairs = model._path.graph
    below = model.predict(X, alpha=1e-3 * model.alphas_[0])
    loss = np.maximum(0.0, 1.0 - pairs.differences(below)).sum()
    m, n = pairs.n_pairs, X.shape[1]
    cost, above = np.repeat([0.0, 1.0], [n, m]), np.hstack([pairs.differences(X), np.eye(m)])
    least = linprog(cost, A_ub=-above, b_ub=-np.ones(m), bounds=[(None, None)] * n + [(0, None)] * m)
    assert loss == pytest.approx(least.fun, rel=1e-8)
    assert loss > 1.0
    with pytest.raises(ParameterError, match="up to rounding errors that could show at smaller alphas"):
        model.predict(X, alpha=1e-25)


@pytest.mark.parametrize("least", ["settled", "resolved"])
def test_a_settled_path_holds_down_to_where_what_is_left_of_scores_would_show(least):
    X, y, qid = toy()
    path = RankSVMPath(kernel="linear", alpha_min=1e-30).fit(X, y, qid)._path
    remaining, resolved = (1e-9, 1e-12) if least == "settled" else (1e-19, 1e-12)
    walk = SimpleNamespace(
        n_breakpoints=1,
        active_size=0,
        violation=0.0,
        remaining=remaining * path.levels[-1],
        breakpoints=lambda levels, violations, offsets: (levels.fill(path.levels[-1]), offsets.fill(0)),
        changes=lambda *arrays: None,
    )
    read = _read(walk, path.graph, End.SETTLED, 1e-8, resolved * path.levels[-1])
    expected = 1e-3 if least == "settled" else resolved
    assert read.least == pytest.approx(expected * path.levels[-1])


@pytest.mark.parametrize("kind", ["scales", "dominating query"])
def test_a_feature_that_outweighs_the_others_does_not_pass_for_all_of_them(kind):
    model = RankSVMPath(kernel="linear").fit(*stressed(kind))
    # Rounding errors of kernel values around 1e14 hide features around 1, which matter at this alpha.
    with pytest.raises(ParameterError, match="must be at least"):
        model.dual_coef_at(0.01)


@pytest.mark.filterwarnings("ignore:The path stops")
def test_kernel_values_that_rounding_makes_equal_are_refused():
    X, y, qid = stressed("offset 1e9")
    with pytest.raises(DataError, match="or rounding errors hide them"):
        RankSVMPath(kernel="polynomial").fit(X, y, qid)


def test_a_path_does_not_end_before_its_last_event():
    X, y, qid = toy()
    whole = RankSVMPath(kernel="linear", alpha_min=1e-30).fit(X, y, qid)
    part = RankSVMPath(kernel="linear", alpha_min=float(whole.alphas_[1])).fit(X, y, qid)
    assert part.n_events_ == whole.n_events_ - 1
    assert np.abs(part.predict(X) - whole.predict(X)).max() > 1e-6


@pytest.mark.parametrize("scale", [1e-80, 1e80])
def test_kernel_values_that_leave_doubles_no_room_are_refused(scale):
    X, y, qid = toy()
    with pytest.raises(
        DataError, match=r"Kernel values of up to .*e[-+]1\d\d are out of range; scale the features"
    ):
        RankSVMPath(kernel="linear").fit(scale * X, y, qid)


def test_a_certificate_that_fails_ends_the_path_before_it_does():
    X, y, qid = toy()
    with pytest.warns(
        ConvergenceWarning, match=r"stops at alpha = .*: at the next event, .* tol=1e-17 allows"
    ):
        part = RankSVMPath(tol=1e-17).fit(X, y, qid)
    whole = RankSVMPath().fit(X, y, qid)
    assert part.violation_.max() <= 1e-17
    assert 0 < part.n_events_ < whole.n_events_
    np.testing.assert_allclose(part.predict(X), whole.predict(X, alpha=part.alpha_), atol=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("seed", [2, 5, 10, 15, 25, 30, 36])
def test_nearly_dependent_pairs_do_not_end_a_path(kernel, seed):
    # Pairs that depend on the free ones but for rounding must be exchanged for one of them.
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (10, 3)).astype(float)
    X = np.vstack([X, X[:4] + 1e-7 * rng.normal(size=(4, 3))])
    y, qid = rng.integers(0, 4, len(X)), np.zeros(len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RankSVMPath(kernel=kernel, alpha_min=1e-6).fit(X, y, qid)
