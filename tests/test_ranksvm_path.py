"""RankSVMPath: the path as an estimator."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from graded_queries import toy
from rankwise import DataError, ParameterError, RankSVM, RankSVMPath


def objective(X, y, qid, weighting, scores, square, alpha):
    """R + alpha ‖f‖², pair by pair."""
    loss = weight = 0.0
    for q in np.unique(qid):
        rows = np.flatnonzero(qid == q)
        pairs = [(i, j) for i in rows for j in rows if y[i] > y[j]]
        c = {"pair": 1.0, "query": 1 / max(1, len(pairs)), "example": 1 / len(rows)}[weighting]
        loss += c * sum(max(0.0, 1 - scores[i] + scores[j]) for i, j in pairs)
        weight += c * len(pairs)
    return loss / weight + alpha * square


@parametrize_with_checks([RankSVMPath(alpha_min=0.1), RankSVMPath(kernel="linear", graph="reduced")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("weighting", ["pair", "query", "example"])
def test_the_linear_model_minimizes_the_objective_of_ranksvm(weighting):
    from scipy.optimize import minimize

    X, y, qid = toy(n=24, features=2)
    model = RankSVMPath(kernel="linear", weighting=weighting).fit(X, y, qid)
    for alpha in np.geomspace(model.alphas_[0], 2 * model.alphas_[-1], 3):
        w = X.T @ model.dual_coef_at(alpha)
        np.testing.assert_allclose(model.predict(X, alpha=alpha), X @ w, atol=1e-12)

        def value(v, alpha=alpha):
            return objective(X, y, qid, weighting, X @ v, v @ v, alpha)

        found = minimize(value, w, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14})
        assert value(w) <= found.fun + 1e-10
        assert value(w) <= value(w + 1e-3 * np.array([1, -1])) + 1e-12


@pytest.mark.parametrize("weighting", ["pair", "query", "example"])
def test_the_linear_full_path_is_ranksvm_within_its_certified_gap(weighting):
    X, y, qid = toy(n=60, features=4)
    path = RankSVMPath(kernel="linear", weighting=weighting).fit(X, y, qid)
    for alpha in np.geomspace(path.alphas_[0], path.alphas_[-1], 5):
        svm = RankSVM(alpha=alpha, tol=1e-6, weighting=weighting).fit(X, y, qid)
        w = X.T @ path.dual_coef_at(alpha)
        ours = objective(X, y, qid, weighting, path.predict(X, alpha=alpha), w @ w, alpha)
        assert -1e-12 <= svm.objective_ - ours <= svm.gap_ + 1e-12
        # The objective grows by at least alpha ‖w − w*‖² around its minimum.
        assert np.linalg.norm(svm.coef_ - w) <= np.sqrt(svm.gap_ / alpha) + 1e-9


def test_alpha_f_is_linear_between_breakpoints():
    X, y, qid = toy()
    model = RankSVMPath(graph="reduced").fit(X, y, qid)
    t = int(np.argmax(np.diff(model.alphas_)))
    below, above = model.alphas_[t], model.alphas_[t + 1]
    for share in (0.25, 0.5):
        alpha = above + share * (below - above)
        mixed = (1 - share) * above * model.dual_coef_at(above) + share * below * model.dual_coef_at(below)
        np.testing.assert_allclose(alpha * model.dual_coef_at(alpha), mixed, atol=1e-13)


def test_row_order_and_labels_of_queries_change_nothing():
    X, y, qid = toy(seed=2)
    shuffled = np.random.default_rng(0).permutation(len(y))
    names = np.array(["d", "b", "a", "c"])[qid]
    one = RankSVMPath().fit(X, y, qid)
    two = RankSVMPath().fit(X[shuffled], y[shuffled] + 5.0 * qid[shuffled], names[shuffled])
    np.testing.assert_allclose(one.predict(X, alpha=0.01), two.predict(X, alpha=0.01), atol=1e-9)


@pytest.mark.parametrize("weighting", ["query", "pair", "example"])
@pytest.mark.parametrize("graph", ["full", "reduced"])
def test_weight_two_is_the_row_twice(graph, weighting):
    X, y, qid = toy(seed=3)
    weight = 1.0 + (np.arange(len(y)) % 3 == 0)
    twice = np.repeat(np.arange(len(y)), weight.astype(int))
    one = RankSVMPath(graph=graph, weighting=weighting).fit(X, y, qid, sample_weight=weight)
    two = RankSVMPath(graph=graph, weighting=weighting).fit(X[twice], y[twice], qid[twice])
    assert one.alphas_[-1] == pytest.approx(two.alphas_[-1])
    np.testing.assert_allclose(one.predict(X, alpha=0.01), two.predict(X, alpha=0.01), atol=1e-9)


def test_pairs_say_the_same_as_the_scores_they_come_from():
    X, y, qid = toy(seed=5)
    pairs = [(i, j) for i in range(len(y)) for j in range(len(y)) if qid[i] == qid[j] and y[i] > y[j]]
    one = RankSVMPath(weighting="pair").fit(X, y, qid)
    two = RankSVMPath().fit_preferences(X, pairs)
    assert one.n_pairs_ == two.n_pairs_ == len(pairs)
    np.testing.assert_allclose(one.predict(X, alpha=0.01), two.predict(X, alpha=0.01), atol=1e-9)


def test_a_query_of_ties_alone_changes_nothing():
    X, y, qid = toy()
    more = RankSVMPath().fit(np.vstack([X, X[:3]]), np.append(y, [1, 1, 1]), np.append(qid, [9, 9, 9]))
    np.testing.assert_allclose(more.predict(X), RankSVMPath().fit(X, y, qid).predict(X), atol=1e-9)
    with pytest.raises(DataError, match="nothing to learn"):
        RankSVMPath().fit(X, np.ones(len(y)), qid)


def test_alpha_outside_the_path_is_named_with_its_range():
    X, y, qid = toy()
    model = RankSVMPath(alpha_min=0.01).fit(X, y, qid)
    assert model.alphas_[0] == pytest.approx(0.01)
    with pytest.raises(ParameterError, match=r"at least 0\.01, where the path ends.*got 0\.005"):
        model.predict(X, alpha=0.005)
    with pytest.raises(ParameterError, match="alpha"):
        model.dual_coef_at(0.0)


@pytest.mark.parametrize("weighting", ["query", "pair", "example"])
def test_a_breakpoint_is_answered_as_such_though_its_alpha_was_rounded(weighting):
    X, y, qid = toy()
    model = RankSVMPath(weighting=weighting).fit(X, y, qid)
    for alpha in model.alphas_:
        exact = model.dual_coef_at(alpha)
        for rounded in (np.nextafter(alpha, 0.0), np.nextafter(alpha, np.inf), 3.0 * (alpha / 3.0)):
            np.testing.assert_array_equal(model.dual_coef_at(rounded), exact)
    assert model.alpha_ == model.alphas_[0]
    np.testing.assert_array_equal(model.dual_coef_at(model.alpha_), model.dual_coef_)
    np.testing.assert_array_equal(model.predict(X, alpha=model.alpha_), model.predict(X))


def test_pairs_that_a_model_is_made_of_are_counted_at_any_alpha():
    X, y, qid = toy()
    model = RankSVMPath(graph="reduced").fit(X, y, qid)
    assert model.n_support_at(model.alphas_[-1]) == model.n_support_at(1e9) == model.n_pairs_
    for between in (model.alphas_[1:] + model.alphas_[:-1]) / 2:
        slack = 1.0 - model._path.graph.differences(model.predict(X, alpha=between))
        inside, not_outside = (np.count_nonzero(slack > limit) for limit in (1e-9, -1e-9))
        assert inside <= model.n_support_at(between) <= not_outside


def test_equal_rows_are_tied_at_any_alpha():
    X, y, qid = toy()
    whole = np.round(X)  # products of these are exact, so only sums of kernel values are rounded
    model = RankSVMPath(kernel="linear").fit(whole, y, qid)
    for m in range(2, 40):
        assert len(set(model.predict(np.tile(whole[0], (m, 1)), alpha=float(model.alphas_[0])))) == 1


def test_a_path_cut_short_warns_and_stays_valid():
    X, y, qid = toy()
    with pytest.warns(ConvergenceWarning, match="max_events=5"):
        model = RankSVMPath(max_events=5).fit(X, y, qid)
    assert model.n_events_ == 5
    whole = RankSVMPath().fit(X, y, qid)
    np.testing.assert_allclose(model.predict(X), whole.predict(X, alpha=model.alpha_), atol=1e-10)


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"graph": "half"}, "'graph' parameter must be one of 'full', 'reduced'"),
        ({"weighting": "rows"}, "'weighting' parameter"),
        ({"alpha_min": 0}, "'alpha_min' parameter must be a finite number above 0"),
        ({"max_events": 0}, "'max_events' parameter"),
        ({"tol": -1}, "'tol' parameter"),
        ({"kernel": "cubic"}, "'kernel' parameter"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    X, y, qid = toy(n=10)
    with pytest.raises(ParameterError, match=message):
        RankSVMPath(**parameters).fit(X, y, qid)


@pytest.mark.parametrize("graph", ["full", "reduced"])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
def test_the_order_of_rows_does_not_matter(graph, kernel):
    X, y, qid = toy(seed=3)
    X[7], y[7], qid[7] = X[3], y[3], qid[3]
    order = np.random.default_rng(0).permutation(len(y))
    rows, shuffled = (X, X[order]) if kernel != "precomputed" else (X @ X.T, X[order] @ X[order].T)
    model = RankSVMPath(kernel=kernel, graph=graph).fit(rows, y, qid)
    again = RankSVMPath(kernel=kernel, graph=graph).fit(shuffled, y[order], qid[order])
    alphas = np.geomspace(1.01 * model.alphas_[0], model.alphas_[-1], 5)
    for alpha in alphas:
        np.testing.assert_allclose(
            again.predict(shuffled, alpha=alpha), model.predict(rows, alpha=alpha)[order], atol=1e-7
        )


@pytest.mark.parametrize("kernel", ["rbf", "linear", "polynomial"])
def test_the_order_of_rows_does_not_matter_though_many_are_alike(kernel):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 2, (30, 3)).astype(float), rng.integers(0, 4, 30).astype(float)
        order = rng.permutation(30)
        model = RankSVMPath(kernel=kernel, graph="reduced").fit(X, y)
        again = RankSVMPath(kernel=kernel, graph="reduced").fit(X[order], y[order])
        assert again.alphas_[-1] == pytest.approx(model.alphas_[-1])
        alpha = 0.1 * model.alphas_[-1]
        np.testing.assert_allclose(again.predict(X, alpha=alpha), model.predict(X, alpha=alpha), atol=1e-7)


def test_a_representative_that_cannot_choose_is_refused():
    X, y, qid = toy()
    with pytest.raises(
        ParameterError, match="'representative' parameter must be None or callable; got 'first'"
    ):
        RankSVMPath(graph="reduced", representative="first").fit(X, y, qid)


def test_weights_of_rows_choose_the_representative_too():
    X, y, _ = toy(queries=1)
    absent = np.ones(len(y))
    absent[:5] = 0.0
    some = RankSVMPath(graph="reduced").fit(X, y, sample_weight=absent)
    few = RankSVMPath(graph="reduced").fit(X[5:], y[5:])
    np.testing.assert_allclose(some.predict(X), few.predict(X), atol=1e-9)


def test_progress_runs_from_zero_to_one():
    X, y, qid = toy()
    seen = []
    model = RankSVMPath().fit(X, y, qid, on_event=lambda *event: seen.append(event))
    done = [event[0] for event in seen]
    assert done == sorted(done)
    assert done[-1] == pytest.approx(1.0)
    assert seen[-1][1] == model.n_events_
    assert clone(model).fit(X, y, qid).n_events_ == model.n_events_


def test_progress_ends_at_one_when_every_pair_is_satisfied_early():
    seen = []
    model = RankSVMPath(kernel="linear").fit(
        [[0.0], [1.0]], [0, 1], on_event=lambda *event: seen.append(event)
    )
    assert model.alphas_[0] > 0.001 * model.alphas_[-1]
    assert seen[-1][0] == 1.0


def test_the_last_breakpoint_keeps_the_pairs_on_the_margin():
    X, y, qid = toy()
    whole = RankSVMPath().fit(X, y, qid)
    t = int(np.argmax(whole.active_size_))
    part = RankSVMPath(alpha_min=float(whole.alphas_[t - 1 : t + 1].mean())).fit(X, y, qid)
    assert part.active_size_[0] == whole.active_size_[t] > 0


def test_a_plot_shows_what_there_is():
    pytest.importorskip("matplotlib")
    X, y, qid = toy()
    model = RankSVMPath(graph="reduced").fit(X, y, qid)
    (below,) = model.plot().axes
    model.select(X, y, qid)
    above, below = model.plot("errors").axes
    np.testing.assert_array_equal(above.lines[0].get_ydata(), model.scores_)
    np.testing.assert_array_equal(below.lines[0].get_ydata(), model.active_size_)
    assert below.get_xscale() == "log"
