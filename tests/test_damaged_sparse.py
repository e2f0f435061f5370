"""Sparse matrices whose arrays do not fit together, as SciPy lets users make them, reach no kernel."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from rankwise import (
    DataError,
    KernelRankRLS,
    QueryMinMaxScaler,
    RankingData,
    RankRLS,
    RankSVM,
    RankSVMPath,
    save_letor,
    save_store,
    scale_per_query,
)

rng = np.random.default_rng(0)
X = sparse.csr_matrix(rng.random((12, 3)) * (rng.random((12, 3)) < 0.7))
Y, QID = np.tile([0.0, 1.0, 2.0], 4), np.repeat([1, 2, 3], 4)
MODELS = [ranker().fit(X, Y, QID) for ranker in (RankRLS, RankSVM, KernelRankRLS, RankSVMPath)]
SCALER = QueryMinMaxScaler().fit(X)
DATA = RankingData.from_arrays(X, Y, QID)


def with_arrays(matrix, **arrays):
    damaged = matrix.copy()
    for name, array in arrays.items():
        setattr(damaged, name, array)
    return damaged


def with_entry(array, at, value):
    changed = array.copy()
    changed[at] = value
    return changed


def damages(matrix):
    """The same faults of a CSR or a CSC matrix."""
    data, indices, indptr = matrix.data, matrix.indices, matrix.indptr
    return {
        "long indptr": with_arrays(matrix, indptr=np.append(indptr, [indptr[-1]] * 1000)),
        "short indptr": with_arrays(matrix, indptr=indptr[:2]),
        "empty indptr": with_arrays(matrix, indptr=indptr[:0]),
        "indptr past the entries": with_arrays(matrix, indptr=with_entry(indptr, -1, 10**6)),
        "falling indptr": with_arrays(matrix, indptr=with_entry(indptr, 1, indptr[-1])),
        "negative indptr": with_arrays(matrix, indptr=with_entry(indptr, 0, -5)),
        "table as indptr": with_arrays(matrix, indptr=indptr[:, None]),
        "floats as indptr": with_arrays(matrix, indptr=indptr.astype(float)),
        "few indices": with_arrays(matrix, indices=indices[:-1]),
        "few data": with_arrays(matrix, data=data[:-1]),
        "more data than indices": with_arrays(matrix, data=np.append(data, 1.0)),
        "table as data": with_arrays(matrix, data=data[:, None]),
        "large index": with_arrays(matrix, indices=with_entry(indices, 3, 10**8)),
        "negative index": with_arrays(matrix, indices=with_entry(indices, 3, -(10**8))),
        "16-bit indices": with_arrays(matrix, indices=indices.astype(np.int16)),
        "floats as indices": with_arrays(matrix, indices=indices.astype(float)),
    }


DAMAGED = {
    **{f"csr, {fault}": matrix for fault, matrix in damages(X).items()},
    **{f"csc, {fault}": matrix for fault, matrix in damages(X.tocsc()).items()},
    **{f"bsr, {fault}": matrix for fault, matrix in damages(X.tobsr((1, 1))).items()},
    "bsr, blocks of another size": with_arrays(X.tobsr((2, 1)), data=X.tobsr((1, 1)).data),
    "coo, large row": with_arrays(X.tocoo(), row=with_entry(X.tocoo().row, 0, 10**8)),
    "coo, negative column": with_arrays(X.tocoo(), col=with_entry(X.tocoo().col, 0, -(10**8))),
    "coo, few rows": with_arrays(X.tocoo(), row=X.tocoo().row[:-1]),
}


@pytest.mark.parametrize("matrix", DAMAGED.values(), ids=DAMAGED.keys())
def test_damaged_sparse_matrices_are_refused_wherever_they_enter(matrix):
    message = r"^X is a damaged (CSR|CSC|BSR|COO) matrix: [^\n]*\.$"
    entrances = [lambda model=model: model.predict(matrix) for model in MODELS]
    entrances += [lambda model=model: type(model)().fit(matrix, Y, QID) for model in MODELS]
    entrances += [
        lambda: RankRLS().fit_preferences(matrix, [[0, 1], [2, 3]]),
        lambda: MODELS[0].score(matrix, Y, QID),
        lambda: MODELS[0].explain(matrix, 0, 1),
        lambda: RankingData.from_arrays(matrix, Y, QID),
        lambda: scale_per_query(matrix, QID),
        lambda: SCALER.transform(matrix, QID),
    ]
    for enter in entrances:
        with pytest.raises(DataError, match=message):
            enter()
    with pytest.raises(DataError, match="eval_set: X is a damaged"):
        RankRLS().fit(X, Y, QID, eval_set=(matrix, Y, QID))


@pytest.mark.parametrize("fault", ["long indptr", "short indptr", "indptr past the entries", "few data"])
def test_data_put_together_by_hand_holds_no_damaged_matrix(fault, tmp_path):
    matrix = damages(X)[fault]
    for use in (
        lambda data: data.select(rows=[0, 11]),
        lambda data: data.scale_per_query(),
        lambda data: save_letor(data, tmp_path / "rows.txt"),
        lambda data: save_store(data, tmp_path / "rows.store"),
    ):
        with pytest.raises(DataError, match="X is a damaged CSR matrix"):
            use(replace(DATA, X=matrix))


def test_sparse_matrices_of_every_format_still_give_the_same_model():
    for form in ("csr", "csc", "bsr", "coo", "lil", "dok", "dia"):
        np.testing.assert_array_equal(RankRLS().fit(X.asformat(form), Y, QID).coef_, MODELS[0].coef_)
    wide = with_arrays(X, indices=X.indices.astype(np.int64), indptr=X.indptr.astype(np.int64))
    np.testing.assert_array_equal(RankRLS().fit(wide, Y, QID).coef_, MODELS[0].coef_)
    longer = with_arrays(X, data=np.append(X.data, 1.0), indices=np.append(X.indices, 0))
    np.testing.assert_array_equal(MODELS[0].predict(longer), MODELS[0].predict(X))


def test_a_sparse_array_of_one_dimension_is_refused():
    for enter in (lambda row: RankRLS().fit(row, [1.0]), lambda row: RankingData.from_arrays(row, [1.0])):
        with pytest.raises(DataError, match=r"X must be two-dimensional|[Ee]xpected 2D"):
            enter(sparse.coo_array([1.0, 0.0, 2.0]))
