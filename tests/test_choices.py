"""Where several ways are exact, the cheapest is taken, and blocks of work have the size they should have."""

import tracemalloc
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from rankwise.operators import blocks, kernel
from rankwise.operators.basis import features_of_basis
from rankwise.operators.gram import query_system
from rankwise.operators.native_rows import NativeRows
from rankwise.preferences.differences import QueryDifferences
from rankwise.preferences.queries import group_rows
from rankwise.ridge.kernel_spaces import KernelSpace, kernel_costs
from rankwise.ridge.ridge_family import solve_targets
from rankwise.ridge.spaces import ENTRY_COST, linear_costs
from rankwise.ridge.spectrum import RidgeSystem
from rankwise.types import Solver, Ties


@pytest.mark.parametrize("m, n", [(30, 7), (7, 30), (100, 100)])
def test_the_cost_of_the_dual_form_is_that_of_the_primal_form_of_the_transpose(m, n):
    ours, transposed = linear_costs(m, n, m * n), linear_costs(n, m, m * n)
    assert ours.closed[Solver.DUAL] == transposed.closed[Solver.PRIMAL]
    assert ours.closed[Solver.PRIMAL] == transposed.closed[Solver.DUAL]
    assert ours.n_unknowns == min(m, n)


def test_the_cost_of_a_closed_form_is_a_product_and_a_cholesky_factorization():
    assert linear_costs(30, 7, 210).closed[Solver.PRIMAL] == pytest.approx(30 * 7 * 7 + 7**3 / 3)
    assert kernel_costs(30).closed[Solver.DUAL] == pytest.approx(30**3 / 3)


def test_sparse_rows_lower_the_cost_of_products_and_of_no_factorization():
    dense, sparse = linear_costs(1000, 200, 200_000), linear_costs(1000, 200, 500)
    share = ENTRY_COST * 500 / 200_000
    cubes = {Solver.PRIMAL: 200**3 / 3, Solver.DUAL: 1000**3 / 3}
    for form, power in ((Solver.PRIMAL, 2), (Solver.DUAL, 1)):
        products = dense.closed[form] - cubes[form]
        assert sparse.closed[form] - cubes[form] == pytest.approx(share**power * products)
    assert sparse.iterative == pytest.approx(dense.iterative / 400)
    assert linear_costs(1000, 200, 190_000).closed == dense.closed


@pytest.mark.parametrize("n", [1, 10, 1000, 10**5])
def test_a_block_of_rows_fills_its_share_of_the_cache(n):
    size = blocks.block_rows(np.empty((1, n)))
    assert size == max(64, blocks.BLOCK_BYTES // (8 * n))
    places = list(kernel.row_blocks(10**6, n))
    assert places[0].stop - places[0].start == min(10**6, max(64, kernel.BLOCK_BYTES // (8 * n)))
    assert places[0].start == 0
    assert places[-1].stop == 10**6
    assert all(before.stop == after.start for before, after in pairwise(places))


@pytest.mark.parametrize(("n", "rows"), [(10, 13_107), (362, 362), (400, 400), (512, 512), (2_000, 512)])
def test_a_block_added_to_a_large_matrix_has_rows_enough_to_be_worth_it(n, rows):
    assert blocks.gram_rows(np.empty((1, n))) == rows


@pytest.mark.parametrize("ties", Ties)
def test_a_system_of_basis_vectors_computes_every_row_once_in_large_blocks(ties):
    rng = np.random.default_rng(0)
    X, qid, y = rng.normal(size=(2_100, 5)), np.arange(2_100) // 7, rng.integers(0, 3, 2_100).astype(float)
    features = features_of_basis(X, kernel.Kernel(kernel.KernelName.RBF), np.arange(0, 2_100, 3))
    asked = []

    def kernel_rows(rows):
        asked.append(np.arange(2_100)[rows])
        return features.kernel_rows(rows)

    F = QueryDifferences(group_rows(qid, 2_100), y, ties=ties)
    query_system(F, replace(features, kernel_rows=kernel_rows), F.apply(y))
    assert np.bincount(np.concatenate(asked)).tolist() == [1] * 2_100
    assert len(asked) == 5


def test_only_the_last_of_several_targets_may_be_interrupted():
    done, cut = (SimpleNamespace(interrupted=flag, coef=np.ones(2), runs=()) for flag in (False, True))

    def family(solution):
        return SimpleNamespace(solve=lambda alphas, held_out: solution)

    assert solve_targets([family(cut)], 1.0) is cut
    with pytest.raises(KeyboardInterrupt):
        solve_targets([family(cut), family(done)], 1.0)


def test_a_system_is_decomposed_only_if_it_is_nearly_singular():
    A = np.random.default_rng(0).normal(size=(9, 5))
    regular, singular = (RidgeSystem(matrix, matrix @ np.ones(len(matrix))) for matrix in (A.T @ A, A @ A.T))
    solution, reciprocal = regular.cholesky(1e-3)
    np.testing.assert_allclose((regular.matrix + 1e-3 * np.eye(5)) @ solution, regular.right)
    assert reciprocal > 1e-6
    assert singular.cholesky(0.0)[1] < 1e-12
    assert not regular.is_decomposed


def test_the_size_of_a_kernel_problem_is_its_number_of_rows():
    costs = KernelSpace(np.ones((30, 4)), kernel.Kernel(kernel.KernelName.RBF)).costs
    assert costs.n_unknowns == 30
    assert costs.closed == kernel_costs(30).closed


def test_the_entries_of_a_matrix_are_those_it_stores():
    X = np.random.default_rng(0).normal(size=(7, 5)) * (np.arange(35).reshape(7, 5) % 3 > 0)
    assert NativeRows(X).n_entries == 35
    assert NativeRows(csr_array(X)).n_entries == np.count_nonzero(X)


def test_a_system_takes_memory_for_blocks_of_rows_not_for_all_of_them(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1)
    X = np.random.default_rng(0).normal(size=(20_000, 40))
    F = QueryDifferences(group_rows(np.arange(20_000) // 10, 20_000), X[:, 0])
    target = F.apply(X[:, 0])
    tracemalloc.start()
    query_system(F, X, target)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes / 2
