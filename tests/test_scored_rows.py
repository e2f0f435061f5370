"""Rows that are not finite are refused by `predict` with their place, though it only looks at the scores."""

import warnings

import numpy as np
import pandas
import pytest
from scipy import sparse

import rankwise
from changed_models import set_weights
from rankwise import DataError, KernelRankRLS, RankRLS, RankSVM, RankSVMPath
from rankwise.validation import rows

rng = np.random.default_rng(0)
X, Y, QID = rng.normal(size=(12, 20)), np.tile([0.0, 1.0, 2.0], 4), np.repeat([1, 2, 3], 4)
ZERO = 17  # the column that models give no weight


def linear(weights):
    model = RankRLS().fit(X, Y, QID)
    set_weights(model, weights)
    return model


def weights_of(rank):
    weights = np.array([3.0, -1e-300, 1e300] + [1.0] * 17)
    weights[ZERO] = 0.0
    return np.zeros(20) if rank == 0 else weights


def rows_with(value, at, dtype, n_rows=9):
    rows = rng.normal(size=(n_rows, 20)).astype(dtype)
    rows[:, 2] = 0.0  # empty where sparse
    rows[at] = value
    return rows


FORMS = {
    "plain": np.ascontiguousarray,
    "columns first": np.asfortranarray,
    "strided": lambda rows: np.repeat(rows, 2, axis=1)[:, ::2],
    "list": lambda rows: rows.tolist(),
    "csr": sparse.csr_matrix,
    "csr array": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "frame": pandas.DataFrame,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("rank", [0, 1], ids=["weights of 0", "weights"])
def test_what_is_not_finite_is_refused_with_its_place_whatever_its_weight(form, dtype, value, rank):
    model = linear(weights_of(rank))
    shown = str(value).replace("nan", "NaN")
    for n_rows, at in ((9, (4, ZERO)), (9, (8, 19)), (9, (0, 0)), (1, (0, ZERO))):
        with pytest.raises(DataError, match=f"finite numbers; row {at[0]}, column {at[1]}.* is {shown}"):
            model.predict(form(rows_with(value, at, dtype, n_rows)))


@pytest.mark.filterwarnings("ignore:invalid value")  # from scikit-learn
def test_infinities_that_cancel_are_refused():
    rows = rows_with(np.inf, (3, 0), np.float64)
    rows[3, 5] = -np.inf
    with pytest.raises(DataError, match="row 3, column 0 is inf"):
        linear(weights_of(1)).predict(rows)


def test_sparse_rows_without_entries_score_zero_beside_a_refusal():
    rows = sparse.csr_matrix((6, 20))
    np.testing.assert_array_equal(linear(weights_of(1)).predict(rows), np.zeros(6))
    rows = sparse.csr_matrix(([0.0, np.nan], ([1, 4], [3, ZERO])), shape=(6, 20))
    with pytest.raises(DataError, match=f"row 4, column {ZERO} is NaN"):
        linear(weights_of(1)).predict(rows)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_finite_rows_may_have_scores_that_overflow(form):
    rows = np.zeros((3, 20))
    rows[1, 2], rows[2, 0] = 1e300, 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = linear(weights_of(1)).predict(form(rows))
    np.testing.assert_array_equal(scores, [0.0, np.inf, 3.0])


@pytest.mark.parametrize(
    "model",
    [
        RankSVM(),
        KernelRankRLS(kernel="linear"),
        KernelRankRLS(kernel="linear", basis=5, random_state=0),
        KernelRankRLS(gamma=0.01),
        KernelRankRLS(kernel="polynomial", gamma=0.0),
        RankSVMPath(gamma=0.01),
    ],
    ids=str,
)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_every_model_refuses_rows_that_are_not_finite(model, value):
    model.fit(X, Y, QID)
    rows = rows_with(value, (2, ZERO), np.float64)
    for call in (model.predict, model.rank, lambda rows: model.explain(rows, 0, 1)):
        with pytest.raises(DataError, match=f"row 2, column {ZERO} is"):
            call(rows)
    if isinstance(model, RankSVMPath):
        with pytest.raises(DataError, match=f"row 2, column {ZERO} is"):
            model.predict(rows, alpha=model.alphas_[1])


def test_several_targets_refuse_rows_that_are_not_finite():
    model = RankRLS().fit(X, rng.normal(size=(12, 2)))
    with pytest.raises(DataError, match="row 5, column 3 is inf"):
        model.predict(rows_with(np.inf, (5, 3), np.float64))


def test_kernel_values_that_no_basis_row_needs_are_checked_too():
    K = X @ X.T
    model = KernelRankRLS(kernel="precomputed", basis=[0, 3, 7]).fit(K, Y, QID)
    K[5, 4] = np.nan
    with pytest.raises(DataError, match="row 5, column 4 is NaN"):
        model.predict(K)
    with pytest.raises(DataError, match="Sparse data was passed") as original:
        model.predict(sparse.csr_matrix(X @ X.T))
    with pytest.raises(DataError) as light:
        model.model_.predict(sparse.csr_matrix(X @ X.T))
    assert str(light.value) == str(original.value)


def test_frames_are_refused_by_name_and_in_another_order():
    frame = pandas.DataFrame(X, columns=[f"f{k}" for k in range(20)])
    model = RankRLS().fit(frame, Y, QID)
    np.testing.assert_allclose(model.predict(frame), X @ model.coef_)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[frame.columns[::-1]])
    for missing in (np.nan, pandas.NA):
        holed = frame.astype("Float64") if missing is pandas.NA else frame.copy()
        holed.iloc[3, ZERO] = missing
        with pytest.raises(DataError, match=rf"row 3, column {ZERO} \('f{ZERO}'\)"):
            model.predict(holed)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_a_file_that_is_not_finite_is_refused(form, tmp_path):
    model = RankRLS().fit(X, Y, QID)
    rankwise.save_store(rankwise.RankingData.from_arrays(form(X), Y, QID), tmp_path / "s.store")
    largest = max((tmp_path / "s.store").glob("*"), key=lambda path: path.stat().st_size)
    values = np.memmap(largest, dtype=np.float64, mode="r+", offset=largest.stat().st_size - 8 * 40)
    values[7] = np.nan
    values.flush()
    rows = rankwise.open_store(tmp_path / "s.store").X
    light = model.model_
    for predict in (model.predict, light.predict):
        with pytest.raises(DataError, match="its file must hold finite numbers only"):
            predict(rows)


def test_finite_rows_are_read_once(monkeypatch):
    looked = []
    monkeypatch.setattr(rows, "first_not_finite", looked.append)
    model = RankRLS().fit(X, Y, QID)
    looked.clear()
    model.predict(X)
    model.predict(X[:1])
    assert looked == []
    KernelRankRLS(gamma=0.01).fit(X, Y, QID).predict(X[:3])
    assert looked[-1].shape == (3, 20)
