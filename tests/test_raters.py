"""Agreement of raters, their bias and noise, and pooled labels."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from command_line import done, folder, refused
from rankwise import RankingData, RankRLS, load_judgments
from rankwise.errors import DataError, FileFormatError
from rankwise.raters import Ratings, load_ratings, study_raters
from rankwise.raters.agreement import Disagreement
from rankwise.raters.rater_model import PRIOR_JUDGMENTS, fit_raters

__all__ = ["done", "folder", "refused"]  # fixtures

# Krippendorff (2011), the example with four observers, twelve units and missing values.
PUBLISHED = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""


def published(transform=float):
    rows = [line.split() for line in PUBLISHED.strip().splitlines()]
    judged = [
        ("q", document, transform(value), rater)
        for rater, line in enumerate(rows)
        for document, value in enumerate(line)
        if value != "."
    ]
    return Ratings.from_arrays(*zip(*judged, strict=True))


def simulated(seed=0, n=400, bias=(0.5, 0.0, -0.5), noise=(0.2, 0.5, 1.0), share=0.8, n_queries=20):
    rng = np.random.default_rng(seed)
    truth, query = rng.normal(2.0, 1.0, n), np.arange(n) % n_queries
    judged = [
        (int(query[i]), i, truth[i] + b + s * rng.normal(), r)
        for i in range(n)
        for r, (b, s) in enumerate(zip(bias, noise, strict=True))
        if rng.random() < share
    ]
    return Ratings.from_arrays(*zip(*judged, strict=True)), truth


def by_all_pairs(ratings):
    """Alpha by its definition: a loop over all pairs of judgments."""
    shared = Disagreement(ratings)
    grade, document = ratings.grade[shared.shared], ratings.document[shared.shared]
    values, counts = np.unique(grade, return_counts=True)

    def step(c, k):
        low, high = sorted((c, k))
        between = sum(n for v, n in zip(values, counts, strict=True) if low <= v <= high)
        ends = sum(n for v, n in zip(values, counts, strict=True) if v in (low, high)) / 2
        return 0.0 if low == high else (between - ends) ** 2

    n, observed, expected = len(grade), 0.0, 0.0
    for i in range(n):
        for j in range(n):
            if i != j:
                expected += step(grade[i], grade[j]) / (n - 1) / n
                if document[i] == document[j]:
                    observed += step(grade[i], grade[j]) / (np.sum(document == document[i]) - 1) / n
    return 1.0 - observed / expected


def test_alpha_is_the_published_one():
    assert study_raters(published()).alpha.alpha == pytest.approx(0.815, abs=5e-4)


def test_alpha_follows_its_definition():
    ratings, _ = simulated(n=25)
    rounded = Ratings.from_arrays(
        ratings.qid[ratings.document], ratings.document, np.round(ratings.grade), ratings.rater
    )
    assert study_raters(rounded).alpha.alpha == pytest.approx(by_all_pairs(rounded), rel=1e-12)


def test_alpha_depends_on_the_order_of_grades_only():
    stretched = study_raters(published(lambda value: float(value) ** 5)).alpha
    assert stretched == study_raters(published()).alpha


def test_alpha_is_the_mean_of_those_of_queries_and_of_raters():
    ratings, _ = simulated()
    rounded = Ratings.from_arrays(
        ratings.qid[ratings.document], ratings.document, np.round(ratings.grade), ratings.rater
    )
    study, shared = study_raters(rounded), Disagreement(rounded)
    weight = np.bincount(shared.rater)
    of_rater = [next(one for one in study.raters if one.rater == r).alpha for r in range(3)]
    assert np.average(of_rater, weights=weight) == pytest.approx(study.alpha.alpha, rel=1e-10)
    query = rounded.qid[shared.document].astype(int)
    of_query = [next(one for one in study.queries if one.query == q).alpha for q in range(20)]
    assert np.average(of_query, weights=np.bincount(query)) == pytest.approx(study.alpha.alpha, rel=1e-10)


def test_the_interval_of_alpha_covers_what_more_data_says():
    def alpha_of(seed, n):
        ratings, _ = simulated(seed, n, n_queries=n // 5)
        documents = ratings.qid[ratings.document], ratings.document
        rounded = Ratings.from_arrays(*documents, np.round(ratings.grade), ratings.rater)
        return Disagreement(rounded).overall(np.random.default_rng(seed))

    truth = alpha_of(1000, 6000).alpha
    inside = [alpha.low <= truth <= alpha.high for alpha in (alpha_of(seed, 200) for seed in range(60))]
    assert 0.85 <= np.mean(inside) <= 1.0


def test_bias_and_noise_are_those_that_were_planted():
    ratings, truth = simulated(n=4000)
    model = fit_raters(ratings)
    order = np.argsort(ratings.raters.astype(int))
    np.testing.assert_allclose(model.bias[order], [0.5, 0.0, -0.5], atol=0.04)
    np.testing.assert_allclose(model.noise[order], [0.2, 0.5, 1.0], atol=0.05)
    assert model.converged
    assert model.bias.sum() == pytest.approx(0.0, abs=1e-12)
    label, weight = model.pooled(ratings)
    mean = np.bincount(ratings.document, ratings.grade) / np.bincount(ratings.document)
    seen = ratings.docs.astype(int)
    assert np.corrcoef(label, truth[seen])[0, 1] > np.corrcoef(mean, truth[seen])[0, 1] + 0.02
    assert ((weight > 0.0) & (weight < 1.0)).all()


def test_em_finds_the_maximum_of_the_likelihood():
    """Of the marginal likelihood, with the truth integrated out, and of the small prior on noise."""
    ratings, _ = simulated(n=1500)
    model = fit_raters(ratings)

    n_judged = np.bincount(ratings.rater)
    common = float(
        ((n_judged + PRIOR_JUDGMENTS) * model.noise**2).sum() / (n_judged.sum() + 3 * PRIOR_JUDGMENTS)
    )

    def likelihood(bias, noise, spread):
        total = -0.5 * PRIOR_JUDGMENTS * (np.log(noise**2) + common / noise**2).sum()
        mean = float(model.prior_mean[0])
        for document in range(ratings.n_documents):
            rows = ratings.document == document
            raters = ratings.rater[rows]
            C = np.diag(noise[raters] ** 2) + spread**2
            r = ratings.grade[rows] - mean - bias[raters]
            total -= 0.5 * (r @ np.linalg.solve(C, r) + np.linalg.slogdet(C)[1])
        return total

    best = likelihood(model.bias, model.noise, model.spread)
    for r in range(3):
        for sign in (-1.0, 1.0):
            bias, noise = model.bias.copy(), model.noise.copy()
            bias[r] += 0.05 * sign
            noise[r] *= 1.0 + 0.05 * sign
            assert likelihood(bias, model.noise, model.spread) < best
            assert likelihood(model.bias, noise, model.spread) < best


def test_raters_who_copy_each_other_do_not_take_over():
    ratings, _ = simulated(noise=(0.4, 0.4, 0.4), bias=(0.0, 0.0, 0.0), share=1.0)
    copies = np.where(ratings.rater == 1, -1.0, ratings.grade)
    copies[ratings.rater == 1] = ratings.grade[ratings.rater == 0]
    model = fit_raters(
        Ratings.from_arrays(ratings.qid[ratings.document], ratings.document, copies, ratings.rater)
    )
    assert np.isfinite(model.noise).all()
    assert (model.noise > 0.0).all()


def test_results_do_not_depend_on_the_order_of_judgments():
    ratings, _ = simulated()
    moved = np.random.default_rng(1).permutation(len(ratings.grade))
    names = ratings.raters[ratings.rater]
    entries = ratings.qid[ratings.document], ratings.docs[ratings.document], ratings.grade, names
    other = Ratings.from_arrays(*(entry[moved] for entry in entries))
    one, two = fit_raters(ratings), fit_raters(other)
    place = {rater: at for at, rater in enumerate(other.raters.tolist())}
    np.testing.assert_allclose(one.bias, two.bias[[place[r] for r in ratings.raters.tolist()]], atol=1e-9)


def test_a_scale_shifted_and_stretched_shifts_and_stretches_the_model():
    ratings, _ = simulated()
    other = Ratings(
        1e6 + 3.0 * ratings.grade,
        *(getattr(ratings, n) for n in ("document", "rater", "qid", "docs", "raters")),
    )
    one, two = fit_raters(ratings), fit_raters(other)
    np.testing.assert_allclose(two.bias, 3.0 * one.bias, atol=1e-6)
    np.testing.assert_allclose(two.noise, 3.0 * one.noise, rtol=1e-6)


def test_the_surprise_of_a_judgment_is_that_of_a_model_without_it():
    ratings, _ = simulated(n=60)
    model = fit_raters(ratings)
    expected, surprise = model.surprise(ratings)
    for judgment in range(0, len(ratings.grade), 7):
        document, rater = ratings.document[judgment], ratings.rater[judgment]
        rows = np.flatnonzero((ratings.document == document) & (np.arange(len(ratings.grade)) != judgment))
        precision = 1.0 / model.noise[ratings.rater[rows]] ** 2
        total = precision.sum() + 1.0 / model.spread**2
        mean = precision @ (ratings.grade[rows] - model.bias[ratings.rater[rows]])
        mean = (mean + model.prior_mean[document] / model.spread**2) / total + model.bias[rater]
        deviation = math.sqrt(1.0 / total + model.noise[rater] ** 2)
        assert expected[judgment] == pytest.approx(mean, rel=1e-8)
        assert surprise[judgment] == pytest.approx((ratings.grade[judgment] - mean) / deviation, rel=1e-6)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (
            [("q", 1, 2, "ann"), ("q", 2, 1, "ann")],
            "All judgments are by one rater, 'ann', so agreement is undefined",
        ),
        ([("q", 1, 2, "ann"), ("q", 2, 1, "bob")], "No document connects the raters 'bob' with the others"),
        ([("q", 1, 1, "ann"), ("q", 1, 1, "bob")], "All grades are equal"),
    ],
)
def test_raters_who_cannot_be_compared_are_refused(entries, message):
    with pytest.raises(DataError, match=message):
        study_raters(Ratings.from_arrays(*zip(*entries, strict=True)))


@pytest.mark.parametrize(
    ("entries", "options", "message"),
    [
        ([("q", 1, 2, "ann"), ("q", 1, 1, "ann")], {}, "document 1 of query 'q' by 'ann' occurs twice"),
        ([("q", 1, math.nan, "ann")], {}, "has the grade nan; it must be a finite number"),
        ([("q", 1, 7, "ann")], {"scale": (0, 4)}, "has the grade 7; it must be from 0 to 4"),
    ],
)
def test_bad_judgments_are_named(entries, options, message):
    with pytest.raises(DataError, match=message):
        Ratings.from_arrays(*zip(*entries, strict=True), **options)


def write(path, ratings, header="qid,doc,label,rater"):
    lines = [
        f"{ratings.qid[d]},{ratings.docs[d]},{g},r{r}"
        for d, g, r in zip(ratings.document, ratings.grade, ratings.rater, strict=True)
    ]
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def test_files_are_read_and_a_grade_off_the_scale_has_its_line(tmp_path):
    ratings, _ = simulated(n=30)
    path = write(tmp_path / "r.csv", ratings, "qid,doc,label,judge")
    read = load_ratings(path, rater="judge")
    np.testing.assert_allclose(read.grade, ratings.grade)
    with pytest.raises(FileFormatError, match=r"r\.csv.*line \d+.*is not from 0 to 1"):
        load_ratings(path, "judge", (0, 1))
    with pytest.raises(FileFormatError, match="expected a header with the columns qid, doc, label, rater"):
        load_ratings(path)


def test_the_command_prints_what_the_function_finds_and_writes_labels_to_train_on(tmp_path, done):
    ratings, truth = simulated(n=200, n_queries=10)
    ratings = replace(ratings, grade=np.round(ratings.grade))
    path, pooled = write(tmp_path / "r.csv", ratings), tmp_path / "pooled.csv"
    found = json.loads(done("raters", path, "--out", pooled, "--json"))
    assert found["alpha"] == pytest.approx(study_raters(load_ratings(path)).alpha.alpha)
    assert found["raters"][0]["rater"] == "r2"
    shown = done("raters", path)
    assert "Krippendorff's alpha" in shown
    assert "Raters who agree least" in shown
    seen = ratings.docs.astype(int)
    rows = RankingData.from_arrays(
        truth[seen, None], np.zeros(len(seen)), qid=ratings.qid.astype(str), docs=ratings.docs.astype(str)
    )
    judged = load_judgments(pooled, rows)
    assert judged.sample_weight is not None
    assert RankRLS().fit(judged).coef_[0] > 0.5


def test_the_command_says_what_is_wrong_in_one_sentence(tmp_path, refused):
    ratings, _ = simulated(n=30)
    path = write(tmp_path / "r.csv", ratings)
    assert "--grades must be two numbers" in refused("raters", path, "--grades", "4", code=2)
    one = tmp_path / "one.csv"
    one.write_text("qid,doc,label,rater\na,x,1,ann\na,y,2,ann\n", encoding="utf-8")
    assert "All judgments are by one rater" in refused("raters", one, code=1)
