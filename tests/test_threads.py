"""The number of BLAS threads alongside our own."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from rankwise.ridge import tridiagonal
from rankwise.ridge.spectrum import RidgeSystem
from rankwise.threads import one_blas_thread


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(limits=2, user_api="blas"):
        yield


def test_one_blas_thread_holds_inside_the_block_only():
    with one_blas_thread():
        assert blas_threads() == {1}
        with one_blas_thread(wanted=False):
            assert blas_threads() == {1}
    assert blas_threads() == {2}
    with one_blas_thread(wanted=False):
        assert blas_threads() == {2}


def test_blocks_of_several_threads_may_end_in_any_order():
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas_threads() == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == {2}


def test_a_block_holds_in_whichever_thread_it_stands_and_ends():
    """`threadpoolctl` obeys only one thread, here the one of the fixture."""
    seen = []

    def limit():
        with one_blas_thread():
            seen.append(blas_threads())
        seen.append(blas_threads())

    thread = threading.Thread(target=limit)
    thread.start()
    thread.join()
    assert seen == [{1}, {2}]


@pytest.mark.parametrize("size, threads", [(tridiagonal.SMALL, {1}), (tridiagonal.SMALL + 1, {2})])
def test_only_large_systems_are_decomposed_on_several_threads(size, threads, monkeypatch):
    seen, reduce = [], tridiagonal.linalg.lapack.dsytrd

    def dsytrd(*arguments, **options):
        seen.append(blas_threads())
        return reduce(*arguments, **options)

    monkeypatch.setattr(tridiagonal.linalg.lapack, "dsytrd", dsytrd)
    assert RidgeSystem(np.eye(size), np.ones(size)).tridiagonal.extremes == (1.0, 1.0)
    assert seen == [threads]
    assert blas_threads() == {2}
