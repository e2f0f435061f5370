"""Few labels of people and many of a model: estimates that stay right, with intervals that cover."""

import json

import numpy as np
import pytest
from scipy.stats import t as student

import rankwise
from command_line import done, folder, refused
from rankwise import load_letor
from rankwise.errors import DataError
from rankwise.metrics import compare, evaluate, evaluate_sampled
from rankwise.metrics.prediction_powered import Part, combine
from rankwise.metrics.significance import margin_of_mean, skewed_quantile

__all__ = ["done", "folder", "refused"]  # fixtures


def values(rng, n, correlation):
    """Rows of one document each, whose measure is its label: (people, model)."""
    people = rng.normal(size=n)
    return people, 0.7 + correlation * people + np.sqrt(1 - correlation**2) * rng.normal(size=n)


def label_of(labels, scores):
    """A measure that is any number: the label of the only row of a query."""
    return float(labels[0])


def rows(rng, n_queries=60, n_sampled=15, wrong=0.2):
    qid = np.repeat(np.arange(n_queries), 8)
    truth = rng.integers(0, 3, len(qid)).astype(float)
    judge = np.where(rng.random(len(qid)) < wrong, rng.integers(0, 3, len(qid)), truth)
    people = np.ma.masked_array(truth, mask=~np.isin(qid, rng.permutation(n_queries)[:n_sampled]))
    return qid, truth, judge, people, truth + rng.normal(size=len(qid))


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.9])
def test_intervals_cover_and_are_never_clearly_wider_than_those_of_people_alone(correlation):
    rng = np.random.default_rng(0)
    covered, ratio, naive = [], [], []
    for _ in range(250):
        people, model = values(rng, 160, correlation)
        given = np.ma.masked_array(people, mask=np.arange(160) >= 40)
        (found,) = evaluate_sampled(model, given, np.zeros(160), np.arange(160), label_of).means
        covered.append(abs(found.mean) <= found.margin)
        ratio.append(found.margin / found.people_margin)
        naive.append(abs(found.model) <= found.margin)
    assert 0.91 <= np.mean(covered) <= 0.985
    assert np.mean(ratio) <= 1.02
    assert np.mean(naive) < 0.05
    if correlation == 0.9:
        assert np.mean(ratio) < 0.7


@pytest.mark.parametrize("judge", [0.1, 0.5, 2.0])
def test_intervals_of_thirty_skewed_values_cover_where_students_t_does_not(judge):
    rng = np.random.default_rng(0)
    covered, alone, by_t, ratio = [], [], [], []
    for _ in range(800):
        values = -rng.exponential(size=300)
        model = values + judge * rng.normal(size=300)
        h, f, others = values[:30], model[:30], model[30:]
        sample, proxy, outside = (Part(v.mean(), v - v.mean()) for v in (h, f, others))
        found = combine(sample, proxy, outside)
        covered.append(abs(found.mean + 1.0) <= found.margin)
        alone.append(abs(sample.mean + 1.0) <= sample.margin)
        by_t.append(abs(sample.mean + 1.0) <= margin_of_mean(h, np.ones(30)))
        ratio.append((found.margin, sample.margin))
    assert 0.93 <= np.mean(covered) <= 0.975
    assert np.mean(by_t) < 0.932 < np.mean(alone)
    assert np.divide(*np.mean(ratio, axis=0)) < 1.01


def test_the_variance_is_that_of_estimates_without_one_query_each():
    rng = np.random.default_rng(7)
    h = rng.exponential(size=25)
    f, others = h + rng.normal(size=25), rng.exponential(size=60) + rng.normal(size=60)

    def estimate(h, f):
        slope = np.cov(h, f)[0, 1] / np.var(f, ddof=1) / (1.0 + len(h) / 60)
        return h.mean() + slope * (others.mean() - f.mean()), slope

    sample, proxy, outside = (Part(v.mean(), v - v.mean()) for v in (h, f, others))
    found = combine(sample, proxy, outside)
    mean, slope = estimate(h, f)
    without = [estimate(np.delete(h, i), np.delete(f, i))[0] for i in range(25)]
    variance = 24 * np.var(without) + slope**2 * np.var(others, ddof=1) / 60
    residual = sample.effect - slope * proxy.effect
    assert (found.mean, found.weight) == pytest.approx((mean, slope))
    assert found.margin == pytest.approx(skewed_quantile(residual, 23) * np.sqrt(variance))


def test_the_quantile_is_students_where_all_values_are_equal_and_larger_where_they_are_skewed():
    equal, symmetric = np.ones(20), np.linspace(-1.0, 1.0, 20)
    skewed = np.append(np.zeros(19), 1e-200)
    assert skewed_quantile(equal, 19) == pytest.approx(student.ppf(0.975, 19))
    assert skewed_quantile(symmetric, 19) == pytest.approx(student.ppf(0.975, 19), abs=0.02)
    assert 4.0 < skewed_quantile(skewed, 19) < 5.0
    assert skewed_quantile(skewed, 19) == pytest.approx(skewed_quantile(1e200 * skewed, 19))


def test_without_model_labels_that_help_it_is_the_mean_of_people():
    rng = np.random.default_rng(1)
    qid, truth, _, people, scores = rows(rng)
    sampled = ~people.mask
    alone = evaluate(truth[sampled], scores[sampled], qid[sampled], "p@3")
    reversed_ = np.where(truth > 0, 0.0, 1.0)
    (found,) = evaluate_sampled(reversed_, people, scores, qid, "p@3").means
    assert found.weight == 0.0
    assert found.mean == found.people == pytest.approx(alone.means["p@3"])
    assert found.margin == found.people_margin >= alone.margins["p@3"]


def test_a_perfect_model_gives_nearly_the_mean_over_all_queries():
    rng = np.random.default_rng(2)
    qid, truth, _, people, scores = rows(rng, n_queries=400, n_sampled=20, wrong=0.0)
    (found,) = evaluate_sampled(truth, people, scores, qid, "ndcg@5").means
    assert found.correlation == pytest.approx(1.0)
    assert found.mean == pytest.approx(evaluate(truth, scores, qid, "ndcg@5").means["ndcg@5"])


def test_differences_are_those_of_a_comparison_when_people_judged_everything():
    rng = np.random.default_rng(3)
    qid, truth, judge, _, scores = rows(rng)
    named = {"one": scores, "other": -scores}
    found = evaluate_sampled(judge, np.ma.masked_array(truth), named, qid, ["ndcg@5", "map"]).differences
    tests = compare(truth, named, qid, ["ndcg@5", "map"]).tests
    assert [one.scores for one in found] == ["other - one"] * 2
    assert [one.mean for one in found] == pytest.approx([-test.difference for test in tests])
    assert [one.margin for one in found] == pytest.approx([test.margin for test in tests], rel=0.05)


def test_queries_that_people_leave_out_do_not_bias_the_estimate():
    """People find no relevant row in a third of the queries; the model's labels are high there."""
    rng, means = np.random.default_rng(4), []
    population = 2000
    qid = np.repeat(np.arange(population), 4)
    truth = rng.integers(0, 3, len(qid)).astype(float)
    truth[qid % 3 == 0] = 0.0
    judge = np.where(qid % 3 == 0, rng.integers(0, 3, len(qid)), truth)
    scores = truth + rng.normal(size=len(qid)) + (judge - truth)
    target = evaluate(truth, scores, qid, "ndcg@3").means["ndcg@3"]
    for _ in range(150):
        chosen = rng.permutation(population)[:200]
        part = np.isin(qid, chosen)
        people = np.ma.masked_array(truth[part], mask=~np.isin(qid[part], chosen[:40]))
        means.append(evaluate_sampled(judge[part], people, scores[part], qid[part], "ndcg@3").means[0].mean)
    assert np.mean(means) == pytest.approx(target, abs=3.5 * np.std(means) / np.sqrt(150))


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (slice(1, None), "People judged 1 of the 8 rows of query 0; a query must be judged as a whole"),
        (slice(16, None), "People judged 2 queries; at least 5 are needed"),
    ],
)
def test_labels_that_are_no_sample_of_queries_are_refused(mask, message):
    qid, truth, judge, _, scores = rows(np.random.default_rng(5))
    hidden = np.zeros(len(qid), dtype=bool)
    hidden[mask] = True
    with pytest.raises(DataError, match=message):
        evaluate_sampled(judge, np.ma.masked_array(truth, hidden), scores, qid)
    with pytest.raises(DataError, match="one entry per row"):
        evaluate_sampled(judge, truth[:5], scores, qid)


@pytest.fixture
def judged_by_people(folder, tmp_path):
    """A table of the true labels of eight queries, and its lines."""
    test, path = load_letor(folder / "test.txt"), tmp_path / "human.csv"
    sampled = np.flatnonzero(np.isin(test.queries.query_of_row(), np.arange(8)))
    lines = [f"{test.qid[row]},{test.docs[row]},{test.y[row]:g}" for row in sampled]
    path.write_text("\n".join(["qid,doc,label", *lines, ""]), encoding="utf-8")
    return path, lines


def test_the_command_reads_what_people_said_from_a_table(folder, done, refused, judged_by_people):
    (path, lines), test = judged_by_people, load_letor(folder / "test.txt")
    found = json.loads(done("evaluate", "test.txt", "model", "--human", path, "--measures", "map", "--json"))
    assert (found["n_sampled"], found["n_queries"]) == (8, test.n_queries)
    (mean,) = found["means"]
    assert mean["correlation"] == pytest.approx(1.0)
    assert mean["mean"] == pytest.approx(mean["model"], abs=0.01)
    assert "People judged 8 of" in done("evaluate", "test.txt", "model", "--human", path)
    path.write_text("\n".join(["qid,doc,label", *lines[:-1], ""]), encoding="utf-8")
    assert "must be judged as a whole" in refused("evaluate", "test.txt", "model", "--human", path, code=1)
    path.write_text("qid,doc,label\nnowhere,1,2\n", encoding="utf-8")
    assert "nowhere" in refused("evaluate", "test.txt", "model", "--human", path, code=1)


def test_rankers_are_compared_by_what_people_said(folder, done, refused, judged_by_people):
    (path, _), test = judged_by_people, load_letor(folder / "test.txt")
    scores = {"model": rankwise.load_model(folder / "model").predict(test.X), "other": test.X[:, 0]}
    (folder / "other.txt").write_text("\n".join(map(repr, scores["other"].tolist())), encoding="utf-8")
    asked = ["compare", "model", "other.txt", "--data", "test.txt", "--human", path, "--measures", "map"]
    found = json.loads(done(*asked, "--baseline", "other", "--json"))
    people = np.ma.masked_array(test.y, test.queries.query_of_row() >= 8)
    expected = evaluate_sampled(test.y, people, dict(reversed(scores.items())), test.qid, "map")
    assert found == expected.to_dict()
    assert found["differences"][0]["scores"] == "model - other"
    shown = done(*asked)
    assert "other - model" in shown
    assert "People judged 8 of" in shown
    message = refused(*asked, "--fail-if-worse", "map:0.1", code=2)
    assert message == "--human cannot be combined with --fail-if-worse.\n"
