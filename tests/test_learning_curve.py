"""Quality by the number of training queries: draws, intervals, and what is predicted for more queries."""

import json
import warnings
from itertools import pairwise

import numpy as np
import pytest

from command_line import done, folder, refused
from rankwise import DataError, ParameterError, RankingData, RankRLS, RankRLSCV, learning_curve
from rankwise.errors import GridWarning
from rankwise.metrics import evaluate
from rankwise.selection.learning_curve import points_of
from rankwise.selection.power_law import DECAY, Points
from rankwise.simulated_search import make_search_data

__all__ = ["done", "folder", "refused"]  # fixtures


class Remembering:
    """A learner that scores all rows alike, and says what it was trained and tested on."""

    def __init__(self, seen=None):
        self.seen = seen

    def get_params(self, deep=True):
        return {"seen": self.seen}

    def fit(self, X, y, qid):
        self.trained_ = set(qid.tolist())
        return self

    def predict(self, X):
        SEEN.append((self.trained_, set(X[:, 0].astype(int).tolist())))
        return np.zeros(len(X))


SEEN = []


def points(means, sizes=(10, 20, 40, 80), tau=0.01, effects=None):
    effects = np.zeros((100, len(sizes))) if effects is None else effects
    return Points(np.array(sizes), np.asarray(means), effects, tau, 0.0, 20, 100)


@pytest.mark.parametrize("exponent", [0.5, 1.0])
def test_a_power_law_is_continued(exponent):
    sizes = np.array([10, 20, 40, 80])
    found, _ = points(0.8 - 0.5 * sizes**-exponent, tau=1e-12).predict(200)
    assert found == pytest.approx(0.8 - 0.5 * 200.0**-exponent, abs=1e-6)


def test_what_was_flat_stays_flat():
    mean, error = points(np.full(4, 0.7), tau=0.0).predict(200)
    assert (mean, error) == pytest.approx((0.7, 0.0), abs=1e-6)
    assert points(np.zeros(4), tau=0.0).predict(200) == pytest.approx((0.0, 0.0), abs=1e-6)


def test_margins_grow_with_the_distance_and_what_all_sizes_share_is_not_part_of_a_gain():
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(100, 1)) / 100
    own = points([0.5, 0.6, 0.65, 0.68], effects=np.repeat(shared - shared.mean(), 4, axis=1))
    assert 1.96 * np.sqrt(np.square(shared - shared.mean()).sum()) < own.predict(100)[1]
    assert own.predict(200, gain=True)[1] < own.predict(1000, gain=True)[1]
    assert own.predict(200, gain=True)[1] < 0.5 * own.predict(200)[1]
    assert own.predict(100, gain=True) == pytest.approx((0.0, 0.0), abs=1e-12)
    gain = own.predict(200)[0] - own.predict(100)[0]
    assert own.predict(200, gain=True)[0] == pytest.approx(gain)


def test_a_variance_known_from_few_draws_makes_margins_wider():
    sure, unsure = (
        Points(np.array([10, 20, 40]), np.full(3, 0.5), np.zeros((100, 3)), 0.01, error, 10, 50)
        for error in (0.0, 0.01)
    )
    assert unsure.predict(100)[0] == sure.predict(100)[0]
    assert unsure.predict(100, gain=True)[1] > 1.2 * sure.predict(100, gain=True)[1]


def drawn(tau, rng, sizes, n=400, draws=200):
    """Values of nested models that vary by so much, on whichever queries they were not trained."""
    query, falls = rng.normal(0.0, 0.3, n), sizes[:-1] ** -DECAY - sizes[1:] ** -DECAY
    values = np.full((draws, len(sizes), n), np.nan)
    for draw in range(draws):
        steps = rng.normal(0.0, np.sqrt(tau * np.append(falls, sizes[-1] ** -DECAY)))
        models = np.cumsum(steps[::-1])[::-1]  # the largest is part of all
        order = rng.permutation(n)
        for at, size in enumerate(sizes):
            tested = order[size:]
            values[draw, at, tested] = 0.5 + query[tested] + models[at] + rng.normal(0.0, 0.2, n - size)
    return values


def test_variances_of_queries_and_of_models_are_told_apart():
    rng, n, sizes = np.random.default_rng(1), 400, np.array([20, 60, 180])
    found = points_of(sizes, drawn(1.0, rng, sizes), np.ones(n))
    assert found.tau == pytest.approx(1.0, rel=0.3)
    assert 0.05 < found.tau_error < 0.3
    tested = np.square(found.effects).sum(axis=0)
    np.testing.assert_allclose(tested, 0.3**2 / n, rtol=0.2)


def test_at_least_half_of_what_draws_differ_by_is_the_variance_of_models():
    """Where models do not differ, and all of it is chance; if chance were not subtracted, it would be all."""
    rng, sizes = np.random.default_rng(2), np.array([20, 60, 180])
    found = [points_of(sizes, drawn(0.0, rng, sizes, n=300, draws=20), np.ones(300)) for _ in range(20)]
    n_tested, falls = 300 - sizes[1:], sizes[:-1] ** -DECAY - sizes[1:] ** -DECAY
    spread = np.average(2.0 * 0.2**2 / n_tested / falls, weights=n_tested)
    assert np.mean([one.tau for one in found]) == pytest.approx(0.5 * spread, rel=0.3)
    equal = points_of(sizes, np.where(np.isnan(drawn(0.0, rng, sizes)), np.nan, 0.5), np.ones(400))
    assert (equal.tau, equal.tau_error) == (0.0, 0.0)


def test_many_queries_are_tested_on_a_fifth():
    SEEN.clear()
    qid = np.repeat(np.arange(400), 2)
    rows = RankingData.from_arrays(np.column_stack([qid, qid]).astype(float), np.tile([0.0, 1.0], 400), qid)
    learning_curve(rows, Remembering(), n_draws=10)
    assert {len(tested) for _, tested in SEEN} == {200, 80}
    SEEN.clear()
    learning_curve(rows.select(queries=list(range(100))), Remembering(), n_draws=10)
    assert all(len(trained) + len(tested) == 100 for trained, tested in SEEN)


def test_each_draw_tests_queries_that_it_does_not_train_on_and_all_have_their_turn():
    SEEN.clear()
    qid = np.repeat(np.arange(50), 3)
    X = np.column_stack([qid, np.arange(150)]).astype(float)
    rows = RankingData.from_arrays(X, np.tile([0.0, 1.0, 2.0], 50), qid)
    curve = learning_curve(rows, Remembering(), n_draws=10)
    assert [len(trained) for trained, _ in SEEN[:4]] == curve.sizes.tolist() == [10, 16, 25, 40]
    assert all(not trained & tested for trained, tested in SEEN)
    assert all(small < large for (small, _), (large, _) in pairwise(SEEN[:4]))
    assert set.union(*(tested for _, tested in SEEN[:20])) == set(range(50))
    expected = evaluate(rows.y, np.zeros(150), qid, "ndcg@10").means["ndcg@10"]
    assert curve.means == pytest.approx(np.full(4, expected))


def test_queries_without_a_value_count_as_the_measure_says():
    data = make_search_data(60, random_state=3)
    y = np.where(data.queries.query_of_row() % 4 == 0, 0.0, data.y)
    data = RankingData.from_arrays(data.X, y, data.qid)
    curve = learning_curve(data, RankRLS(), "map", n_draws=10)
    assert np.isfinite(curve.means).all()
    assert np.isfinite(curve.predict(120)).all()


def test_seeds_repeat_and_arrays_sparse_and_tables_give_the_same_curve():
    from scipy.sparse import csr_array

    data = make_search_data(40, random_state=0)
    means = learning_curve(data, RankRLS(), n_draws=10).means
    sparse = RankingData.from_arrays(csr_array(data.X), data.y, data.qid)
    np.testing.assert_array_equal(learning_curve(data, RankRLS(), n_draws=10).means, means)
    np.testing.assert_allclose(learning_curve(sparse, RankRLS(), n_draws=10).means, means, atol=1e-9)
    assert (learning_curve(data, RankRLS(), n_draws=10, random_state=1).means != means).any()


def test_tables_are_encoded_anew_for_each_training_set():
    pandas = pytest.importorskip("pandas")
    rng, qid = np.random.default_rng(0), np.repeat(np.arange(40), 8)
    kind = rng.choice(["a", "b", "c"], 320)
    frame = pandas.DataFrame({"price": rng.exponential(size=320), "kind": kind, "qid": qid})
    frame["y"] = np.clip(np.round((kind == "b") + rng.normal(size=320)), 0, 2)
    table = RankingData.from_frame(frame, label="y", qid="qid", as_table=True)
    curve = learning_curve(table, RankRLSCV(columns="auto"), n_draws=10)
    assert curve.means[-1] > 0.6


def test_only_a_fit_to_all_queries_warns_that_alpha_ends_its_grid():
    data = make_search_data(40, random_state=0)
    too_large = RankRLSCV([2.0**12, 2.0**14, 2.0**16])
    with pytest.warns(GridWarning):
        too_large.fit(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error", GridWarning)
        learning_curve(data, too_large, n_draws=10)


def test_intervals_cover_quality_and_gain_at_twice_the_queries_and_gains_are_not_far_too_wide():
    """Sixteen halves of simulated queries; the benchmark has more."""
    data, hits, gains = make_search_data(1500, random_state=5), [], []
    labels = data.queries.labels
    for seed in range(16):
        order = np.random.default_rng(seed).permutation(labels)
        test = data.select(queries=order[-800:].tolist())
        curve = learning_curve(data.select(queries=order[:60].tolist()), RankRLS(10.0), n_draws=10)
        models = [RankRLS(10.0).fit(data.select(queries=order[:n].tolist())) for n in (60, 120)]
        one, two = (
            evaluate(test.y, model.predict(test.X), test.qid, "ndcg@10").means["ndcg@10"] for model in models
        )
        (mean, margin), (gain, of_gain) = curve.predict(120), curve.gain(120)
        hits.append(abs(mean - two) <= margin)
        gains.append((abs(gain - (two - one)), of_gain))
        assert of_gain < 0.6 * margin
    errors, margins = np.transpose(gains)
    assert sum(hits) >= 14
    assert sum(errors <= margins) >= 14
    assert margins.mean() < 1.9 * 1.96 * np.sqrt(np.square(errors).mean())


def test_what_makes_no_curve_is_refused_in_a_sentence():
    data = make_search_data(40, random_state=0)
    with pytest.raises(DataError, match="at least 32 queries; the data has 31"):
        learning_curve(data.select(queries=data.queries.labels[:31].tolist()), RankRLS())
    with pytest.raises(DataError, match="leaves out queries, but the data has none"):
        learning_curve(RankingData.from_arrays(data.X, data.y), RankRLS())
    with pytest.raises(ParameterError, match="'n_draws' parameter must be a whole number of at least 10"):
        learning_curve(data, RankRLS(), n_draws=3)
    tied = RankingData.from_arrays(data.X, np.zeros(data.n_rows), data.qid)
    with pytest.raises(DataError, match="With 12 training queries: There is nothing to learn"):
        learning_curve(tied, RankRLS(), n_draws=10)
    with pytest.raises(ParameterError, match="'n_queries' parameter must be a finite number of at least 1"):
        learning_curve(data, RankRLS(), n_draws=10).predict(0)


def test_the_command_prints_the_curve_and_what_more_queries_would_bring(tmp_path, done, refused):
    from rankwise import save_letor

    save_letor(make_search_data(40, random_state=0), tmp_path / "judged.txt")
    asked = ["curve", tmp_path / "judged.txt", "--draws", "10"]
    found = json.loads(done(*asked, "--more", "100", "--json"))
    assert [row["queries"] for row in found["curve"]] == [12, 20, 32, 100]
    assert [row["source"] for row in found["curve"]] == ["measured"] * 3 + ["predicted"]
    assert [row["gain"] is None for row in found["curve"]] == [True] * 3 + [False]
    assert 0.0 < found["curve"][-1]["gain_margin"] < found["curve"][-1]["margin"]
    shown = done(*asked)
    assert "40 judged queries" in shown
    assert "gain over all" in shown
    *_, now, twice = (line.split() for line in shown.splitlines() if line.rstrip().endswith("predicted"))
    assert (now[0], now[4:6]) == ("40", ["–", "–"])
    assert twice[0] == "80"
    assert "–" not in twice
    assert "--draws must be" in refused(*asked[:2], "--draws", "2", code=2)
