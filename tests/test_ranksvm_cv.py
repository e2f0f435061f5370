"""RankSVMCV chooses what RankSVM would, alpha by alpha."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit

from hinge_ranking import LOSSES
from rankwise import DataError, ParameterError, RankSVM, RankSVMCV, config_context, load_model
from rankwise.held_out import Patience
from rankwise.metrics import pairwise_error
from rankwise.operators.design import MatrixDesign

ALPHAS = [1e-3, 1e-2, 1e-1, 1.0]


@pytest.fixture(autouse=True)
def fits_return_what_an_interrupt_left():
    with config_context(on_interrupt="keep"):
        yield


def ranking(m=80, n=10, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    return X, X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=m), rng.integers(0, 12, m)


@pytest.mark.parametrize("loss, tol", [("hinge", 1e-5), ("squared_hinge", 1e-8)])
def test_an_eval_set_chooses_the_alpha_that_is_best_on_it(loss, tol):
    X, y, qid = ranking()
    other = ranking(seed=1)
    seen = []
    model = RankSVMCV(ALPHAS, loss=loss, tol=tol).fit(X, y, qid, eval_set=other, on_progress=seen.append)
    errors = []
    for alpha in ALPHAS:
        alone = RankSVM(alpha, loss=loss, tol=tol).fit(X, y, qid)
        errors.append(pairwise_error(other[1], alone.predict(other[0]), other[2]))
    np.testing.assert_allclose(model.scores_, [errors], atol=0.02)
    assert model.alpha_ == model.best_["alpha"] == model.alphas_[model.scores_.argmin()]
    assert model.best_score_ == model.scores_.min()
    assert [step.alpha for step in seen] == ALPHAS[::-1]
    assert [step.done for step in seen] == [0.25, 0.5, 0.75, 1.0]
    assert model.gap_ <= tol
    expected = RankSVM(model.best_["alpha"], loss=loss, tol=tol).fit(X, y, qid)
    assert model.objective_ == pytest.approx(expected.objective_, abs=2 * tol)


def test_folds_of_queries_score_each_query_by_a_model_that_did_not_see_it():
    X, y, qid = ranking()
    seen = []
    model = RankSVMCV(ALPHAS, cv=3, tol=1e-4).fit(X, y, qid, on_progress=seen.append)
    assert [step.alpha for step in seen] == [alpha for alpha in ALPHAS[::-1] for _ in range(3)]
    np.testing.assert_allclose([step.done for step in seen], np.arange(1, 13) / 12)
    scores = np.empty(len(y))
    for train, test in GroupKFold(3).split(X, y, qid):
        scores[test] = RankSVM(1e-2, tol=1e-4).fit(X[train], y[train], qid[train]).predict(X[test])
    assert model.scores_[0, 1] == pytest.approx(pairwise_error(y, scores, qid), abs=0.02)
    assert model.cv_ == "3 folds of queries"


def ends_where_expected(model, whole, patience):
    """Whether a search has stopped where the values of all alphas say that it should."""
    values, tried = whole.scores_[0][::-1], 1
    while tried < len(values):
        best = values[:tried].min()
        if (values[tried - patience : tried] > best).all() and best < values[0] and tried > patience:
            break
        tried += 1
    np.testing.assert_array_equal(model.alphas_, whole.alphas_[len(values) - tried :])
    np.testing.assert_allclose(model.scores_[0], values[:tried][::-1], atol=1e-9)
    return tried < len(values)


GRID = np.logspace(-6, 2, 17)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("given", ["folds", "eval_set", "pairs", "sparse"])
def test_a_search_ends_when_so_many_alphas_in_a_row_are_worse_than_the_best(loss, given):
    X, y, qid = ranking(n=100)
    more = {"eval_set": ranking(n=100, seed=1)} if given == "eval_set" else {}
    for patience in (1, 2, 3):
        model = RankSVMCV(GRID, loss=loss, patience=patience)
        whole = RankSVMCV(GRID, loss=loss, early_stopping=False)
        if given == "pairs":
            pairs = [(i, j) for i in range(80) for j in range(i) if y[i] > y[j]]
            for one in (model, whole):
                one.fit_preferences(X, pairs, **more)
        else:
            for one in (model, whole):
                one.fit(scipy.sparse.csr_matrix(X) if given == "sparse" else X, y, qid, **more)
        assert ends_where_expected(model, whole, patience)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("given", ["folds", "eval_set"])
def test_where_the_measure_has_one_peak_an_early_end_chooses_what_the_whole_grid_would(seed, given):
    X, y, qid = ranking(m=300, n=200, seed=seed)
    more = {"eval_set": ranking(m=300, n=200, seed=seed + 10)} if given == "eval_set" else {}
    model = RankSVMCV(GRID).fit(X, y, qid, **more)
    whole = RankSVMCV(GRID, early_stopping=False).fit(X, y, qid, **more)
    assert ends_where_expected(model, whole, 3)
    assert model.alpha_ == whole.alpha_
    assert model.best_score_ == whole.best_score_
    if given == "folds":
        np.testing.assert_array_equal(model.coef_, whole.coef_)


@pytest.mark.parametrize(
    "values, n_tried",
    [
        ([5, 4, 5, 5, 5, 3], 5),  # a peak, and three that are worse
        ([5, 4, 5, 5, 4, 5, 5, 3], 8),  # one as good as the best in between
        ([4, 5, 5, 5, 3, 4, 4], 7),  # no peak yet
        ([5, 5, 5, 5, 5, 5], 6),
        ([5, 4, np.nan, 5, np.nan, 3], 5),
        ([np.nan, 4, 5, 5, 5, 3], 5),
    ],
)
def test_patience_is_exhausted_by_values_in_a_row_beyond_a_peak(values, n_tried):
    for sign in (1.0, -1.0):
        patience = Patience(3, higher_is_better=sign < 0)
        ends = [patience.exhausted_by(sign * value) for value in values[:n_tried]]
        assert ends[:-1] == [False] * (n_tried - 1)
        assert ends[-1] == (n_tried < len(values))


@pytest.mark.parametrize("n_alphas, cv", [(5, 5), (17, 11)])
def test_short_grids_and_many_folds_have_every_alpha_tried(n_alphas, cv):
    X, y, qid = ranking()
    model = RankSVMCV(np.logspace(-6, 2, n_alphas), cv=cv).fit(X, y, qid)
    assert len(model.alphas_) == n_alphas


def test_settings_end_by_themselves_and_have_no_scores_for_alphas_not_tried():
    X, y, qid = ranking(n=100)
    model = RankSVMCV(GRID, loss=("hinge", "squared_hinge"), patience=2).fit(X, y, qid)
    for row, loss in enumerate(("hinge", "squared_hinge")):
        alone = RankSVMCV(GRID, loss=loss, patience=2).fit(X, y, qid)
        missing = len(model.alphas_) - len(alone.alphas_)
        assert np.isnan(model.scores_[row, :missing]).all()
        np.testing.assert_array_equal(model.scores_[row, missing:], alone.scores_[0])
    assert len(model.alphas_) < len(GRID)
    assert model.best_score_ == np.nanmin(model.scores_)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_an_interrupt_while_folds_descend_chooses_among_the_alphas_that_all_have_finished(loss, monkeypatch):
    options = {"cv": 3, "tol": 1e-6, "loss": loss}
    Interrupting(monkeypatch, calls_until(7, monkeypatch, **options) + 2)
    seen = []
    with pytest.warns(UserWarning, match=r"Interrupted from the keyboard; alphas below 0\.1 were not tried"):
        model = RankSVMCV(ALPHAS, **options).fit(*ranking(), on_progress=seen.append)
    assert model.alphas_.tolist() == ALPHAS[2:]
    monkeypatch.undo()
    whole = RankSVMCV(ALPHAS, **options).fit(*ranking())
    np.testing.assert_array_equal(model.scores_, whole.scores_[:, 2:])
    assert len(seen) == 7


@pytest.mark.parametrize("order", ["as given", "sorted by label"])
def test_one_global_ranking_is_chosen_on_folds_of_rows_that_have_their_share_of_all_labels(order):
    X, y, _ = ranking()
    rows = np.arange(len(y)) if order == "as given" else np.argsort(y)
    model = RankSVMCV(ALPHAS, cv=4, tol=1e-5).fit(X[rows], y[rows])
    assert model.cv_ == "4 folds of rows"
    fold = np.argsort(np.argsort(y)) % 4
    errors = []
    for k in range(4):
        left = fold == k
        alone = RankSVM(1e-2, tol=1e-5).fit(X[~left], y[~left])
        errors.append(pairwise_error(y[left], alone.predict(X[left])))
    assert model.scores_[0, 1] == pytest.approx(np.mean(errors), abs=5e-3)


def test_splits_of_rows_are_taken_as_they_are():
    X, y, _ = ranking()
    model = RankSVMCV([1e-2], cv=KFold(4), tol=1e-5).fit(X, y)
    errors = []
    for train, test in KFold(4).split(X):
        alone = RankSVM(1e-2, tol=1e-5).fit(X[train], y[train])
        errors.append(pairwise_error(y[test], alone.predict(X[test])))
    assert model.scores_[0, 0] == pytest.approx(np.mean(errors), abs=5e-3)
    with pytest.raises(DataError, match="hold out rows and train on all others, as KFold does"):
        RankSVMCV(cv=[(np.arange(10), np.arange(10, 20))]).fit(X, y)
    with pytest.raises(DataError, match="every row at most once"):
        RankSVMCV(cv=ShuffleSplit(5, random_state=0)).fit(X, y)


def test_what_cannot_be_folded_is_named():
    X, y, qid = ranking()
    with pytest.raises(ParameterError, match="between 2 and the number of rows, 80; got 81"):
        RankSVMCV(cv=81).fit(X, y)
    with pytest.raises(ParameterError, match="pass one to fit, or set cv"):
        RankSVMCV(cv=None).fit(X, y)
    with pytest.raises(DataError, match="Without fold 1 of cv: There is nothing to learn"):
        RankSVMCV(cv=2).fit(X, np.where(qid == qid[0], y, 0.0), qid)


class Interrupting:
    """Products with X or its transpose, with one keyboard interrupt in the n-th call."""

    def __init__(self, monkeypatch, call, product="adjoint"):
        self.calls = 0
        multiply = getattr(MatrixDesign, product)

        def interrupted(design, vector):
            self.calls += 1
            if self.calls == call:
                raise KeyboardInterrupt
            return multiply(design, vector)

        monkeypatch.setattr(MatrixDesign, product, interrupted)


def calls_until(n_alphas, monkeypatch, **options):
    """The number of products done after this many alphas (over all folds)."""
    with monkeypatch.context() as patch:
        count, at = Interrupting(patch, -1), []
        RankSVMCV(ALPHAS, **options).fit(*ranking(), on_progress=lambda step: at.append(count.calls))
    return at[n_alphas - 1]


@pytest.mark.parametrize("loss", LOSSES)
def test_an_interrupt_in_a_later_fold_chooses_on_the_folds_before_it(loss, monkeypatch):
    X, y, qid = ranking()
    options = {"cv": 3, "tol": 1e-6, "loss": loss, "early_stopping": False}
    call = calls_until(5, monkeypatch, **options) + 2
    Interrupting(monkeypatch, call)
    seen = []
    with pytest.warns(UserWarning, match="Interrupted from the keyboard; alpha is chosen on 1 of 3 folds"):
        model = RankSVMCV(ALPHAS, **options).fit(X, y, qid, on_progress=seen.append)
    assert len(seen) == 5  # four alphas of the first fold, one of the second, and then no more
    _, test = next(GroupKFold(3).split(X, y, qid))
    train = np.setdiff1d(np.arange(len(y)), test)
    for alpha, score in zip(ALPHAS, model.scores_[0], strict=True):
        alone = RankSVM(alpha, loss=loss, tol=1e-6).fit(X[train], y[train], qid[train])
        assert score == pytest.approx(pairwise_error(y[test], alone.predict(X[test]), qid[test]), abs=0.02)
    best = RankSVM(model.best_["alpha"], loss=loss, tol=1e-6).fit(X, y, qid)
    assert model.objective_ == pytest.approx(best.objective_, abs=2e-6)
    assert model.gap_ <= 1e-6


@pytest.mark.parametrize("loss", LOSSES)
def test_an_interrupt_in_the_first_fold_chooses_among_the_alphas_before_it(loss, monkeypatch):
    options = {"cv": 3, "tol": 1e-6, "loss": loss, "early_stopping": False}
    Interrupting(monkeypatch, calls_until(2, monkeypatch, **options) + 2)
    with pytest.warns(UserWarning, match="1 of 3 folds"):
        model = RankSVMCV(ALPHAS, **options).fit(*ranking())
    assert model.alphas_.tolist() == ALPHAS[2:]
    assert model.best_["alpha"] in ALPHAS[2:]


def test_an_interrupt_before_there_is_anything_to_choose_by_is_passed_on(monkeypatch):
    Interrupting(monkeypatch, 2)
    with pytest.raises(KeyboardInterrupt):
        RankSVMCV(ALPHAS, tol=1e-6).fit(*ranking())


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("product, call", [("adjoint", 2), ("adjoint", 12), ("scores", 14)])
def test_an_interrupt_on_an_eval_set_keeps_the_best_so_far(loss, product, call, monkeypatch):
    seen = []
    Interrupting(monkeypatch, call, product)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = RankSVMCV(ALPHAS, tol=1e-6, loss=loss).fit(
            *ranking(), eval_set=ranking(seed=1), on_progress=seen.append
        )
    assert any("alphas below" in str(one.message) for one in caught)
    assert len(model.alphas_) == len(seen) < len(ALPHAS)
    assert model.best_["score"] == model.scores_.min()


@pytest.mark.parametrize("loss", LOSSES)
def test_an_interrupt_at_the_last_alpha_of_an_eval_set_leaves_none_untried(loss, monkeypatch):
    Interrupting(monkeypatch, 2, "adjoint")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = RankSVMCV([1e-3], tol=1e-9, loss=loss).fit(*ranking(), eval_set=ranking(seed=1))
    assert model.alphas_.tolist() == [1e-3]
    assert any("Interrupted" in str(one.message) for one in caught)
    assert not any("were not tried" in str(one.message) for one in caught)


def test_a_saved_choice_is_loaded_as_it_was(tmp_path):
    X, y, qid = ranking()
    model = RankSVMCV(ALPHAS, cv=3).fit(X, y, qid)
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.best_ == model.best_
    assert again.settings_ == [{"loss": "hinge", "weighting": "query"}]
