"""A fit starts from scratch: nothing of an earlier fit remains, and a failed fit leaves no model."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import rankwise
from graded_queries import toy
from rankwise import (
    DataError,
    KernelRankRLS,
    KernelRankRLSCV,
    RankRLS,
    RankRLSCV,
    RankSVM,
    RankSVMCV,
    RankSVMPath,
)

RANKERS = [RankRLS, RankRLSCV, KernelRankRLS, KernelRankRLSCV, RankSVM, RankSVMCV, RankSVMPath]


@pytest.mark.parametrize("kind", RANKERS)
def test_a_fit_that_failed_leaves_a_ranker_that_is_not_fitted(kind):
    X, y, qid = toy()
    ranker = kind()
    wider = np.hstack([X, X])
    for _ in range(2):
        with pytest.raises(DataError, match="nothing to learn"):
            ranker.fit(wider, np.ones(len(y)), qid)
        for rows in (X, wider):
            with pytest.raises(NotFittedError):
                ranker.predict(rows)
        ranker.fit(X, y)  # which the second failure removes


def test_a_second_fit_does_not_keep_what_select_measured_on_the_first(tmp_path):
    X, y, qid = toy()
    model = RankSVMPath(graph="reduced").fit(X, y, qid).select(X, y, qid)
    model.set_params(graph="full").fit(X, y, qid)
    assert not hasattr(model, "scores_")
    model.save(tmp_path / "model")
    assert rankwise.load_model(tmp_path / "model").alpha_ == model.alpha_


@pytest.mark.parametrize("kind", [KernelRankRLS, KernelRankRLSCV, RankSVMPath])
def test_a_precomputed_kernel_does_not_keep_the_rows_of_an_earlier_fit(kind, tmp_path):
    X, y, qid = toy()
    model = kind(kernel="linear").fit(X, y, qid)
    model.set_params(kernel="precomputed").fit(X @ X.T, y, qid)
    model.save(tmp_path / "model")
    loaded = rankwise.load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X @ X.T), model.predict(X @ X.T))


def test_a_fit_that_failed_on_the_way_leaves_no_mixture_of_models():
    X, y, qid = toy()
    model = RankSVMPath().fit(X, y, qid)

    def fail(*_):
        raise RuntimeError("no more events")

    with pytest.raises(RuntimeError, match="no more events"):
        model.fit(X[::-1].copy(), y, qid, on_event=fail)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_an_interrupt_keeps_the_path_as_far_as_it_goes():
    X, y, qid = toy(n=120)

    def interrupt(done, events, active):
        raise KeyboardInterrupt

    part = RankSVMPath()
    with (
        pytest.warns(ConvergenceWarning, match="stops at alpha = .*: interrupted from the keyboard"),
        pytest.raises(KeyboardInterrupt),
    ):
        part.fit(X, y, qid, on_event=interrupt)
    whole = RankSVMPath().fit(X, y, qid)
    assert 0 < part.n_events_ < whole.n_events_
    np.testing.assert_array_equal(part.alphas_, whole.alphas_[-len(part.alphas_) :])
    np.testing.assert_allclose(part.predict(X), whole.predict(X, alpha=part.alpha_), atol=1e-12)
