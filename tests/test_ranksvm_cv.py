"""RankSVMCV chooses what RankSVM would, alpha by alpha."""

import numpy as np
import pytest

from rankwise import ParameterError, RankSVM, RankSVMCV, load
from rankwise.metrics import pairwise_error

ALPHAS = [1e-3, 1e-2, 1e-1, 1.0]


def ranking(m=80, n=10, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    return X, X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=m), rng.integers(0, 12, m)


@pytest.mark.parametrize("loss, tol", [("hinge", 1e-5), ("squared_hinge", 1e-8)])
def test_an_eval_set_chooses_the_alpha_that_is_best_on_it(loss, tol):
    X, y, qid = ranking()
    other = ranking(seed=1)
    seen = []
    model = RankSVMCV(ALPHAS, loss=loss, tol=tol, on_alpha=seen.append).fit(X, y, qid, eval_set=other)
    errors = []
    for alpha in ALPHAS:
        alone = RankSVM(alpha, loss=loss, tol=tol).fit(X, y, qid)
        errors.append(pairwise_error(other[1], alone.predict(other[0]), other[2]))
    np.testing.assert_allclose(model.scores_, [errors], atol=0.02)
    assert model.best_["alpha"] == model.alphas_[model.scores_.argmin()]
    assert [step.alpha for step in seen] == ALPHAS[::-1]
    assert model.gap_ <= tol
    expected = RankSVM(model.best_["alpha"], loss=loss, tol=tol).fit(X, y, qid)
    assert model.objective_ == pytest.approx(expected.objective_, abs=2 * tol)


def test_folds_of_queries_score_each_query_by_a_model_that_did_not_see_it():
    X, y, qid = ranking()
    model = RankSVMCV(ALPHAS, cv=3, tol=1e-4).fit(X, y, qid)
    from sklearn.model_selection import GroupKFold

    scores = np.empty(len(y))
    for train, test in GroupKFold(3).split(X, y, qid):
        scores[test] = RankSVM(1e-2, tol=1e-4).fit(X[train], y[train], qid[train]).predict(X[test])
    assert model.scores_[0, 1] == pytest.approx(pairwise_error(y, scores, qid), abs=0.02)
    assert model.cv_ == "leave-fold-out"


def test_patience_leaves_out_alphas_after_the_best():
    X, y, qid = ranking()
    grid = np.logspace(-6, 2, 17)
    model = RankSVMCV(grid, patience=2).fit(X, y, qid, eval_set=ranking(seed=1))
    assert len(model.alphas_) < len(grid)
    assert model.scores_[0, :2].min() >= model.scores_.min()


def test_one_global_ranking_needs_an_eval_set():
    X, y, _ = ranking()
    with pytest.raises(ParameterError, match="eval_set"):
        RankSVMCV(ALPHAS).fit(X, y)


def test_a_saved_choice_is_loaded_as_it_was(tmp_path):
    X, y, qid = ranking()
    model = RankSVMCV(ALPHAS, cv=3).fit(X, y, qid)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.best_ == model.best_
    assert again.settings_ == [{"loss": "hinge", "weighting": "query"}]
