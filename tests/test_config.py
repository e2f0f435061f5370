"""Settings for the process and for a block of code, and where they apply."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import rankwise
from rankwise import (
    KernelRankRLS,
    KernelRankRLSCV,
    ParameterError,
    RankRLS,
    RankRLSCV,
    RankSVM,
    RankSVMCV,
    RankSVMPath,
    config_context,
    get_config,
    set_config,
)
from rankwise.config import resolve_threads
from rankwise.threads import map_on_threads


@pytest.fixture(autouse=True)
def nothing_is_set(monkeypatch):
    monkeypatch.delenv("RANKWISE_NUM_THREADS", raising=False)
    yield
    set_config(n_threads=None)


def in_another_thread(function):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def test_a_block_sets_what_holds_inside_it_only():
    every_core = resolve_threads()
    with config_context(n_threads=3):
        assert resolve_threads() == 3
        with config_context(n_threads=5):
            assert resolve_threads() == 5
            with config_context():
                assert resolve_threads() == 5
            with config_context(n_threads=None):
                assert resolve_threads() == every_core
        assert resolve_threads() == 3
    assert resolve_threads() == every_core


def test_a_block_that_ends_with_an_error_restores_what_held_before():
    with config_context(n_threads=2):
        with pytest.raises(ZeroDivisionError), config_context(n_threads=3):
            _ = 1 / 0
        assert get_config().n_threads == 2
    assert get_config().n_threads is None


def test_a_function_can_be_decorated():
    @config_context(n_threads=3)
    def asked():
        return resolve_threads()

    assert (asked(), asked(), get_config().n_threads) == (3, 3, None)


def test_an_argument_goes_before_a_block_a_block_before_the_process_and_that_before_the_environment(
    monkeypatch,
):
    monkeypatch.setenv("RANKWISE_NUM_THREADS", "7")
    assert resolve_threads() == 7
    set_config(n_threads=6)
    assert resolve_threads() == 6
    with config_context(n_threads=5):
        set_config(n_threads=4)
        assert resolve_threads() == 5
    assert resolve_threads() == 4
    set_config(n_threads=None)
    assert resolve_threads() == 7


def test_the_process_is_set_for_all_threads_and_a_block_for_its_own():
    set_config(n_threads=6)
    with config_context(n_threads=3):
        assert in_another_thread(resolve_threads) == 6
        in_another_thread(lambda: config_context(n_threads=4).__enter__())
        assert resolve_threads() == 3


def test_threads_of_our_own_see_the_block_that_started_them():
    with config_context(n_threads=3):
        assert list(map_on_threads(lambda item: (item, resolve_threads()), range(20))) == [
            (i, 3) for i in range(20)
        ]


@pytest.mark.parametrize("change", [set_config, lambda **given: config_context(**given).__enter__()])
def test_what_cannot_be_set_is_named_and_nothing_changes(change):
    with pytest.raises(ParameterError, match=r"^Unknown setting 'threads'; expected one of: n_threads, "):
        change(n_threads=2, threads=2)
    for value in (0, -1, 2.0, True, "2"):
        with pytest.raises(
            ParameterError,
            match=rf"^The 'n_threads' parameter must be None or a positive int; got {value!r}\.$",
        ):
            change(n_threads=value)
    assert get_config().n_threads is None


def test_what_get_config_returns_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        get_config().n_threads = 2


ALPHAS = [0.1, 1.0]


@pytest.mark.parametrize(
    "ranker",
    [
        RankRLS(),
        RankRLS(solver="cg"),
        RankRLSCV(ALPHAS),
        RankRLSCV(ALPHAS, solver="cg", cv=2),
        KernelRankRLS(),
        KernelRankRLS(solver="cg"),
        KernelRankRLSCV(ALPHAS),
        RankSVM(),
        RankSVMCV(ALPHAS, cv=2),
        RankSVMPath(graph="reduced"),
    ],
    ids=str,
)
def test_rankers_use_the_threads_of_the_block_and_ask_nobody_else(ranker, monkeypatch):
    # Code that does not see the block, in any thread, reads the environment variable and fails.
    monkeypatch.setenv("RANKWISE_NUM_THREADS", "none")
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(240, 3)), np.repeat(np.arange(12), 20)
    y = np.round(X @ [1.0, -1.0, 0.5] + rng.normal(size=240))
    with config_context(n_threads=2):
        ranker.fit(X, y, qid).score(X, y, qid)
    with pytest.raises(ParameterError, match="RANKWISE_NUM_THREADS"):
        ranker.fit(X, y, qid).score(X, y, qid)


@pytest.mark.parametrize("setting", ["none", "", "0", "-1", "2.5", "65537", "99999", "1" * 50, "٣", "²"])
def test_a_number_of_threads_that_cannot_be_is_blamed_on_the_environment_variable(setting, monkeypatch):
    # In an ASCII locale, variables of the environment itself hold no other letters.
    monkeypatch.setattr("rankwise.threads.os.environ", {"RANKWISE_NUM_THREADS": setting})
    with pytest.raises(ParameterError) as error:
        resolve_threads()
    expected = f"RANKWISE_NUM_THREADS must be a whole number from 1 to 65,536; got {setting[:40]!r}."
    assert str(error.value) == expected


def test_the_number_of_the_block_reaches_the_kernels(monkeypatch):
    given = []
    kernel = rankwise._native.scores

    def scores(matrix, weights, out, n_threads):
        given.append(n_threads)
        return kernel(matrix, weights, out, n_threads)

    monkeypatch.setattr("rankwise._native.scores", scores)
    with config_context(n_threads=3):
        RankSVM().fit([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 2])
    assert set(given) == {3}
