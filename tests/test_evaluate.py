"""Tables of measures: what is counted, omitted and rejected, and how differences are tested."""

import itertools
import json

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import wilcoxon

from rankwise.errors import DataError, ParameterError
from rankwise.metrics import compare, evaluate, get_measure, holm, ndcg, pairwise_error, preference_error
from rankwise.metrics.significance import margin_of_mean, randomization_p
from rankwise.preferences.queries import group_rows

Y = [2, 0, 1, 0, 0, 1, 1]
SCORES = [0.9, 0.1, 0.8, 0.2, 0.3, 0.5, 0.4]
QID = ["a", "a", "b", "b", "c", "d", "d"]


def test_evaluate_gives_means_over_counted_queries_and_a_line_per_query():
    result = evaluate(Y, SCORES, QID, ["ndcg@10", "pairwise_error"])
    assert result.means == {"ndcg@10": 1.0, "pairwise_error": 0.0}
    assert result.per_query["qid"].tolist() == ["a", "b", "c", "d"]
    assert result.per_query["n_rows"].tolist() == [2, 2, 1, 2]
    np.testing.assert_array_equal(result.per_query["ndcg@10"], [1.0, 1.0, np.nan, 1.0])
    np.testing.assert_array_equal(result.per_query["pairwise_error"], [0.0, 0.0, np.nan, np.nan])
    assert result.left_out == {"ndcg@10": 1, "pairwise_error": 2}


def test_evaluation_says_how_many_queries_were_left_out_and_why():
    result = evaluate(Y, SCORES, QID, ["ndcg@10", "pairwise_error"])
    assert "no relevant rows" in str(result)
    assert "no two rows with different labels" in str(result)
    assert "<table>" in result._repr_html_()


def test_evaluation_is_ready_for_json():
    plain = json.loads(json.dumps(evaluate(Y, SCORES, QID, "map").to_dict(), allow_nan=False))
    assert plain["measures"]["map"] == {
        "mean": 1.0,
        "queries": 3,
        "left_out": 1,
        "reason": "no relevant rows",
    }
    assert plain["per_query"]["map"] == [1.0, 1.0, None, 1.0]


def test_all_labels_tied_is_a_counted_nothing_not_an_error():
    result = evaluate([1, 1, 1], [1, 2, 3], measures="pairwise_error")
    assert np.isnan(result.means["pairwise_error"])
    assert result.left_out == {"pairwise_error": 1}
    assert "no two rows with different labels" in str(result)


def test_a_preset_counts_empty_queries_as_its_tool_does():
    assert evaluate(Y, SCORES, QID, "ndcg@10", preset="lightgbm").means["ndcg@10"] == 1.0
    assert evaluate(Y, SCORES, QID, "ndcg@10", preset="sklearn").means["ndcg@10"] == 0.75


def test_qid_may_be_anything_hashable_in_any_order_or_queries():
    order = [6, 0, 4, 2, 1, 5, 3]
    shuffled = evaluate(*(np.array(column)[order] for column in (Y, SCORES)), [(QID[i],) for i in order])
    assert shuffled.means == evaluate(Y, SCORES, group_rows(QID, len(Y))).means


@pytest.fixture
def two_rankers():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(40), 12)
    y = rng.integers(0, 4, 480).astype(float)
    return y, {"good": y + rng.normal(size=480), "poor": y + 3.0 * rng.normal(size=480)}, qid


def test_compare_tests_the_differences_of_queries(two_rankers):
    y, scores, qid = two_rankers
    result = compare(y, scores, qid, ["ndcg@5", "pairwise_error"])
    (first, second) = result.tests
    a, b = (get_measure("ndcg@5").per_query(y, scores[name], qid) for name in ("good", "poor"))
    assert first.difference == pytest.approx(a.mean() - b.mean())
    assert (first.n_better, first.n_worse, first.n_equal) == ((a > b).sum(), (a < b).sum(), (a == b).sum())
    assert first.p_wilcoxon == pytest.approx(wilcoxon((a - b)[a != b]).pvalue)
    assert first.p_randomization < 0.01
    assert second.difference < 0 < second.n_better - second.n_worse
    assert result.means["good"]["ndcg@5"] == pytest.approx(a.mean())
    assert "good" in str(result)
    assert "poor" in result._repr_html_()
    json.dumps(result.to_dict(), allow_nan=False)


def test_compare_gives_the_same_p_values_again(two_rankers):
    y, scores, qid = two_rankers
    assert compare(y, scores, qid).tests == compare(y, scores, qid).tests


def test_compare_tests_each_pair_of_names_once(two_rankers):
    y, scores, qid = two_rankers
    tests = compare(y, {**scores, "none": np.zeros(480)}, qid, "map", n_permutations=100).tests
    assert [(test.a, test.b) for test in tests] == [("good", "poor"), ("good", "none"), ("poor", "none")]


def test_holm_rejects_what_stepping_down_by_hand_rejects():
    def rejected(p, level):
        left = set(range(len(p)))
        while left and min(p[i] for i in left) <= level / len(left):
            left.remove(min(left, key=lambda i: p[i]))
        return set(range(len(p))) - left

    rng = np.random.default_rng(5)
    for n in range(1, 9):
        p = (rng.random(n) ** 3).tolist()
        corrected = holm(p)
        assert max(corrected) <= 1.0
        for level in [
            0.01,
            0.05,
            0.2,
            *(c * (1 + 1e-9) for c in corrected),
            *(c * (1 - 1e-9) for c in corrected),
        ]:
            if level < 1.0:
                assert {i for i in range(n) if corrected[i] <= level} == rejected(p, level)


def test_holm_leaves_out_tests_without_data_and_keeps_the_order():
    assert holm([0.02, np.nan, 0.01]) == [0.02, pytest.approx(np.nan, nan_ok=True), 0.02]
    assert holm([]) == []


def test_compare_corrects_for_all_pairs_and_measures(two_rankers):
    y, scores, qid = two_rankers
    tests = compare(y, {**scores, "none": np.zeros(480)}, qid, ["map", "p@5"], n_permutations=100).tests
    assert [t.holm_wilcoxon for t in tests] == holm([t.p_wilcoxon for t in tests])
    assert [t.holm_randomization for t in tests] == holm([t.p_randomization for t in tests])
    (alone,) = compare(y, scores, qid, "map").tests
    assert alone.holm_wilcoxon == alone.p_wilcoxon


def test_equal_rankers_do_not_differ(two_rankers):
    y, scores, qid = two_rankers
    (test,) = compare(y, {"a": scores["good"], "b": scores["good"]}, qid, "map").tests
    assert (test.p_wilcoxon, test.p_randomization, test.n_equal) == (1.0, 1.0, 40)


def test_randomization_is_exact_for_few_queries_and_close_to_it_for_more():
    # |±1 ± 2 ± 3| >= 6 for 2 of the 8 sign vectors.
    assert randomization_p(np.array([1.0, 2.0, 3.0]), 10_000, 0) == 0.25
    difference = np.array([1.0, 2.0, 3.0, -1.0, 0.5, -2.0, 1.5, 2.5, -0.5, 1.0])
    exact = randomization_p(difference, 2**10, 0)
    assert exact == np.mean(
        [abs(np.dot(signs, difference)) >= 8.0 for signs in itertools.product([-1, 1], repeat=10)]
    )
    assert randomization_p(difference, 2**10 - 1, 0) == pytest.approx(exact, abs=0.03)


@pytest.mark.parametrize("n", [2, 5, 40])
def test_the_margin_of_a_mean_is_half_of_students_interval(n):
    values = np.random.default_rng(n).normal(size=n)
    low, high = student.interval(0.95, n - 1, values.mean(), values.std(ddof=1) / np.sqrt(n))
    assert margin_of_mean(values, np.ones(n)) == pytest.approx((high - low) / 2.0, rel=1e-12)


def test_randomization_never_says_impossible():
    assert randomization_p(np.ones(40), 100, 0) == 1 / 101


def test_randomization_weighs_queries_as_the_mean_does():
    rng = np.random.default_rng(4)
    y, a, b = rng.normal(size=(3, 300))
    qid = np.sort(rng.integers(0, 30, 300) ** 2 // 100)  # 9 queries of very different sizes
    (test,) = compare(y, {"a": a, "b": b}, qid, "pairwise_error_micro").tests
    prepared = get_measure("pairwise_error_micro").prepare(y, qid)
    difference, weight = prepared.per_query(a) - prepared.per_query(b), prepared.query_weight
    exact = randomization_p(weight * difference, 10_000, 0)
    assert test.p_randomization == exact != randomization_p(difference, 10_000, 0)
    assert test.difference == pytest.approx(np.average(difference, weights=weight))


@pytest.mark.parametrize(
    "call, error, sentence",
    [
        (lambda: pairwise_error([1, 2], [1, 2, 3]), DataError, "scores .*expected 2, got 3"),
        (lambda: pairwise_error([1, 2], [1, 2], ["a"]), DataError, "qid .*expected 2, got 1"),
        (lambda: pairwise_error([1, np.nan], [1, 2]), DataError, "y .*row 1 has nan"),
        (lambda: pairwise_error([1, 2], [np.nan, 2]), DataError, "scores .*row 0 has nan"),
        (
            lambda: pairwise_error(np.array([1, "x"], dtype=object), [1, 2]),
            DataError,
            "y must hold real numbers",
        ),
        (lambda: pairwise_error([[1, 2]], [1, 2]), DataError, "y must be one-dimensional"),
        (lambda: pairwise_error([], []), DataError, "no rows to evaluate"),
        (lambda: evaluate([], [], []), DataError, "no rows to evaluate"),
        (
            lambda: evaluate([1], [1], None, "dcg@3"),
            ParameterError,
            "Unknown measure 'dcg@3'; must be one of ndcg, mean_ndcg, map",
        ),
        (lambda: evaluate([1], [1], None, []), ParameterError, "at least one"),
        (lambda: evaluate([1], [1], None, ["map", "ap"]), ParameterError, "contains 'map' more than once"),
        (
            lambda: evaluate([1], [1], None, "map", preset="letor5"),
            ParameterError,
            "Unknown preset 'letor5'; must be one of",
        ),
        (lambda: get_measure("p"), ParameterError, "requires a cutoff, as in 'p@10'"),
        (lambda: get_measure("auc@3"), ParameterError, "takes no cutoff"),
        (lambda: get_measure("ndcg@0"), ParameterError, "at least 1"),
        (
            lambda: get_measure("ndcg", gains="linear"),
            ParameterError,
            "Unknown convention 'gains'; must be one of gain",
        ),
        (lambda: get_measure("ndcg", gain="cubic"), ParameterError, "'gain' parameter must be one of"),
        (lambda: get_measure("ndcg", ties="threshold"), ParameterError, "does not support ties='threshold'"),
        (lambda: ndcg([1, 0], [1, 2], k=2.5), ParameterError, "'k' parameter"),
        (lambda: ndcg([-1, 0], [1, 2]), DataError, "require non-negative labels, but row 0 has label -1"),
        (lambda: ndcg([2000, 0], [1, 2]), DataError, "label 2000 of row 0"),
        (lambda: get_measure("err", max_grade=1)([0, 2], [1, 2]), DataError, "row 1 has label 2"),
        (
            lambda: get_measure("map").prepare([1, 0], None, [1, 2]),
            ParameterError,
            "do not accept sample_weight",
        ),
        (lambda: compare([1, 0], {"a": [1, 2]}), ParameterError, "at least two"),
        (
            lambda: compare([1, 0], [[1, 2], [2, 1]]),
            ParameterError,
            "must be a dict of named score vectors; got list",
        ),
        (lambda: preference_error([1, 2], [[0, 2]]), DataError, "pairs\\[0\\] is \\(0, 2\\), but there are"),
        (lambda: preference_error([1, 2], [[0.5, 1]]), DataError, "integer row numbers"),
        (lambda: preference_error([1, 2], np.zeros((0, 2), dtype=int)), DataError, "at least one pair"),
        (lambda: preference_error([1, 2], [[0, 1]], weight=[-1]), DataError, "non-negative; pair 0 has -1"),
        (lambda: preference_error([1, 2], [[0, 1]], weight=[0]), DataError, "no pair has a positive weight"),
        (lambda: preference_error([1, 2], [[1, 1]]), DataError, "compares row 1 with itself"),
        (lambda: pairwise_error([1, 2], [1, 2], average="mean"), ParameterError, "'macro', 'micro'"),
    ],
)
def test_a_mistake_gets_one_clear_sentence(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()
