"""RankSVM on rows in parts: the models, certificates and choices of all rows together."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from in_parts import PartsHere, in_parts, together
from rankwise import (
    DataError,
    ParameterError,
    RankingData,
    RankRLS,
    RankRLSCV,
    RankSVM,
    RankSVMCV,
    make_search_data,
)
from stressed import KINDS, stressed

LOSSES = ["hinge", "squared_hinge"]
ALPHA = 1e-2


@pytest.fixture(scope="module")
def whole():
    return make_search_data(12, random_state=0)


@pytest.fixture(scope="module", params=["whole", "split", "one ranking", "sparse and split", "wide"])
def data(request, whole):
    if request.param == "whole":
        return whole
    rng = np.random.default_rng(0)
    mixed = whole.select(rng.permutation(whole.n_rows))
    if request.param == "one ranking":
        return RankingData.from_arrays(mixed.X, mixed.y)
    if request.param == "split":
        return mixed
    X = sparse.csr_array(np.where(rng.random(mixed.X.shape) < 0.3, mixed.X, 0.0))
    if request.param == "wide":
        X = sparse.hstack([X, sparse.random(X.shape[0], 600, density=0.01, random_state=rng)], format="csr")
    return RankingData.from_arrays(X, mixed.y, mixed.qid)


def assert_equal_models(found, expected, alpha=ALPHA):
    """Both are proven to be near the one minimum, so they are near each other."""
    assert abs(found.objective_ - expected.objective_) <= max(found.gap_, expected.gap_)
    proven = np.sqrt(found.gap_ / alpha) + np.sqrt(expected.gap_ / alpha)
    assert np.linalg.norm(found.coef_ - expected.coef_) <= proven


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighting, weighted", [("query", False), ("pair", True), ("example", True)])
def test_a_ranksvm_of_parts_is_that_of_all_rows(data, loss, weighting, weighted):
    tol = 1e-3 if data.n_features > 100 else 1e-6
    weight = np.random.default_rng(2).integers(0, 4, data.n_rows).astype(float) if weighted else None
    svm = RankSVM(ALPHA, loss=loss, weighting=weighting, tol=tol)
    found = svm.fit(in_parts(data, 5, weight))
    coef, objective, gap, n_iter = found.coef_, found.objective_, found.gap_, found.n_iter_
    expected = svm.fit(data.X, data.y, data.qid, weight)
    assert gap <= tol
    assert abs(objective - expected.objective_) <= tol
    assert np.linalg.norm(coef - expected.coef_) <= 2.0 * np.sqrt(tol / ALPHA)
    assert abs(n_iter - expected.n_iter_) <= 0.3 * expected.n_iter_ + 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # tol cannot be certified
@pytest.mark.parametrize("name", ["split", "whole"])
def test_coefficients_of_the_squared_hinge_agree_to_ten_digits(whole, name):
    order = np.random.default_rng(0).permutation(whole.n_rows) if name == "split" else slice(None)
    data = whole.select(order)
    svm = RankSVM(0.1, loss="squared_hinge", tol=1e-15)
    found = svm.fit(in_parts(data, 4)).coef_
    np.testing.assert_allclose(found, svm.fit(data).coef_, rtol=0, atol=1e-10)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", LOSSES)
def test_stressed_rows_in_parts_have_the_objective_of_all_rows(kind, loss):
    X, y, qid = stressed(kind)
    data = RankingData.from_arrays(X, y, qid)
    svm = RankSVM(ALPHA, loss=loss, max_iter=40)
    found = svm.fit(in_parts(data, 4))
    objective, gap = found.objective_, found.gap_
    expected = svm.fit(data)
    assert abs(objective - expected.objective_) <= max(gap, expected.gap_)
    assert gap <= 2.0 * max(1e-3, expected.gap_)


@pytest.mark.parametrize("loss", LOSSES)
def test_folds_of_parts_choose_as_leaving_out_queries_does(whole, loss):
    data = whole.select(queries=whole.queries.labels[:4].tolist())
    mixed = data.select(np.random.default_rng(1).permutation(data.n_rows))
    options = {"loss": loss, "tol": 1e-7, "measure": "pairwise_error"}
    model = RankSVMCV([0.1, 1.0], cv=4, **options).fit(in_parts(mixed, 3))
    expected = RankSVMCV([0.1, 1.0], cv="leave-query-out", **options).fit(mixed)
    np.testing.assert_allclose(model.scores_, expected.scores_, rtol=0, atol=1e-6)
    assert model.alpha_ == expected.alpha_
    assert_equal_models(model, expected, model.alpha_)


@pytest.mark.parametrize("loss", LOSSES)
def test_an_eval_set_measures_the_iterates_of_parts(whole, loss):
    held, rest = whole.split(0.3)
    svm = RankSVM(ALPHA, loss=loss, early_stopping=True, patience=3)
    # Parts of whole queries take the same steps; those of split ones estimate covariances without the others.
    parts = [
        rest.select(np.flatnonzero(np.isin(rest.qid, own))) for own in np.split(np.unique(rest.qid), [3])
    ]
    curve = svm.fit(together(parts), eval_set=held).validation_curve_
    np.testing.assert_allclose(curve[:2], svm.fit(rest, eval_set=held).validation_curve_[:2], atol=1e-9)


@pytest.fixture(scope="module")
def pairs(whole):
    """Pairs inside the first three of four parts."""
    ends = np.linspace(0, whole.n_rows, 5).astype(int)
    rng = np.random.default_rng(3)
    drawn = [rng.choice(np.arange(ends[k], ends[k + 1]), (30, 2)) for k in range(3)]
    listed = np.concatenate(drawn)
    return listed[listed[:, 0] != listed[:, 1]]


@pytest.mark.parametrize("loss", LOSSES)
def test_the_hinge_of_explicit_pairs_in_parts_is_that_of_all_pairs(whole, pairs, loss):
    rng = np.random.default_rng(4)
    statements = {"magnitude": rng.uniform(0.5, 2.0, len(pairs)), "weight": rng.uniform(0.0, 2.0, len(pairs))}
    svm = RankSVM(ALPHA, loss=loss, tol=1e-8)
    found = svm.fit_preferences(in_parts(whole, 4), pairs, **statements)
    coef, objective = found.coef_, found.objective_
    expected = svm.fit_preferences(whole, pairs, **statements)
    assert objective == pytest.approx(expected.objective_, abs=1e-8)
    assert np.linalg.norm(coef - expected.coef_) <= 2.0 * np.sqrt(1e-8 / ALPHA)


@pytest.mark.parametrize("alpha, solver", [(1.0, "primal"), (0.0, "primal"), (1.0, "cg")])
def test_the_squared_loss_of_explicit_pairs_in_parts_is_that_of_all_pairs(whole, pairs, alpha, solver):
    weight = np.random.default_rng(4).uniform(0.0, 2.0, len(pairs))
    model = RankRLS(alpha, solver=solver, tol=1e-13)
    found = model.fit_preferences(in_parts(whole, 4), pairs, weight=weight).coef_
    expected = RankRLS(alpha, solver="primal").fit_preferences(whole, pairs, weight=weight).coef_
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_an_eval_set_of_pairs_chooses_alpha_for_parts(whole, pairs):
    here, held = pairs[::2], (whole.X, pairs[1::2])
    for model in (RankSVMCV([1e-3, 1e-1]), RankRLSCV([1.0, 100.0], solver="primal")):
        found = model.fit_preferences(in_parts(whole, 4), here, eval_set=held).scores_
        np.testing.assert_allclose(
            found, model.fit_preferences(whole, here, eval_set=held).scores_, atol=1e-9
        )


def test_pairs_that_parts_cannot_learn_from_are_refused(whole, pairs):
    parts = in_parts(whole, 4)
    with pytest.raises(DataError, match=r"Pair 1 is of row 0 in part 0 and row 150 in part 3; both rows of"):
        RankSVM().fit_preferences(parts, [[0, 1], [0, 150]])
    for model in (RankSVM(), RankRLS()):
        with pytest.raises(DataError, match="no pair has a positive weight"):
            model.fit_preferences(parts, pairs, weight=np.zeros(len(pairs)))
        with pytest.raises(ParameterError, match="early_stopping on a cluster needs an eval_set"):
            type(model)(early_stopping=True).fit_preferences(parts, pairs)
    with pytest.raises(ParameterError, match="cannot be left out; pass an eval_set"):
        RankSVMCV().fit_preferences(parts, pairs)
    with pytest.raises(DataError, match="needs all rows in this process; got PartedData"):
        RankRLS().fit_preferences(parts, pairs, y=whole.y)


class ForgetfulParts(PartsHere):
    """Objects lose what they do not pickle, as if other processes took over, every so many calls."""

    every, calls = 7, 0

    def _results(self, work, shared, own):
        type(self).calls += 1
        if self.calls % self.every == 0:
            self._objects = pickle.loads(pickle.dumps(self._objects))
        return super()._results(work, shared, own)


class CountedParts(PartsHere):
    """Counts the bytes that go to a part and back, in each call."""

    def __init__(self, objects):
        super().__init__(objects)
        self.sent, self.returned, self.names = [], [], []

    def _results(self, work, shared, own):
        results = super()._results(work, shared, own)
        self.sent.append(len(pickle.dumps((shared, None if own is None else own[0]))))
        self.returned.append(len(pickle.dumps(results[0])))
        self.names.append(shared[2].__name__ if work.__name__ == "answered" else work.__name__)
        return results

    def derived(self, work, *shared, own=None):
        made = super().derived(work, *shared, own=own)
        made.sent, made.returned, made.names = self.sent, self.returned, self.names
        return made


def held_by(data, kind):
    """The same parts, held by another class."""
    data.parts = kind(data.parts._objects)
    object.__setattr__(data._problem, "parts", data.parts)
    return data


@pytest.mark.parametrize("loss", LOSSES)
def test_processes_that_take_over_compute_the_same_bits(data, loss):
    svm = RankSVM(ALPHA, loss=loss, tol=1e-2)
    expected = svm.fit(in_parts(data, 3)).coef_
    before = ForgetfulParts.calls
    np.testing.assert_array_equal(svm.fit(held_by(in_parts(data, 3), ForgetfulParts)).coef_, expected)
    assert ForgetfulParts.calls - before > 2 * ForgetfulParts.every


def counted(data, loss):
    parts = held_by(data, CountedParts)
    RankSVM(1e-3, loss=loss).fit(parts)
    return parts.parts


@pytest.mark.parametrize("loss", LOSSES)
def test_an_evaluation_takes_one_message_of_as_many_numbers_as_features(whole, loss):
    few, more = (
        whole.select(queries=whole.queries.labels[place].tolist()) for place in (slice(4), slice(4, 12))
    )
    n = whole.n_features
    for data in (few, more):
        labels = data.queries.labels
        halves = [data.select(queries=half.tolist()) for half in (labels[::2], labels[1::2])]
        parts = counted(together(halves), loss)
        chosen = [
            place
            for place, name in enumerate(parts.names)
            if name in ("value_at", "squared_value_at", "curved")
        ]
        assert len(chosen) > 10
        # At most two new directions, and the keys of those that exist.
        assert max(parts.sent[place] for place in chosen) <= 2 * 8 * n + 1500
        assert max(parts.returned[place] for place in chosen) <= 8 * (n + 3) + 500
        assert "split_slope" not in parts.names


@pytest.mark.parametrize("loss", LOSSES)
def test_a_global_ranking_takes_sixteen_bytes_per_row_and_evaluation(whole, loss):
    order = np.random.default_rng(0).permutation(whole.n_rows)
    parts = counted(in_parts(RankingData.from_arrays(whole.X[order], whole.y[order]), 2), loss)
    n_rows, n = whole.n_rows // 2, whole.n_features
    scores = [
        size for size, name in zip(parts.returned, parts.names, strict=True) if name.endswith("value_at")
    ]
    gradients = [size for size, name in zip(parts.sent, parts.names, strict=True) if name == "split_slope"]
    assert max(scores) <= 8 * (n_rows + n + 3) + 600
    assert max(gradients) <= 8 * n_rows + 500
    assert len(gradients) >= len(scores)
