"""Measures do not tell lists apart that differ by nothing but rounding."""

import numpy as np
import pytest
from scipy.stats import PermutationMethod, wilcoxon

from rankwise.errors import DataError, ParameterError
from rankwise.metrics import KINDS, PRESETS, compare, get_measure, pairwise_error
from rankwise.metrics.significance import clear_differences, randomization_p, wilcoxon_p

NAMES = sorted(f"{kind}@3" if entry.cutoff == "needed" else kind for kind, entry in KINDS.items())
CUT = ["ndcg@2", "ndcg@5", "map@3", "rr@2", "err@3", "p@1", "p@7"]
BEST_IS_ONE = [*(f"ndcg@{k}" for k in (1, 2, 3, 5, 10, 100)), "ndcg", "map", "auc", "kendall_tau_b"]


def graded(rng, m, levels=(0.0, 0.1, 0.3, 1.0, 2.0, 3.0, 4.0)):
    """Labels whose gains are not all integers, with at least one that is relevant and one that is not."""
    y = rng.choice(levels, m)
    y[:2] = 0.0, 1.0
    return rng.permutation(y)


def ranked_like(y, rng):
    """Scores that order rows as y does, with rows of equal labels in any order, tied here and there."""
    return y + 0.01 * rng.integers(0, 3, len(y))


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", BEST_IS_ONE)
def test_the_best_order_of_rows_is_worth_exactly_one(name, preset):
    rng = np.random.default_rng(0)
    for m in (2, 3, 7, 12, 50, 200):
        for _ in range(15):
            y = graded(rng, m)
            y = np.where(y >= 1.0, 1.0, 0.0) if name in ("map", "auc") else y
            y = np.round(y) if name == "kendall_tau_b" else y
            scores = y if name == "kendall_tau_b" else ranked_like(y, rng)
            value = get_measure(name, preset=preset)(y, scores)
            short = preset == "letor" and name.startswith("ndcg@") and m < int(name[5:])
            assert value == (0.0 if short else 1.0)


@pytest.mark.parametrize("gain", ["linear", "exponential"])
@pytest.mark.parametrize("ties", ["average", "row-order"])
def test_ndcg_never_exceeds_one(gain, ties):
    rng = np.random.default_rng(1)
    for k in (None, 1, 3, 10):
        measure = get_measure("ndcg" if k is None else f"ndcg@{k}", gain=gain, ties=ties)
        for _ in range(200):
            # Gains that differ by an ulp or two, so that every order is as good as the best but for rounding.
            y = 0.7 + np.spacing(0.7) * rng.integers(0, 3, 20)
            assert measure(y, rng.integers(0, 9, 20).astype(float)) <= 1.0


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", NAMES + CUT)
def test_lists_of_equal_labels_have_equal_values_whatever_rows_they_are_of(name, preset):
    if name == "map@3" and preset == "sklearn":
        pytest.skip("scikit-learn's average precision has no cutoff")
    rng = np.random.default_rng(2)
    for _ in range(60):
        y = graded(rng, 30)
        scores = rng.permutation(30).astype(float)
        place = np.argsort(-scores)
        other = np.empty(30)  # the same list of labels from other rows
        for label in np.unique(y):
            rows = np.flatnonzero(y == label)
            other[rng.permutation(rows)] = np.sort(scores[rows])
        assert (y[np.argsort(-other)] == y[place]).all()
        prepared = get_measure(name, preset=preset).prepare(y)
        assert prepared(scores) == prepared(other)


@pytest.mark.parametrize("name", [*NAMES, *CUT])
def test_the_order_of_rows_changes_no_bit(name):
    rng = np.random.default_rng(3)
    for _ in range(60):
        y, scores = graded(rng, 40), rng.integers(0, 5, 40).astype(float)
        shuffled = rng.permutation(40)
        measure = get_measure(name)
        assert measure(y, scores) == measure(y[shuffled], scores[shuffled])


@pytest.mark.parametrize("name", [*(n for n in NAMES if "tau" not in n and "disag" not in n), *CUT])
def test_ties_among_rows_of_equal_labels_change_no_bit(name):
    rng = np.random.default_rng(4)
    for _ in range(60):
        y = graded(rng, 40)
        strict = rng.permutation(40).astype(float)
        order = np.argsort(strict)
        run = np.cumsum(np.append(0, y[order][1:] != y[order][:-1]))
        tied = np.empty(40)
        tied[order] = run  # neighbours of equal labels share a score
        measure = get_measure(name)
        assert measure(y, tied) == measure(y, strict)


@pytest.mark.parametrize("scale", [1e-323, 1e-310, 1e-200, 1e300, 4e307])
def test_ndcg_does_not_depend_on_the_unit_of_linear_gains(scale):
    y, scores = np.array([4.0, 0.0, 2.0, 1.0, 3.0]), [0.3, 0.9, 0.5, 0.5, 0.1]
    for name in ("ndcg", "ndcg@3"):
        measure = get_measure(name, gain="linear")
        assert measure(y * scale, scores) == pytest.approx(measure(y, scores), rel=1e-14)
        assert measure(y * scale, y) == 1.0


@pytest.mark.parametrize("scale", [1e-310, 1e-100, 1e-20])
def test_tiny_labels_have_exponential_gains_as_well(scale):
    y, scores = np.array([4.0, 0.0, 2.0, 1.0, 3.0]), [0.3, 0.9, 0.5, 0.5, 0.1]
    linear = get_measure("ndcg", gain="linear")(y, scores)
    assert get_measure("ndcg")(y * scale, scores) == pytest.approx(linear, rel=1e-9)


def test_a_query_with_tiny_labels_counts_beside_one_with_huge_labels():
    y, qid = [1e-310, 0.0, 1e300, 0.0], [0, 0, 1, 1]
    values = get_measure("ndcg", gain="linear").per_query(y, [0.0, 1.0, 1.0, 0.0], qid)
    assert values == pytest.approx([1 / np.log2(3), 1.0])


def test_grades_too_large_for_err_are_refused():
    with pytest.raises(ParameterError, match="max_grade"):
        get_measure("err", max_grade=2000)([1.0, 0.0], [1.0, 0.0])
    with pytest.raises(DataError, match="overflows"):
        get_measure("err")([2000.0, 0.0], [1.0, 0.0])


@pytest.mark.parametrize("empty", ["leave-out", "zero"])
@pytest.mark.parametrize("name", ["pairwise_error_micro", *NAMES, *CUT])
def test_many_vectors_get_the_very_numbers_that_each_of_them_gets(name, empty):
    rng = np.random.default_rng(5)
    for m, n_queries in ((40, 3), (300, 23), (2000, 5)):
        y, qid = graded(rng, m), rng.integers(0, n_queries, m)
        y[qid == 0] = 0.0
        table = rng.integers(0, 9, size=(37, m)) / 7.0
        lists = not name.startswith(("auc", "pair", "dis", "ken"))
        prepared = get_measure(name, **({"empty": empty} if lists else {})).prepare(y, qid)
        assert prepared.many(table).tolist() == [prepared(scores) for scores in table]


def test_two_perfect_rankings_do_not_differ():
    rng = np.random.default_rng(6)
    qid = np.repeat(np.arange(8), 12)
    y = np.concatenate([graded(rng, 12) for _ in range(8)])
    a, b = ranked_like(y, rng), ranked_like(y, rng)
    for test in compare(y, {"a": a, "b": b}, qid, ["ndcg", "ndcg@10"]).tests:
        assert (test.n_better, test.n_worse, test.n_equal) == (0, 0, 8)
        assert (test.p_wilcoxon, test.p_randomization) == (1.0, 1.0)


def test_differences_that_are_equal_but_for_rounding_are_tied_in_the_tests():
    a, b = np.array([0.3, 0.7, 0.9, 1.0, 0.5]), np.array([0.1, 0.5, 0.7, 1.0 - 2**-53, 0.9])
    difference = clear_differences(a, b)
    assert len(set(a[:3] - b[:3])) > 1
    assert difference[0] == difference[1] == difference[2] == pytest.approx(0.2)
    assert difference[3] == 0.0
    assert difference[4] == pytest.approx(-0.4)
    assert wilcoxon_p(difference) == pytest.approx(wilcoxon_p(np.array([1.0, 1.0, 1.0, -2.0])))


@pytest.mark.parametrize("seed", range(3))
def test_few_tied_differences_have_the_exact_p_of_scipy(seed):
    difference = np.random.default_rng(seed).choice([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 4.0], size=7)
    every_sign = wilcoxon(difference, method=PermutationMethod())
    assert wilcoxon_p(np.append(difference, 0.0)) == pytest.approx(every_sign.pvalue, abs=1e-12)


def test_no_rounding_of_weights_makes_an_error_larger_than_one_or_negative():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        y, weight = rng.permutation(np.arange(30) % 3), rng.uniform(0.1, 1.0, 30)
        scores = 10.0 * y + rng.normal(size=30)
        assert pairwise_error(y, -scores, sample_weight=weight) == pytest.approx(1.0)
        assert pairwise_error(y, -scores, sample_weight=weight) <= 1.0
        assert pairwise_error(y, scores, sample_weight=weight) >= 0.0


def test_how_large_rounding_may_be_depends_on_the_largest_value_of_either():
    values, zeros = np.array([0.3, 0.1 + 0.2, 0.0]), np.zeros(3)
    for difference in (clear_differences(values, zeros), -clear_differences(zeros, values)):
        assert difference[0] == difference[1] == pytest.approx(0.3)
        assert difference[2] == 0.0


def test_differences_beyond_rounding_stay_as_they_are():
    rng = np.random.default_rng(7)
    a, b = rng.uniform(-1.0, 1.0, (2, 1000))
    np.testing.assert_array_equal(clear_differences(a, b), a - b)


def test_draws_that_cancel_like_the_differences_do_are_as_extreme():
    difference = np.array([0.1, 0.2, -0.3])
    assert difference.sum() != 0.0
    assert randomization_p(difference, 1000, 0) == 1.0
