"""Weights with given signs are the exact minimizer, and say what the signs led to."""

import warnings

import clarabel
import numpy as np
import pytest
from scipy import sparse

import rankwise
from rankwise import DataError, Moments, ParameterError, RankRLS, RankRLSCV
from rankwise.metrics import pairwise_error
from rankwise.ridge import signed
from rankwise.ridge.signed import optimality
from sixty_digits import exact
from stressed import KINDS, dense, exact_differences, exact_weights, pairs_of, stressed


def random_problem(seed):
    """Rows with duplicated and collinear columns, and signs for most of them."""
    rng = np.random.default_rng(seed)
    n, n_queries = int(rng.integers(2, 12)), int(rng.integers(2, 6))
    X = rng.normal(size=(8 * n_queries, n)) * 10.0 ** rng.integers(-2, 3, n)
    if n > 2:
        X[:, 1] = rng.choice([-1.0, 1.0, 2.0]) * X[:, 0]
    if n > 4:
        X[:, 4] = X[:, 2] - 3.0 * X[:, 3]
    y = rng.integers(0, 3, len(X)) + (X[:, 0] > 0.0)
    return X, y.astype(float), np.repeat(np.arange(n_queries), 8), rng.choice([-1, 0, 1, 1], n)


def minimum_by_qp(moments, alpha, signs):
    """The minimum of ``wᵀ(A + αI)w − 2bᵀw`` with these signs, by a general solver for cone programs."""
    n = len(signs)
    scale = 1.0 / np.sqrt(np.diag(moments.A) + alpha)
    P = 2.0 * scale[:, None] * (moments.A + alpha * np.eye(n)) * scale
    G = sparse.csc_matrix(-np.diag(signs.astype(float))[signs != 0].reshape(-1, n))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cones = [clarabel.NonnegativeConeT(G.shape[0])] if G.shape[0] else []
    found = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(P)), -2.0 * scale * moments.b, G, np.zeros(G.shape[0]), cones, settings
    ).solve()
    return found.obj_val


@pytest.mark.parametrize("seed", range(200))
def test_the_objective_is_that_of_a_general_solver_and_the_conditions_hold(seed):
    X, y, qid, signs = random_problem(seed)
    alpha = float(10.0 ** np.random.default_rng(seed).integers(-3, 2))
    try:
        model = RankRLS(alpha, monotonic_cst=signs).fit(X, y, qid)
        weights = model.coef_
        assert model.kkt_residual_ < 1e-14
    except DataError:  # every sign is contradicted
        weights = np.zeros(len(signs))
    moments = Moments.of(X, y, qid)
    objective = weights @ (moments.A @ weights + alpha * weights) - 2.0 * moments.b @ weights
    assert (signs * weights >= 0.0).all()
    assert objective == pytest.approx(minimum_by_qp(moments, alpha, signs), abs=1e-9 * float(moments.yLy))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_weights_are_exact_on_stressed_data(kind, alpha):
    """Exact weights on our support meet the conditions of optimality, so the support is right."""
    X, y, qid = stressed(kind)
    signs = np.resize([1, -1, 0, 1, -1], X.shape[1])
    model = RankRLS(alpha, monotonic_cst=signs).fit(X, y, qid)
    support = np.flatnonzero((model.coef_ != 0.0) | (signs == 0))
    weights = exact_weights(dense(X)[:, support], y, qid, alpha)
    assert all(signs[k] * w >= 0 for k, w in zip(support, weights, strict=True))
    i, j = pairs_of(y, qid)
    scores = exact_differences(dense(X)[:, support], weights, i, j)
    ours = exact_differences(X, model.coef_, i, j)
    np.testing.assert_allclose(ours, scores, rtol=0, atol=1e-6 * np.abs(scores).max())
    sizes = {q: np.count_nonzero(qid == q) for q in np.unique(qid)}
    residual = [(y[a] - y[b] - s) / sizes[qid[a]] for a, b, s in zip(i, j, scores, strict=True)]
    for k in np.flatnonzero((model.coef_ == 0.0) & (signs != 0)):
        column = dense(X)[:, k].astype(float)
        pull = float(exact(column[i] - column[j]) @ exact(residual))
        assert signs[k] * pull <= 1e-6 * np.abs(column[i] - column[j]).sum()


def plain(n_queries=6, n=4, seed=0):
    rng = np.random.default_rng(seed)
    X, qid = rng.normal(size=(9 * n_queries, n)), np.repeat(np.arange(n_queries), 9)
    y = np.digitize(X @ np.linspace(1.0, -1.0, n) + rng.normal(size=len(X)), [-1.0, 0.0, 1.0])
    return X, y.astype(float), qid


@pytest.mark.parametrize("kind", [*KINDS, "many alphas"])
def test_leaving_out_queries_is_fitting_without_them(kind):
    X, y, qid = plain() if kind == "many alphas" else stressed(kind)
    alphas = 2.0 ** np.arange(-9, 10) if kind == "many alphas" else [0.01, 1.0]
    signs = np.resize([1, 1, 0, -1], X.shape[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rankwise.errors.GridWarning)
        model = RankRLSCV(alphas, monotonic_cst=signs).fit(X, y, qid)
    left_out = np.empty((len(y), len(alphas)))
    for query in np.unique(qid):
        held = np.flatnonzero(qid == query)
        rest = np.flatnonzero(qid != query)
        for k, alpha in enumerate(alphas):
            fitted = RankRLS(alpha, monotonic_cst=signs).fit(X[rest], y[rest], qid[rest])
            left_out[held, k] = dense(X[held]) @ fitted.coef_
    assert model.cv_ == "leave-query-out"
    assert model.solver_ == "primal"
    errors = [pairwise_error(y, column, qid) for column in left_out.T]
    np.testing.assert_allclose(model.scores_[0], errors, rtol=0, atol=1e-12)


def test_a_grid_of_alphas_is_solved_exactly():
    X, y, qid = plain(n=8)
    signs = np.array([1, 1, -1, 1, 1, -1, 0, 1])
    model = RankRLS(1.0, monotonic_cst=signs).fit(X, y, qid)
    held = RankRLSCV(2.0 ** np.arange(-20, 20), monotonic_cst=signs).fit(X, y, qid, eval_set=(X, y, qid))
    for alpha in held.alphas_[::7]:
        np.testing.assert_allclose(
            model.with_alpha(alpha).coef_,
            RankRLS(alpha, monotonic_cst=signs).fit(X, y, qid).coef_,
            rtol=1e-10,
            atol=1e-14,
        )
    np.testing.assert_allclose(model.with_alpha(held.alpha_).coef_, held.coef_, rtol=1e-10, atol=1e-14)


def test_an_alpha_with_the_support_of_the_one_before_takes_no_search(monkeypatch):
    X, y, qid = plain(n=8)
    signs, searches = np.array([1, 1, -1, 1, 1, -1, 0, 1]), []
    search = signed.signed_least_squares
    monkeypatch.setattr(signed, "signed_least_squares", lambda *a: searches.append(a) or search(*a))
    model = RankRLSCV([1.0, 1.01, 1.02], monotonic_cst=signs).fit(X, y, qid, eval_set=(X, y, qid))
    assert (model.coef_ == 0.0).any()
    assert len(searches) == 1


@pytest.mark.parametrize("seed", range(5))
def test_laws_of_ranking_hold_with_signs(seed):
    X, y, qid = plain(seed=seed)
    rng = np.random.default_rng(seed)

    def coef(X, y, qid, weight=None):
        return RankRLS(0.7, monotonic_cst=[1, 1, -1, 0]).fit(X, y, qid, sample_weight=weight).coef_

    expected, same = coef(X, y, qid), {"rtol": 1e-8, "atol": 1e-10}
    order, weight = rng.permutation(len(y)), rng.integers(1, 3, len(y))
    np.testing.assert_allclose(coef(X[order], y[order], qid[order]), expected, **same)
    np.testing.assert_allclose(coef(X, y + rng.normal(size=6)[qid], qid), expected, **same)
    singleton = coef(np.vstack([X, X[:1]]), np.append(y, 9.0), np.append(qid, 77))
    np.testing.assert_allclose(singleton, expected, **same)
    twice = np.repeat(np.arange(len(y)), weight)
    repeated = coef(X[twice], y[twice], qid[twice])
    np.testing.assert_allclose(coef(X, y, qid, weight), repeated, **same)


def test_signs_that_agree_with_the_labels_change_nothing():
    X, y, qid = plain()
    free = RankRLS(0.5).fit(X, y, qid)
    bound = RankRLS(0.5, monotonic_cst=np.sign(free.coef_).astype(int)).fit(X, y, qid)
    np.testing.assert_allclose(bound.coef_, free.coef_, rtol=1e-12)
    assert bound.contradicted_signs_ == []
    assert not hasattr(free, "kkt_residual_")


def test_contradicted_signs_are_named_and_constant_features_are_not():
    X, y, qid = plain()
    X[:, 2] = 3.0
    data = rankwise.RankingData.from_arrays(X, y, qid, feature_names=["title", "body", "flag", "price"])
    model = RankRLS(monotonic_cst={"title": -1, "flag": 1, "price": -1}).fit(data)
    assert model.contradicted_signs_ == ["title"]
    assert model.coef_[0] == 0.0
    assert model.coef_[3] < 0.0


def test_weights_of_zero_miss_the_conditions_by_the_pull_of_the_labels():
    """Relative to ``s_j √c``, the most that labels can pull at a weight."""
    X, y, qid = plain()
    moments, zero = Moments.of(X, y, qid), np.zeros(X.shape[1])
    signs = np.sign(moments.b).astype(np.int64)
    pull = np.abs(moments.b) / np.sqrt((np.diag(moments.A) + 2.0) * moments.yLy)
    missed = optimality(moments.quadratic, 2.0, zero, signs)
    assert missed.residual == pytest.approx(pull.max())
    assert not missed.contradicted.any()
    met = optimality(moments.quadratic, 2.0, zero, -signs)
    assert met.residual == 0.0
    assert met.contradicted.all()


def test_features_of_text_and_of_arrays_are_named_as_in_explanations(tmp_path):
    X, y, qid = plain()
    rankwise.save_letor(rankwise.RankingData.from_arrays(X, y, qid), tmp_path / "data.txt")
    by_number = RankRLS(monotonic_cst={"4": 1}).fit(rankwise.load_letor(tmp_path / "data.txt"))
    assert by_number.contradicted_signs_ == ["4"]
    assert RankRLS(monotonic_cst={"x3": 1}).fit(X, y, qid).contradicted_signs_ == ["x3"]


def test_pairs_are_learned_with_signs():
    X, y, qid = plain()
    pairs = np.array([(a, b) for a, b in zip(*pairs_of(y, qid, "drop"), strict=True) if y[a] > y[b]])
    model = RankRLS(monotonic_cst=[-1, 0, 0, 0]).fit_preferences(X, pairs)
    free = RankRLS().fit_preferences(X[:, 1:], pairs)
    np.testing.assert_allclose(model.coef_, [0.0, *free.coef_], rtol=1e-10, atol=1e-13)
    assert model.contradicted_signs_ == ["x0"]
    chosen = RankRLSCV([0.1, 1.0, 10.0, 100.0], monotonic_cst=[-1, 0, 0, 0]).fit_preferences(X, pairs)
    assert chosen.coef_[0] == 0.0


def test_updates_keep_signs():
    X, y, qid = plain()
    signs, early = [1, -1, 0, 1], qid < 3
    fitted = RankRLS(0.1, monotonic_cst=signs).fit(X, y, qid)
    model = RankRLS(0.1, monotonic_cst=signs).partial_fit(X[early], y[early], qid[early])
    model.partial_fit(X[~early], y[~early], qid[~early])
    from_moments = RankRLS.from_moments(fitted.moments_, 0.1, monotonic_cst=signs)
    for other in (model, from_moments):
        np.testing.assert_allclose(other.coef_, fitted.coef_, rtol=1e-10, atol=1e-13)
        assert other.contradicted_signs_ == fitted.contradicted_signs_ != []
        assert other.kkt_residual_ < 1e-14
    model.forget(X[early], y[early], qid[early])
    rest = RankRLS(0.1, monotonic_cst=signs).fit(X[~early], y[~early], qid[~early])
    assert np.linalg.norm(model.coef_ - rest.coef_) <= model.coef_error_ < 1e-10


def test_progressive_validation_keeps_signs():
    X, y, qid = plain()
    model = RankRLSCV([0.1, 1.0, 10.0], monotonic_cst=[-1, 0, 0, 0])
    for query in range(0, 6, 2):
        rows = (qid == query) | (qid == query + 1)
        model.partial_fit(X[rows], y[rows], qid[rows])
        assert model.coef_[0] == 0.0
    known = RankRLSCV([0.1, 1.0, 10.0]).fit(X[qid < 4][:, 1:], y[qid < 4], qid[qid < 4])
    other = known.partial_fit(X[qid > 3][:, 1:], y[qid > 3], qid[qid > 3])
    np.testing.assert_allclose(model.progress_[-1], other.progress_[-1])


def test_one_global_ranking_is_left_out_in_folds():
    X, y, _ = plain()
    with rankwise.config_context(one_ranking=True):
        model = RankRLSCV([0.1, 1.0, 10.0, 100.0], monotonic_cst=[1, -1, 1, -1]).fit(X, y)
        assert "folds" in model.cv_
        with pytest.raises(ParameterError, match="leave-pair-out' is not available with monotonic_cst"):
            RankRLSCV(cv="leave-pair-out", monotonic_cst=[1, -1, 1, -1]).fit(X, y)


@pytest.mark.parametrize("kind", [RankRLS, RankRLSCV])
def test_a_saved_model_keeps_its_certificate(kind, tmp_path):
    X, y, qid = plain()
    model = kind(monotonic_cst=np.array([-1, 0, 0, -1])).fit(X, y, qid)
    model.save(tmp_path / "model")
    loaded = rankwise.load_model(tmp_path / "model")
    assert loaded.monotonic_cst == [-1, 0, 0, -1]
    assert loaded.kkt_residual_ == model.kkt_residual_
    assert loaded.contradicted_signs_ == model.contradicted_signs_ == ["x0"]
    assert loaded.forget(X[qid == 0], y[qid == 0], qid[qid == 0]).coef_[0] == 0.0


@pytest.mark.parametrize(
    ("signs", "message"),
    [
        ({"x10": 1}, "names 'x10', which is not a feature; did you mean 'x"),
        ({"price": 1}, "names 'price', which is not a feature; the first feature is 'x0'"),
        ({"x1": 2}, "must be -1, 0 or 1; got 2 for 'x1'"),
        ({"x1": "+1"}, "must be -1, 0 or 1; got '\\+1' for 'x1'"),
        ({"x1": True}, "must be -1, 0 or 1; got True for 'x1'"),
        ({"x1": float("nan")}, "must be -1, 0 or 1; got nan for 'x1'"),
        ([1, 0, 0, 0.5], "must be -1, 0 or 1; got 0.5 for 'x3'"),
        ([1, 0, 0], "one value per feature, 4 in all; got 3"),
        ([[1, 0, 0, 0]], "must be None, a dict of numbers .-1, 0 or 1. by feature name"),
        ("x1=1", "must be None, a dict of numbers .-1, 0 or 1. by feature name"),
        ([1, [0], 0, 0], "must be None, a dict of numbers .-1, 0 or 1. by feature name"),
    ],
)
@pytest.mark.parametrize("kind", [RankRLS, RankRLSCV])
def test_signs_that_make_no_sense_are_refused(kind, signs, message):
    with pytest.raises(ParameterError, match=message):
        kind(monotonic_cst=signs).fit(*plain())


@pytest.mark.parametrize("kind", [RankRLS, RankRLSCV])
@pytest.mark.parametrize("solver", ["cg", "dual"])
def test_other_solvers_are_refused(kind, solver):
    with pytest.raises(
        ParameterError, match=f"solver='{solver}' is not available for weights with given signs"
    ):
        kind(monotonic_cst=[1, 0, 0, 0], solver=solver).fit(*plain())


@pytest.mark.parametrize("options", [{"early_stopping": True}, {"checkpoint": "folder"}])
def test_what_needs_iterations_is_refused(options):
    with pytest.raises(
        ParameterError, match="need solver='cg', which is not available for weights with given"
    ):
        RankRLS(monotonic_cst=[1, 0, 0, 0], **options).fit(*plain())


@pytest.mark.parametrize("solver", ["auto", "closed", "primal"])
def test_more_features_than_rows_are_solved_in_the_primal(solver):
    X, y, qid = stressed("more features than rows")
    model = RankRLS(monotonic_cst=np.ones(40, dtype=int), solver=solver).fit(X, y, qid)
    assert model.solver_ == "primal"
    assert model.coef_.min() == 0.0


def test_an_alpha_of_0_is_refused():
    X, y, qid = plain()
    with pytest.raises(ParameterError, match="monotonic_cst needs an alpha above 0; got 0"):
        RankRLS(0.0, monotonic_cst=[1, 0, 0, 0]).fit(X, y, qid)
    with pytest.raises(ParameterError, match="monotonic_cst needs an alpha above 0; got 0"):
        RankRLSCV([0.0, 1.0], monotonic_cst=[1, 0, 0, 0]).fit(X, y, qid)


@pytest.mark.parametrize("ties", ["keep", "drop"])
def test_several_targets_are_refused(ties):
    X, y, qid = plain()
    with pytest.raises(ParameterError, match="monotonic_cst supports one target; y has 2"):
        RankRLS(monotonic_cst=[1, 0, 0, 0], ties=ties).fit(X, np.column_stack([y, y]), qid)
    moments = RankRLS().fit(X, np.column_stack([y, y]), qid).moments_
    with pytest.raises(ParameterError, match="monotonic_cst supports one target; y has 2"):
        RankRLS.from_moments(moments, monotonic_cst=[1, 0, 0, 0])


def test_signs_that_leave_no_weight_are_refused():
    X, y, qid = plain(n=2)
    model = RankRLS(monotonic_cst=[-1, 1])
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(
            DataError, match="contradict every sign of monotonic_cst, so all weights would be 0"
        ):
            learn(X, y, qid)
        assert not hasattr(model, "coef_")


def test_leaving_out_a_query_that_dominates_a_feature_keeps_the_digits_of_the_others():
    rng = np.random.default_rng(3)
    X, qid = rng.normal(size=(60, 3)), np.repeat(np.arange(6), 10)
    y = X @ [1.0, 0.5, 0.2] + rng.normal(size=60)
    own = qid == 2
    X[own, 2] *= 1e6
    signs = [1, 0, 1]
    left_out = RankRLSCV(alphas=[1e-3], monotonic_cst=signs).fit(X, y, qid).left_out_scores_[own]
    refitted = RankRLS(1e-3, monotonic_cst=signs).fit(X[~own], y[~own], qid[~own]).predict(X[own])
    gap = left_out - refitted
    np.testing.assert_allclose(gap - gap.mean(), 0.0, atol=1e-9 * np.abs(refitted).max())


@pytest.mark.parametrize("seed", range(8))
def test_a_fold_without_which_every_sign_is_contradicted_is_scored_all_the_same(seed):
    rng = np.random.default_rng(seed)
    X, y, alphas = rng.normal(size=(20, 2)), rng.integers(0, 3, 20).astype(float), [0.1, 1.0, 10.0]

    def scores(grid):
        try:
            return RankRLSCV(grid, monotonic_cst=[1, 1]).fit(X, y).scores_[0].tolist()
        except DataError:  # the labels contradict every sign of the chosen model, too
            return None

    together, alone = scores(alphas), [scores([alpha]) for alpha in alphas]
    assert together is None or np.concatenate(alone).tolist() == pytest.approx(together)


def test_an_update_without_signs_leaves_no_certificate_of_earlier_ones():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(40, 3)), np.repeat([0, 1], 20)
    y, first = X @ [1.0, 2.0, 0.5], qid == 0
    model = RankRLS(monotonic_cst=[1, 1, 1]).fit(X[first], y[first], qid[first])
    assert model.kkt_residual_ >= 0.0
    model.set_params(monotonic_cst=None).partial_fit(X[~first], y[~first], qid[~first])
    assert not hasattr(model, "kkt_residual_")
    assert not hasattr(model, "contradicted_signs_")
