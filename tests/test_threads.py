"""The number of BLAS threads alongside our own."""

import ast
import threading
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import rankwise
from rankwise.ridge import tridiagonal
from rankwise.ridge.spectrum import RidgeSystem
from rankwise.threads import one_blas_thread

# Modules of `linalg` that only contain names, and functions without large products.
NO_DECOMPOSITION = {"lapack", "norm", "LinAlgError", "eigvalsh_tridiagonal", "blas"}
# Whoever calls these is pinned already: `minimize_bundle`, and what calls `signed_least_squares`.
PINNED_BY_CALLERS = {"svm/subspace.py", "ridge/forward_blocks.py", "ridge/signed.py"}


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


def decompositions(node, pinned=False):
    """The functions of `linalg` that are named outside a block or function on one BLAS thread."""
    limits = [item.context_expr for item in getattr(node, "items", [])] + getattr(node, "decorator_list", [])
    pinned = pinned or any("one_blas_thread" in ast.unparse(limit) for limit in limits)
    if isinstance(node, ast.Attribute) and not pinned and node.attr not in NO_DECOMPOSITION:
        is_linalg = ast.unparse(node.value) in ("linalg", "np.linalg", "linalg.lapack", "linalg.blas")
        yield from [f"{ast.unparse(node)} in line {node.lineno}"] if is_linalg else []
    for child in ast.iter_child_nodes(node):
        yield from decompositions(child, pinned)


def test_every_decomposition_says_on_how_many_threads_it_runs():
    folder = Path(rankwise.__file__).parent
    found = {}
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        calls = list(decompositions(ast.parse(path.read_text(encoding="utf-8"))))
        if calls and name not in PINNED_BY_CALLERS:
            found[name] = calls
    assert found == {}
