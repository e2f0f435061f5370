"""Early stopping: which iterate is kept, how it is chosen, and what is rejected."""

import warnings

import numpy as np
import pytest

from noisy_ranking import noisy_ranking
from rankwise import DataError, KernelRankRLS, ParameterError, RankRLS, RankRLSCV, load_model
from rankwise.metrics import pairwise_error, preference_error


@pytest.mark.parametrize("alpha", [0.0, 3.0])
def test_early_stopping_keeps_the_iterate_that_the_eval_set_likes_best(alpha):
    X, y, qid = noisy_ranking()
    X_val, y_val, qid_val = noisy_ranking(seed=5)
    model = RankRLS(alpha=alpha, early_stopping=True, tol=0.0).fit(
        X, y, qid, eval_set=(X_val, y_val, qid_val)
    )
    assert model.solver_ == "cg"
    curve, best = model.validation_curve_, model.best_iter_
    assert len(curve) == model.n_iter_ == best + 10
    assert curve[best - 1] == curve.min() < curve[: best - 1].min()
    assert pairwise_error(y_val, model.predict(X_val), qid_val) == pytest.approx(curve.min(), abs=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        as_long = RankRLS(alpha=alpha, solver="cg", max_iter=best, tol=0.0).fit(X, y, qid)
    np.testing.assert_allclose(model.coef_, as_long.coef_, rtol=1e-12)


def test_an_eval_set_without_early_stopping_only_watches():
    X, y, qid = noisy_ranking()
    watched = RankRLS(solver="cg").fit(X, y, qid, eval_set=(X, y, qid))
    np.testing.assert_array_equal(watched.coef_, RankRLS(solver="cg").fit(X, y, qid).coef_)
    assert len(watched.validation_curve_) == watched.n_iter_


@pytest.mark.parametrize("kind", [RankRLS, KernelRankRLS])
@pytest.mark.parametrize("solver", ["auto", "closed", "cg"])
def test_an_eval_set_changes_neither_the_model_nor_the_solver(kind, solver):
    X, y, qid = noisy_ranking()
    X_val, y_val, qid_val = noisy_ranking(seed=5)
    plain, watched = kind(solver=solver).fit(X, y, qid), kind(solver=solver)
    watched.fit(X, y, qid, eval_set=(X_val, y_val, qid_val))
    assert watched.solver_ == plain.solver_
    np.testing.assert_array_equal(watched.predict(X), plain.predict(X))
    error = pairwise_error(y_val, watched.predict(X_val), qid_val)
    assert watched.validation_score_ == pytest.approx(error, abs=1e-12)
    assert hasattr(watched, "validation_curve_") == (solver == "cg")
    assert not hasattr(plain, "validation_score_")


def test_early_stopping_holds_out_whole_queries_the_same_for_the_same_seed():
    X, y, qid = noisy_ranking()
    seen = {}

    class Watching(RankRLS):
        def _families_of(self, rows, losses, held_out):
            seen[self.random_state] = (rows, held_out.X)
            return super()._families_of(rows, losses, held_out)

    models = [Watching(early_stopping=True, validation_fraction=0.2, random_state=s) for s in (3, 4)]
    for model in models:
        model.fit(X, y, qid)
        again = RankRLS(early_stopping=True, validation_fraction=0.2, random_state=model.random_state)
        np.testing.assert_array_equal(again.fit(X, y, qid).coef_, model.coef_)
        kept, out = seen[model.random_state]
        query_of = {row.tobytes(): q for row, q in zip(X, qid, strict=True)}
        kept_queries = {query_of[row.tobytes()] for row in kept}
        out_queries = {query_of[row.tobytes()] for row in out}
        assert len(out_queries) == 5
        assert not kept_queries & out_queries
        assert len(kept) + len(out) == len(X)
    assert seen[3][1].tobytes() != seen[4][1].tobytes()


@pytest.mark.parametrize("measure", ["ndcg@5", "kendall_tau_b"])
def test_measures_to_maximize_are_maximized(measure):
    X, y, qid = noisy_ranking()
    y = np.clip(y, 0, 4)
    model = RankRLS(alpha=0.0, early_stopping=True, measure=measure, random_state=0).fit(X, y, qid)
    assert model.validation_curve_[model.best_iter_ - 1] == model.validation_curve_.max()


def test_early_stopping_on_pairs_measures_the_violated_part():
    X, y, _ = noisy_ranking()
    rng = np.random.default_rng(3)
    drawn = rng.choice(len(X), (2000, 2))
    drawn = drawn[y[drawn[:, 0]] > y[drawn[:, 1]]]
    train, held = drawn[:600], drawn[600:]
    model = RankRLS(alpha=0.0, early_stopping=True).fit_preferences(X, train, eval_set=(X, held))
    assert preference_error(model.predict(X), held) == pytest.approx(model.validation_curve_.min())
    split = RankRLS(alpha=0.0, early_stopping=True, random_state=0).fit_preferences(X, drawn)
    assert split.best_iter_ <= split.n_iter_


@pytest.mark.parametrize("basis", [None, 40])
def test_kernel_early_stopping_judges_the_scores_that_it_predicts(basis):
    X, y, qid = noisy_ranking(m=150, n=5)
    X_val, y_val, qid_val = noisy_ranking(m=150, n=5, seed=9)
    model = KernelRankRLS(alpha=0.0, basis=basis, early_stopping=True, random_state=0)
    model.fit(X, y, qid, eval_set=(X_val, y_val, qid_val))
    best = pairwise_error(y_val, model.predict(X_val), qid_val)
    assert best == pytest.approx(model.validation_curve_.min(), abs=1e-3)


def test_a_saved_model_remembers_its_iterations(tmp_path):
    X, y, qid = noisy_ranking()
    model = RankRLS(early_stopping=True, random_state=0).fit(X, y, qid)
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.validation_curve_, model.validation_curve_)
    assert (loaded.n_iter_, loaded.best_iter_) == (model.n_iter_, model.best_iter_)


def test_early_stopping_regularizes_alpha_zero_without_a_warning():
    X, y, qid = noisy_ranking()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RankRLS(alpha=0, early_stopping=True).fit(X, y, qid, eval_set=noisy_ranking(seed=5))


def test_held_out_rows_without_comparable_pairs_are_refused():
    X, qid = noisy_ranking()[::2]
    y = np.zeros(len(X))
    y[np.flatnonzero(qid == 0)[0]] = 1.0
    with pytest.raises(DataError, match=r"validation_fraction=0.1 of the training data cannot be measured"):
        RankRLS(early_stopping=True, random_state=0).fit(X, y, qid)
    with pytest.raises(DataError, match="eval_set cannot be measured by 'pairwise_error'"):
        RankRLSCV(solver="cg").fit(*noisy_ranking(), eval_set=(X, np.zeros(len(X)), qid))


@pytest.mark.parametrize(
    ("n_features", "judges", "message"),
    [
        (2, [[[0, 1]]], "eval_set: X has 2 features"),
        (30, [np.empty((0, 2), dtype=int)], "eval_set: pairs must have shape"),
        (30, [[[0, 300]]], r"eval_set: pairs\[0\] is \(0, 300\)"),
        (30, [[[0, 1]], [0.0]], "all its pairs have weight 0"),
    ],
)
def test_held_out_pairs_that_cannot_judge_are_refused(n_features, judges, message):
    X, _, _ = noisy_ranking()
    pairs = np.column_stack([np.arange(100), np.arange(100, 200)])
    with pytest.raises(DataError, match=message):
        RankRLS(early_stopping=True).fit_preferences(X, pairs, eval_set=(X[:, :n_features], *judges))


@pytest.mark.parametrize(
    ("options", "eval_set", "error", "message"),
    [
        (
            {"solver": "primal", "early_stopping": True},
            None,
            ParameterError,
            "early_stopping needs solver='cg'",
        ),
        ({"solver": "dual", "checkpoint": "x"}, None, ParameterError, "checkpoint needs solver='cg'"),
        ({"solver": "newton"}, None, ParameterError, "'solver' parameter must be one of"),
        ({"solver": "cg"}, "features", DataError, "eval_set: X has 2 features"),
        ({"solver": "cg"}, "tied", DataError, "eval_set cannot be measured by 'pairwise_error'"),
        ({"solver": "cg"}, "short", DataError, "y in eval_set must have one entry per row"),
        ({"solver": "cg"}, "bare", DataError, r"eval_set must be \(X, y\) or \(X, y, qid\); got ndarray"),
        ({"solver": "cg", "tol": -1.0}, None, ParameterError, "'tol' parameter"),
        ({"solver": "cg", "max_iter": 0}, None, ParameterError, "'max_iter' parameter"),
        ({"early_stopping": True, "patience": 0}, None, ParameterError, "'patience' parameter"),
        ({"early_stopping": True, "validation_fraction": 1.0}, None, ParameterError, "below 1"),
        ({"early_stopping": True, "measure": "beauty"}, None, ParameterError, "Unknown measure 'beauty'"),
    ],
)
def test_mistakes_are_named(options, eval_set, error, message):
    X, y, qid = noisy_ranking()
    given = {
        None: None,
        "features": (X[:, :2], y, qid),
        "tied": (X, np.zeros(len(X)), qid),
        "short": (X, y[:5], qid),
        "bare": X,
    }[eval_set]
    with pytest.raises(error, match=message):
        RankRLS(**options).fit(X, y, qid, eval_set=given)


def test_without_anything_to_learn_early_stopping_keeps_the_model_of_zeros():
    X, y, qid = noisy_ranking()
    model = RankRLS(early_stopping=True).fit(np.zeros_like(X), y, qid, eval_set=noisy_ranking(seed=5))
    np.testing.assert_array_equal(model.coef_, 0.0)
