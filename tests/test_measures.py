"""Measures equal their definitions, including ties."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import kendalltau

import ranked_lists
from all_pairs import pair_errors
from rankwise import make_search_data
from rankwise.clicks import pairs_from_clicks
from rankwise.config import config_context
from rankwise.errors import ParameterError
from rankwise.metrics import (
    auc,
    average_precision,
    disagreement_error,
    err,
    get_measure,
    kendall_tau_b,
    mean_ndcg,
    ndcg,
    pairwise_error,
    precision_at,
    preference_error,
    recall_at,
    reciprocal_rank,
)


def tied_rows(seed, m, n_labels=4, n_scores=None):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_labels, m).astype(float)
    scores = rng.normal(size=m) if n_scores is None else rng.integers(0, n_scores, m).astype(float)
    return y, scores


# Lengths on both sides of where the kernels switch between direct counting, comparison sort and radix sort.
SHAPES = [
    (1, 2, None),
    (2, 2, 3),
    (23, 4, 5),
    (300, 300, None),
    (1500, 5, 40),
    (2000, 2000, None),
    (2000, 9, 2),
]


@pytest.mark.parametrize("m, n_labels, n_scores", SHAPES)
def test_pairwise_error_equals_explicit_pairs(m, n_labels, n_scores):
    y, scores = tied_rows(m, m, n_labels, n_scores)
    np.testing.assert_allclose(
        pairwise_error(y, scores), pair_errors(y, scores)["pairwise"], rtol=1e-14, equal_nan=True
    )


@pytest.mark.parametrize("m, n_labels, n_scores", SHAPES)
def test_weighted_pairwise_error_equals_explicit_weighted_pairs(m, n_labels, n_scores):
    y, scores = tied_rows(m, m, n_labels, n_scores)
    weight = np.random.default_rng(m).uniform(0.0, 2.0, m)
    np.testing.assert_allclose(
        pairwise_error(y, scores, sample_weight=weight),
        pair_errors(y, scores, weight)["pairwise"],
        rtol=1e-11,
        equal_nan=True,
    )


@pytest.mark.parametrize("m, n_labels, n_scores", SHAPES)
def test_disagreement_error_equals_the_mean_difference_of_signs(m, n_labels, n_scores):
    y, scores = tied_rows(m, m, n_labels, n_scores)
    np.testing.assert_allclose(
        disagreement_error(y, scores), pair_errors(y, scores)["disagreement"], rtol=1e-14, equal_nan=True
    )


def test_disagreement_error_counts_a_pair_tied_once_as_half():
    assert disagreement_error([1, 1], [0.3, 0.7]) == 0.5
    assert disagreement_error([1, 2], [0.3, 0.3]) == 0.5
    assert disagreement_error([1, 1], [0.3, 0.3]) == 0.0
    assert disagreement_error([1, 2], [0.7, 0.3]) == 1.0


@pytest.mark.parametrize("m, n_labels, n_scores", SHAPES[2:])
def test_tau_b_equals_scipy(m, n_labels, n_scores):
    y, scores = tied_rows(m, m, n_labels, n_scores)
    expected = kendalltau(y, scores).statistic
    assert kendall_tau_b(y, scores) == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_tau_b_of_constant_scores_is_zero():
    assert kendall_tau_b([1, 2, 3], [5, 5, 5]) == 0.0


def test_macro_is_the_mean_of_queries_and_micro_the_mean_of_pairs():
    y, qid, scores = [2, 1, 0, 1, 0], [0, 0, 0, 1, 1], [3, 2, 1, 1, 2]  # 0 of 3 pairs wrong, 1 of 1
    assert pairwise_error(y, scores, qid) == 0.5
    assert pairwise_error(y, scores, qid, average="micro") == 0.25


@pytest.mark.parametrize("weighted", [False, True])
def test_any_number_of_threads_gives_the_same_bits(weighted):
    rng = np.random.default_rng(3)
    m = 300_000
    y, scores = np.round(rng.normal(size=m), 3), np.round(rng.normal(size=m), 4)
    weight = rng.uniform(size=m) if weighted else None
    errors = set()
    for n_threads in (1, 2, 3):
        with config_context(n_threads=n_threads):
            errors.add(pairwise_error(y, scores, sample_weight=weight))
    assert len(errors) == 1


def test_counts_pass_the_range_of_32_bits():
    m = 200_000  # 2e10 pairs
    y = np.arange(m, dtype=float)
    assert pairwise_error(y, -y) == 1.0
    assert pairwise_error(y, y) == 0.0
    assert pairwise_error(y, np.zeros(m)) == 0.5
    assert pairwise_error(y, np.where(y < m / 2, y + m, y)) == pytest.approx((m / 2) / (m - 1), rel=1e-15)


def test_scores_that_agree_in_their_leading_bits_are_told_apart():
    rng = np.random.default_rng(4)
    y = rng.permutation(2000).astype(float)
    for scores in (
        1.0 + y * 2.0**-50,
        np.append(1e300, y[1:] * 1e-300),
        np.ldexp(1.0, (y / 2).astype(int) - 500),
    ):
        expected = pair_errors(y, scores)["pairwise"]
        assert pairwise_error(y, scores) == pytest.approx(expected, rel=1e-13, abs=1e-15)


def test_negative_zero_ties_with_zero():
    assert pairwise_error([0, 1], [0.0, -0.0]) == 0.5


def test_preference_error_counts_contradicted_pairs():
    scores = [3.0, 1.0, 1.0, 2.0]
    assert preference_error(scores, [[0, 1]]) == 0.0
    assert preference_error(scores, [[1, 0]]) == 1.0
    assert preference_error(scores, [[1, 2]]) == 0.5
    assert preference_error(scores, [[0, 1], [1, 3]], weight=[3.0, 1.0]) == 0.25


def test_preference_error_takes_pairs_from_clicks_with_their_weights():
    data, log = make_search_data(20, random_state=0, clicks=True)
    clicked = pairs_from_clicks(log)
    scores = data.X[:, 0]
    expected = preference_error(scores, clicked.pairs, weight=clicked.weight)
    assert preference_error(scores, clicked) == expected
    assert expected != preference_error(scores, clicked.pairs)


def test_auc_equals_sklearn_query_by_query():
    from sklearn.metrics import roc_auc_score

    y, scores = tied_rows(5, 60, n_labels=3, n_scores=6)
    qid = np.arange(60) % 3
    expected = np.mean([roc_auc_score(y[qid == q] >= 1, scores[qid == q]) for q in range(3)])
    assert auc(y, scores, qid) == pytest.approx(expected, rel=1e-12)


def test_letor_ndcg_equals_the_cases_worked_by_hand():
    y, scores = [0, 2, 1, 0, 2], [5, 4, 3, 2, 1]
    assert ndcg(y, scores, k=2, preset="letor") == pytest.approx(3 / 6)
    # 3 + 1/log2(3) + 3/log2(5) over 3 + 3 + 1/log2(3)
    assert ndcg(y, scores, k=5, preset="letor") == pytest.approx(0.742, abs=5e-4)
    assert ndcg(y, scores, k=2) == pytest.approx(0.387, abs=5e-4)
    assert ndcg(y, scores, k=5) == pytest.approx(0.659, abs=5e-4)
    assert ndcg(y, scores, k=5, gain="linear") == pytest.approx(0.674, abs=5e-4)


def test_labels_between_grades_gain_two_to_the_label_minus_one():
    y = [0.0, 0.1, 0.25, 0.49, 0.5, 0.75, 2.5]
    order = np.random.default_rng(0).permutation(len(y))
    expected = ranked_lists.ndcg([y[row] for row in order], len(y))
    assert ndcg(np.take(y, order), -np.arange(len(y))) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 7, 20])
def test_letor_ndcg_equals_its_definition_on_random_lists(k):
    rng = np.random.default_rng(k)
    for _ in range(20):
        y = rng.permutation([2.0, 1.0, *rng.integers(0, 3, 18)])
        expected = ranked_lists.ndcg(
            y.tolist(), k, discount=lambda rank: 1.0 if rank < 3 else 1.0 / math.log2(rank)
        )
        assert ndcg(y, -np.arange(20.0), k=k, preset="letor") == pytest.approx(expected, rel=1e-12)


def test_letor_counts_empty_queries_and_lists_shorter_than_k_as_zero():
    y, scores, qid = [1, 0, 0, 0, 0, 2], [6, 5, 4, 3, 2, 1], [0, 0, 0, 1, 1, 2]
    measure = get_measure("ndcg@3", preset="letor")
    assert measure.per_query(y, scores, qid).tolist() == [1.0, 0.0, 0.0]
    assert get_measure("p@3", preset="letor").per_query(y, scores, qid) == pytest.approx([1 / 3, 0, 1 / 3])
    assert get_measure("map", preset="letor").per_query(y, scores, qid).tolist() == [1.0, 0.0, 1.0]


TIED_LISTS = [
    ([0, 1, 2, 0, 1], [1, 1, 1, 1, 1]),
    ([0, 1, 2, 0, 1], [2, 2, 1, 1, 1]),
    ([2, 0, 0, 1, 0, 3], [3, 1, 1, 1, 0, 0]),
    ([0, 0, 0, 0, 1, 1], [2, 2, 2, 1, 1, 1]),
    ([1, 0, 1], [1, 2, 3]),
    ([1], [7]),
]


@pytest.mark.parametrize("k", [1, 2, 3, 4, 10])
@pytest.mark.parametrize("y, scores", TIED_LISTS)
def test_tied_scores_count_their_mean_over_all_orders(y, scores, k):
    grade = max(y)
    cases = {
        ndcg: ranked_lists.ndcg,
        precision_at: ranked_lists.precision,
        recall_at: ranked_lists.recall,
        average_precision: ranked_lists.average_precision,
        reciprocal_rank: ranked_lists.reciprocal_rank,
        err: lambda labels, k: ranked_lists.err(labels, k, grade),
    }
    for measure, definition in cases.items():
        expected = ranked_lists.mean_over_tie_orders(y, scores, lambda labels, f=definition: f(labels, k))
        assert measure(y, scores, k=k) == pytest.approx(expected, rel=1e-12), measure.__name__


@pytest.mark.parametrize("y, scores", TIED_LISTS)
def test_mean_ndcg_is_the_mean_of_ndcg_over_all_cutoffs_and_tie_orders(y, scores):
    expected = ranked_lists.mean_over_tie_orders(y, scores, ranked_lists.mean_ndcg)
    assert mean_ndcg(y, scores) == pytest.approx(expected, rel=1e-12)
    at_each = [ndcg(y, scores, k=k) for k in range(1, len(y) + 1)]
    assert mean_ndcg(y, scores) == pytest.approx(np.mean(at_each), rel=1e-12)


def test_letor_mean_ndcg_equals_its_definition_by_query():
    rng = np.random.default_rng(1)
    sizes = [1, 2, 3, 20, 7]
    lists = [rng.permutation([1, *rng.integers(0, 3, size - 1)]).tolist() for size in sizes]
    letor = {"discount": lambda rank: 1.0 if rank < 3 else 1.0 / math.log2(rank)}
    expected = [ranked_lists.mean_ndcg(labels, **letor) for labels in lists] + [0.0]
    y, qid = [*itertools.chain(*lists), 0, 0], np.repeat(np.arange(6), [*sizes, 2])
    found = get_measure("mean_ndcg", preset="letor").per_query(y, -np.arange(len(y)), qid)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_recall_divides_by_the_relevant_rows_or_by_as_many_as_fit():
    y, scores = [1, 1, 0, 1], [4, 3, 2, 1]
    assert recall_at(y, scores, k=2) == 2 / 3
    assert recall_at(y, scores, k=2, denominator="attainable") == 1.0
    assert recall_at([0, 0], [1, 2], k=1, empty="zero") == 0.0


@pytest.mark.parametrize("k", [1, 2, 4, 10])
@pytest.mark.parametrize("y, scores", TIED_LISTS)
def test_a_row_that_was_not_retrieved_counts_only_in_what_could_be_attained(y, scores, k):
    masked = np.ma.masked_array([*scores, 0.0, 0.0], mask=[0] * len(y) + [1, 1])
    grade = max(*y, 2)
    cases = {
        ndcg: lambda labels: ranked_lists.dcg(labels, k) / ranked_lists.dcg(sorted([*y, 2, 0])[::-1], k),
        precision_at: lambda labels: ranked_lists.precision(labels, k),
        recall_at: lambda labels: sum(r >= 1 for r in labels[:k]) / (1 + sum(r >= 1 for r in y)),
        average_precision: lambda labels: (
            ranked_lists.average_precision(labels, k) * sum(r >= 1 for r in y) / (1 + sum(r >= 1 for r in y))
        ),
        reciprocal_rank: lambda labels: ranked_lists.reciprocal_rank(labels, k),
        err: lambda labels: ranked_lists.err(labels, k, grade),
    }
    for measure, definition in cases.items():
        expected = ranked_lists.mean_over_tie_orders(y, scores, definition)
        assert measure([*y, 2, 0], masked, k=k) == pytest.approx(expected, rel=1e-12), measure.__name__


def test_pair_measures_tie_rows_that_were_not_retrieved_below_all_others():
    rng = np.random.default_rng(3)
    y, scores = rng.integers(0, 3, 400).astype(float), rng.normal(size=400)
    mask = rng.random(400) < 0.3
    lowest = np.where(mask, scores.min() - 1.0, scores)
    for name in ("pairwise_error", "disagreement_error", "kendall_tau_b", "auc"):
        measure = get_measure(name)
        assert measure(y, np.ma.masked_array(scores, mask)) == measure(y, lowest), name


def test_expected_reciprocal_rank_of_a_long_run_of_ties_is_exact():
    # One relevant row among n tied ones: the mean of 1/rank.
    n = 100_000
    y = np.zeros(n)
    y[17] = 1
    expected = np.sum(1.0 / np.arange(1, n + 1)) / n
    assert reciprocal_rank(y, np.zeros(n)) == pytest.approx(expected, rel=1e-10)


def test_row_order_settles_ties_by_rows_and_docs_by_labels():
    y, scores = [0, 1, 2], [1, 1, 1]
    assert reciprocal_rank(y, scores, ties="row-order") == 0.5
    docs = ["c", "a", "b"]  # descending: c, b, a
    assert ndcg(y, scores, ties="doc-descending", gain="linear", docs=docs) == pytest.approx(
        ranked_lists.ndcg([0, 2, 1], 3, gain=float)
    )


def test_reprepared_and_prepared_measures_agree_on_many_score_vectors():
    rng = np.random.default_rng(6)
    y, qid = rng.integers(0, 3, 200).astype(float), rng.integers(0, 20, 200)
    for name in ["ndcg@5", "map", "p@3", "rr", "err", "auc", "pairwise_error", "kendall_tau_b"]:
        prepared = get_measure(name).prepare(y, qid)
        for scores in rng.integers(0, 9, size=(5, 200)).astype(float):
            assert prepared(scores) == get_measure(name)(y, scores, qid), name


def test_queries_do_not_see_each_other():
    rng = np.random.default_rng(7)
    sizes = [1, 2, 40, 3, 1100, 7]
    qid = np.repeat(np.arange(len(sizes)), sizes)
    y, scores = rng.integers(0, 3, len(qid)).astype(float), rng.integers(0, 30, len(qid)).astype(float)
    for name in [
        "ndcg@5",
        "map",
        "p@3",
        "rr",
        "err@10",
        "auc",
        "pairwise_error",
        "disagreement_error",
        "tau_b",
    ]:
        measure = get_measure(name, max_grade=2.0, empty="zero")
        together = measure.per_query(y, scores, qid)
        alone = [measure(y[qid == q], scores[qid == q]) for q in range(len(sizes))]
        np.testing.assert_allclose(together, alone, rtol=1e-12, equal_nan=True, err_msg=name)


def test_err_without_cutoff_averages_mixed_grades_exactly():
    y = [0, 1, 2, 3, 0, 2]
    expected = np.mean([ranked_lists.err(list(p), 6, 3) for p in itertools.permutations(y)])
    assert err(y, np.ones(6)) == pytest.approx(expected, rel=1e-12)


def test_err_takes_grades_up_to_a_thousand():
    assert err([1000.0, 0.0], [1.0, 0.0]) == pytest.approx(1.0)
    with pytest.raises(ParameterError, match=r"at most 1000; got 1000\.5"):
        err([1.0, 0.0], [1.0, 0.0], max_grade=1000.5)
