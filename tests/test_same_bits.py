"""What the number of threads may change: nothing by ours; by those of BLAS, the last digits of closed forms.

BLAS has one number of threads for the process, which our fits lower to one for a while. To a closed form, a
fit in another thread is therefore another number of BLAS threads.
"""

import threading

import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import rankwise
from command_line import rankwise_process
from rankwise import KernelRankRLS, KernelRankRLSCV, RankRLS, RankRLSCV, RankSVM, RankSVMCV, RankSVMPath
from rankwise.metrics import evaluate


def ranking(n_rows, n_features):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    return X, np.round(np.abs(X[:, 0] + rng.normal(size=n_rows))), np.arange(n_rows) // 10


TALL, WIDE, SMALL = ranking(6000, 30), ranking(250, 510), ranking(120, 4)

# Without BLAS, or with one thread of it.
OURS = {
    "RankSVM": (RankSVM(), TALL),
    "RankSVM, squared hinge": (RankSVM(loss="squared_hinge"), TALL),
    "RankSVMCV": (RankSVMCV(alphas=[1e-3, 1e-1], cv=2), TALL),
    "RankRLS, cg": (RankRLS(solver="cg"), WIDE),
    "RankRLSCV, cg": (RankRLSCV(alphas=[0.1, 1.0], solver="cg", cv=2), TALL),
}
# Dense matrices that BLAS multiplies and decomposes, the larger ones on all of its threads.
DENSE = {
    "RankRLS, primal": (RankRLS(solver="primal"), TALL),
    "RankRLS, wide primal": (RankRLS(solver="primal"), WIDE),
    "RankRLS, dual": (RankRLS(solver="dual"), WIDE),
    "RankRLSCV, primal": (RankRLSCV(alphas=[0.1, 1.0], solver="primal"), TALL),
    "KernelRankRLS": (KernelRankRLS(), WIDE),
    "KernelRankRLS, cg": (KernelRankRLS(solver="cg"), WIDE),
    "KernelRankRLS, basis": (KernelRankRLS(basis=50, random_state=0), TALL),
    "KernelRankRLSCV": (KernelRankRLSCV(alphas=[0.1, 1.0]), WIDE),
    "RankSVMPath": (RankSVMPath(), SMALL),
}
FORMS = OURS | DENSE


def scores(name):
    ranker, (X, y, qid) = FORMS[name]
    model = clone(ranker).fit(X, y, qid)  # of its own, because two threads may fit the same
    options = {"alpha": float(model.alphas_[0])} if isinstance(model, RankSVMPath) else {}
    return model.predict(X, **options)


@pytest.mark.parametrize("name", FORMS)
def test_our_threads_change_no_bit(name):
    _, y, qid = FORMS[name][1]

    def bits(n_threads):
        with rankwise.config_context(n_threads=n_threads):
            found = scores(name)
            measured = evaluate(y, found, qid, ["ndcg@10", "pairwise_error"]).means
        return found.tobytes(), measured

    assert bits(1) == bits(2) == bits(3)


@pytest.mark.parametrize("name", FORMS)
def test_threads_of_blas_change_at_most_the_last_digits(name):
    found = []
    for n_threads in (1, 2, 3):
        with threadpool_limits(limits=n_threads, user_api="blas"):
            found.append(scores(name))
    if name in OURS:
        assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=0, atol=1e-9 * np.abs(found[0]).max())


@pytest.fixture
def another_fit():
    """Fits in another thread, one after the other: BLAS is limited most of the time."""
    ended = threading.Event()

    def fit():
        while not ended.is_set():
            scores("RankSVM")

    thread = threading.Thread(target=fit)
    thread.start()
    yield
    ended.set()
    thread.join()


@pytest.mark.parametrize("n_blas_threads", [1, 2])
def test_a_fit_in_another_thread_changes_no_bit_where_blas_may_not(n_blas_threads, request):
    names = FORMS if n_blas_threads == 1 else OURS
    with threadpool_limits(limits=n_blas_threads, user_api="blas"):
        alone = {name: scores(name).tobytes() for name in names}
        request.getfixturevalue("another_fit")
        for name in names:
            assert scores(name).tobytes() == alone[name], name


def test_the_option_threads_changes_no_bit_of_a_model_that_does_without_blas(tmp_path):
    rankwise.save_store(rankwise.RankingData.from_arrays(*TALL), tmp_path / "rows.store")
    models = []
    for number in (1, 3):
        arguments = ["train", "rows.store", "model", "--learner=ranksvm", "--no-date"]
        done = rankwise_process(*arguments, f"--threads={number}", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        models.append((tmp_path / "model").read_bytes())
    assert models[0] == models[1]
