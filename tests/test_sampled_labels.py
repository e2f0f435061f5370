"""Training on few labels of people and many of a model."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import rankwise
from command_line import done, folder, refused
from rankwise import DataError, ParameterError, RankRLS, RankRLSCV, fit_sampled, make_search_data
from rankwise.errors import GridWarning
from rankwise.metrics import evaluate
from rankwise.selection.sampled_labels import WEIGHTS, _correlation, weighted

__all__ = ["done", "folder", "refused"]  # fixtures


def sampled(n_queries=80, n_judged=20, seed=0):
    data = make_search_data(n_queries, random_state=seed)
    human = np.isin(data.qid, data.queries.labels[:n_judged])
    return data, human, np.ma.masked_array(data.y, ~human)


@pytest.mark.parametrize("weight", [0.01, 0.3, 1.0])
def test_the_model_is_linear_in_the_labels_of_people_and_of_the_model(weight):
    data, human, _ = sampled()
    rng = np.random.default_rng(1)
    judge = rng.integers(0, 4, data.n_rows).astype(float)
    of = lambda y: RankRLS(3.0).fit(weighted(replace(data, y=y), human, weight)).coef_  # noqa: E731
    both = of(np.where(human, data.y, judge))
    apart = of(np.where(human, data.y, 0.0)) + of(np.where(human, 0.0, judge))
    np.testing.assert_allclose(both, apart, atol=1e-10)
    # A model's labels plus what people correct.
    corrected = of(judge) + of(np.where(human, data.y - judge, 0.0))
    np.testing.assert_allclose(both, corrected, atol=1e-10)


def test_a_weight_of_zero_is_a_fit_to_people_alone():
    data, human, _ = sampled()
    alone = RankRLS(3.0).fit(data.select(human)).coef_
    np.testing.assert_allclose(RankRLS(3.0).fit(weighted(data, human, 0.0)).coef_, alone, atol=1e-10)


def test_a_model_that_misleads_counts_nothing_and_one_that_is_right_counts():
    data, human, people = sampled(seed=2)
    wrong = fit_sampled(RankRLSCV(measure="ndcg@10"), replace(data, y=data.y.max() - data.y), people)
    right = fit_sampled(RankRLSCV(measure="ndcg@10"), data, people)
    assert wrong[1] <= 0.01
    assert right[1] > 0.0
    assert {wrong[1], right[1]} <= set(WEIGHTS)
    test = make_search_data(200, random_state=9)
    alone = RankRLSCV(measure="ndcg@10").fit(data.select(human))
    means = [
        evaluate(test.y, one.predict(test.X), test.qid, "ndcg@10").means["ndcg@10"]
        for one in (alone, right[0], wrong[0])
    ]
    assert means[1] > means[0] - 0.002
    assert means[2] > means[0] - 0.02


def test_few_labels_of_people_do_not_spoil_those_of_a_good_model():
    test, lost = make_search_data(400, random_state=99), []
    ranker = RankRLSCV(measure="ndcg@10")
    for seed in range(5):
        data, _, people = sampled(n_queries=200, n_judged=10, seed=seed)
        rng = np.random.default_rng(seed)
        judge = np.where(rng.random(data.n_rows) < 0.3, rng.choice(data.y, data.n_rows), data.y)
        by_model = replace(data, y=judge)
        rankers = ranker.fit(by_model), fit_sampled(ranker, by_model, people)[0]
        alone, both = (
            evaluate(test.y, one.predict(test.X), test.qid, "ndcg@10").means["ndcg@10"] for one in rankers
        )
        lost.append(alone - both)
    assert np.mean(lost) < 0.005


def test_the_weight_predicts_left_out_labels_of_people_best_and_settings_are_those_of_all_queries():
    data, human, people = sampled(seed=4)
    rng = np.random.default_rng(4)
    data = replace(data, y=np.where(rng.random(data.n_rows) < 0.5, rng.choice(data.y, data.n_rows), data.y))
    mixed = replace(data, y=np.where(human, people.data, data.y))
    found, weight = fit_sampled(RankRLSCV(), data, people)
    fits = {w: RankRLSCV().fit(weighted(mixed, human, w)) for w in WEIGHTS if w > 0.0}
    correlations = {w: within_queries(mixed, one.left_out_scores_, human) for w, one in fits.items()}
    assert weight == max(correlations, key=correlations.get)
    assert found.alpha_ == fits[weight].alpha_
    np.testing.assert_array_equal(found.coef_, fits[weight].coef_)


def within_queries(data, scores, rows):
    parts = [np.flatnonzero(rows & (data.qid == label)) for label in np.unique(data.qid[rows])]
    y, s = (np.concatenate([v[part] - v[part].mean() for part in parts]) for v in (data.y, scores))
    return np.corrcoef(y, s)[0, 1]


@pytest.mark.parametrize("seed", [7, 8])
def test_warnings_are_those_of_the_fit_that_is_returned(seed):
    data, human, people = sampled(seed=seed)
    data = replace(data, y=np.random.default_rng(seed).permutation(data.y))
    ranker = RankRLSCV([1.0, 10.0, 100.0])
    with pytest.warns(GridWarning):  # of a weight that is too large
        ranker.fit(weighted(replace(data, y=np.where(human, people.data, data.y)), human, 1.0))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found, _ = fit_sampled(ranker, data, people)
    at_an_end = found.alpha_ in (1.0, 100.0)
    assert [one.category for one in said if one.category is GridWarning] == [GridWarning] * at_an_end


def test_the_correlation_ignores_scale_and_offsets_of_queries_and_is_zero_without_differences():
    labels, scores, query = (
        np.array([0.0, 1, 2, 5, 4]),
        np.array([1.0, 3, 2, 0, 9]),
        np.array([0, 0, 0, 3, 3]),
    )
    found = _correlation(labels, scores, query)
    assert _correlation(labels, 0.01 * scores + 7.0 * query, query) == pytest.approx(found)
    assert _correlation(labels, 3.0 * labels - query, query) == pytest.approx(1.0)
    assert _correlation(labels, query.astype(float), query) == 0.0


def test_the_ranker_has_the_chosen_settings_and_weights_of_rows_stay(tmp_path):
    data, human, people = sampled()
    data = replace(data, sample_weight=np.random.default_rng(0).uniform(1.0, 2.0, data.n_rows))
    ranker = RankRLSCV(ties=["keep", "drop"])
    found, weight = fit_sampled(ranker, data, people)
    assert not hasattr(ranker, "coef_")
    one = RankRLS(found.alpha_, ties=found.best_["ties"]).fit(weighted(data, human, weight))
    np.testing.assert_allclose(found.coef_, one.coef_, atol=1e-9)
    found.save(tmp_path / "model")
    np.testing.assert_array_equal(rankwise.load_model(tmp_path / "model").coef_, found.coef_)


def test_if_people_judged_everything_it_is_an_ordinary_fit():
    data, _, _ = sampled()
    found, weight = fit_sampled(RankRLSCV([1.0]), replace(data, y=-data.y), np.ma.masked_array(data.y))
    assert weight == 1.0
    np.testing.assert_allclose(found.coef_, RankRLS(1.0).fit(data).coef_, atol=1e-12)


def test_what_cannot_be_joined_is_refused_in_a_sentence():
    data, human, people = sampled()
    with pytest.raises(ParameterError, match="such as RankRLSCV, and no single alpha; got RankRLS"):
        fit_sampled(RankRLS(), data, people)
    cut = np.ma.masked_array(data.y, ~human | (np.arange(data.n_rows) == 0))
    with pytest.raises(DataError, match="a query must be judged as a whole"):
        fit_sampled(RankRLSCV(), data, cut)
    with pytest.raises(DataError, match="People judged 3 queries; at least 5 are needed"):
        fit_sampled(RankRLSCV(), data, sampled(n_judged=3)[2])
    others = np.flatnonzero(~human)
    with pytest.raises(ParameterError, match="must leave out every query that people judged"):
        fit_sampled(RankRLSCV(cv=[(np.flatnonzero(human), others)]), data, people)


def test_the_command_trains_on_both(folder, done, refused, tmp_path):
    training = rankwise.load_letor(folder / "train.txt.gz")
    few = np.flatnonzero(np.isin(training.qid, training.queries.labels[:10]))
    lines = [f"{training.qid[row]},{training.docs[row]},{training.y[row]:g}" for row in few]
    human, model = tmp_path / "human.csv", tmp_path / "model"
    human.write_text("\n".join(["qid,doc,label", *lines, ""]), encoding="utf-8")
    shown = done("train", "train.txt.gz", model, "--human", human, "--measure", "ndcg@10")
    assert "People judged 10 of 36 queries" in shown
    people = np.ma.masked_array(training.y, ~np.isin(np.arange(training.n_rows), few))
    expected, _ = fit_sampled(RankRLSCV(measure="ndcg@10"), training, people)
    np.testing.assert_allclose(rankwise.load_model(model).coef_, expected.coef_, atol=1e-9)
    human.write_text("\n".join(["qid,doc,label", *lines[:-1], ""]), encoding="utf-8")
    assert "judged as a whole" in refused("train", "train.txt.gz", model, "--human", human, code=1)
    human.write_text("qid,doc,label\nnowhere,1,2\n", encoding="utf-8")
    assert "nowhere" in refused("train", "train.txt.gz", model, "--human", human, code=1)
    human.write_text("\n".join(["qid,doc,label", *lines, ""]), encoding="utf-8")
    asked = ["train", "train.txt.gz", model, "--human", human]
    assert "--human" in refused(*asked, "--validation", "test.txt", code=2)
    assert "--human" in refused(*asked, "--alpha", "1", code=2)
