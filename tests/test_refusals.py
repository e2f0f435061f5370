"""A mistake raises rankwise's own one-sentence error: what was wrong, where, and what was expected."""

import numpy as np
import pandas
import pyarrow
import pytest
from scipy import sparse
from sklearn.model_selection import GroupKFold
from sklearn.utils.validation import check_X_y

from rankwise import (
    DataError,
    KernelRankRLS,
    KernelRankRLSCV,
    ParameterError,
    QueryMinMaxScaler,
    RankRLS,
    RankRLSCV,
    RankRLSPath,
    RankSVM,
    RankSVMCV,
    RankSVMPath,
)
from rankwise.metrics import get_measure

rng = np.random.default_rng(0)
X, Y, QID = rng.normal(size=(12, 3)), np.tile([0.0, 1.0, 2.0], 4), np.repeat([1, 2, 3], 4)


def with_entry(array, at, value):
    changed = array.copy()
    changed[at] = value
    return changed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((with_entry(X, (3, 2), np.nan), Y), r"X must hold finite numbers; row 3, column 2 is NaN\.$"),
        (
            (pandas.DataFrame(with_entry(X, (3, 2), np.inf), columns=list("abc")), Y),
            r"row 3, column 2 \('c'\) is inf\.$",
        ),
        (
            (pyarrow.table(dict(zip("abc", with_entry(X, (3, 2), np.inf).T, strict=True))), Y),
            r"row 3, column 2 \('c'\) is inf\.$",
        ),
        (
            (pyarrow.table({"a": X[:, 0], "b": ["word"] * 12}), Y),
            r"row 0, column 1 \('b'\): could not convert string to float: 'word'\.$",
        ),
        ((X, with_entry(Y, 4, np.nan)), r"y must hold finite numbers; row 4 has nan\.$"),
        ((X, with_entry(Y.astype(object), 4, None)), r"y must hold finite numbers; row 4 has nan\.$"),
        ((X, list("abc") * 4), r"^y must hold real numbers; got an array of strings\.$"),
        ((object(), Y), r"^X must be an array of numbers; got object\.$"),
        ((X, object()), r"^y must be an array of numbers; got object\.$"),
        (("text", Y), r"^X must be an array of numbers; got str\.$"),
        (([[1.0, 2.0], [3.0]], [1.0, 0.0]), r"^X must hold numbers only, in rows of equal length\.$"),
        ((X, [[1.0], [2.0, 3.0]] * 6), r"^y must hold numbers only, in rows of equal length\.$"),
        (
            (with_entry(X.astype(object), (3, 2), {}), Y),
            r"^X must hold numbers only; row 3, column 2: float\(\) argument must be .* not 'dict'\.$",
        ),
        ((with_entry(X.astype(object), (3, 2), None), Y), "finite numbers; row 3, column 2 is NaN"),
        ((X[:, 0], Y), r"^X must be two-dimensional, .*; got 1 dimension\(s\)\. Reshape your data [^\n]*$"),
        ((X[None], Y), r"^X must be two-dimensional, one row per document; got 3 dimension\(s\)\.$"),
        (
            (pandas.DataFrame({"a": Y, "b": [*"123456789ab7"]}), Y),
            r"^X must hold numbers only; row 9, column 1 \('b'\): could not convert string to float: 'a'\.$",
        ),
        (
            (X, with_entry(Y.astype(object), 4, "high")),
            r"^y must hold numbers only; row 4: could not convert",
        ),
        ((pandas.DataFrame(), []), r"at least one row and one feature; got shape \(0, 0\)"),
        ((X * 1j, Y), r"^Complex data not supported: X must hold real numbers\.$"),
        ((X, Y * 1j), r"^Complex data not supported: y must hold real numbers\.$"),
        ((X, Y[:-1]), r"inconsistent numbers of samples: \[12, 11\]"),
        ((X, Y, QID, ["heavy"] * 12), "sample_weight must hold numbers: could not convert string"),
        ((X, Y, QID, [1.0] * 11 + [1e200]), r"between 1e-100 and 1e\+100; row 11 has 1e\+200"),
        ((X, Y, QID, [1e-200] + [1.0] * 11), "sample_weight must be 0 or between .*; row 0 has 1e-200"),
    ],
)
def test_bad_training_data_is_refused_with_its_place(arguments, message):
    for ranker in (RankRLS(), RankSVM()):
        with pytest.raises(DataError, match=message):
            ranker.fit(*arguments)


def test_what_only_scikit_learn_minds_is_refused_in_its_own_words():
    with pytest.raises(ValueError, match="requires y to be passed") as original:
        check_X_y(X, None, estimator="RankRLS")
    with pytest.raises(DataError) as caught:
        RankRLS().fit(X, None)
    assert str(caught.value) == str(original.value)


@pytest.mark.parametrize("words", ["Something new", "Input X contains NaN", "could not convert string", ""])
@pytest.mark.parametrize("kind", [ValueError, TypeError])
def test_the_place_is_found_whatever_words_scikit_learn_has_for_it(monkeypatch, kind, words):
    def refuse(*_, **__):
        raise kind(words)

    monkeypatch.setattr("sklearn.utils.validation.check_X_y", refuse)
    for data, place in (
        (with_entry(X, (3, 2), np.nan), "row 3, column 2 is NaN"),
        (with_entry(X.astype(object), (3, 2), "many"), "row 3, column 2: could not"),
        (X[:, 0], "two-dimensional"),
    ):
        with pytest.raises(DataError, match=place):
            RankRLS().fit(data, Y)
    with pytest.raises(DataError) as caught:
        RankRLS().fit(X.tolist(), Y)
    assert str(caught.value) == words


def test_bad_rows_to_score_are_refused_with_their_place():
    model = RankRLS().fit(X, Y, QID)
    with pytest.raises(DataError, match="row 3, column 2 is NaN"):
        model.predict(with_entry(X, (3, 2), np.nan))
    with pytest.raises(DataError, match="X has 2 features, but RankRLS is expecting 3"):
        model.predict(X[:, :2])
    with pytest.raises(DataError, match=r"^X must be an array of numbers; got NoneType\.$"):
        model.predict(None)
    for row in (0.5, "first", -1, 12):
        with pytest.raises(DataError, match="i must be a row of X, 0 to 11; got"):
            model.explain(X, row, 1)


def test_rows_to_scale_are_refused_in_the_same_words():
    with pytest.raises(DataError, match=r"^X must be an array of numbers; got object\.$"):
        QueryMinMaxScaler().fit(object())
    with pytest.raises(DataError, match="row 3, column 2 is NaN"):
        QueryMinMaxScaler().fit(X).transform(with_entry(X, (3, 2), np.nan))


def test_plain_arrays_are_taken_as_they_are_and_others_become_them(monkeypatch):
    forms = [(X.tolist(), Y.tolist()), (np.asfortranarray(X), Y.astype(object)), (pandas.DataFrame(X), Y)]
    models = [RankRLS().fit(*form, QID) for form in forms]
    named = RankRLS().fit(pandas.DataFrame(X, columns=list("abc")), Y, QID)
    assert not hasattr(named.fit(X, Y, QID), "feature_names_in_")
    monkeypatch.setattr(
        "sklearn.utils.validation.validate_data", lambda *_, **__: pytest.fail("checked twice")
    )
    for labels in (Y, Y.astype(np.int32)):
        plain = RankRLS().fit(X, labels, QID)
        for model in models:
            np.testing.assert_array_equal(model.coef_, plain.coef_)
    assert plain.n_features_in_ == 3
    plain.predict(X)


def test_pairs_of_different_lengths_are_refused():
    with pytest.raises(DataError, match=r"pairs must have shape \(n_pairs, 2\)"):
        RankRLS().fit_preferences(X, [[0, 1], [2]])


def test_parameters_of_another_type_are_refused_by_name():
    with pytest.raises(ParameterError, match="must be a name such as 'ndcg@10', or a function; got 3"):
        get_measure(3)
    with pytest.raises(ParameterError, match=r"'cv' parameter must be 'auto', .*; got 'loo'"):
        RankSVMCV(cv="loo").fit(X, Y, QID)
    with pytest.raises(ParameterError, match="Leave-pair-out needs a closed form of RankRLS"):
        RankSVMCV(cv="leave-pair-out").fit(X, Y)


FIRST, REST = np.arange(3), np.arange(3, 12)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([], r"'cv' parameter has no folds; got \[\]"),
        (iter([]), "'cv' parameter has no folds"),
        (
            {0: 1},
            "Fold 0 of cv must be the numbers of the rows to train on and to hold out; got a value of type i",
        ),
        ([(REST, FIRST), None], "Fold 1 of cv must be .*; got a value of type NoneType"),
        ([(REST, FIRST, FIRST)], "Fold 0 of cv must be .*; got a value of type tuple"),
        ([("a", "b")], "Fold 0 of cv must be .*; got type <U1"),
        ([(REST / 2, FIRST)], "Fold 0 of cv must be .*; got type float64, .* to train on"),
        ([(np.arange(12) > 2, np.arange(12) < 3)], "Fold 0 of cv must be .*; got type bool"),
        ([(REST, [[0]])], r"Fold 0 of cv must be .*; got type int.*, shape \(1, 1\), to hold out"),
        ([(REST, [99])], "Fold 0 of cv has row 99, but there are 12 rows"),
        ([(REST, [])], "Fold 0 of cv has no rows to hold out"),
        ([([], np.arange(12))], "Fold 0 of cv has no rows to train on"),
        (np.zeros((2, 2, 6)), "Fold 0 of cv must be"),
        (np.array(3), "must be a number of folds or a splitter"),
        (b"3", "must be a number of folds or a splitter"),
        (GroupKFold(9), "'cv' parameter cannot split the queries: .*9"),
        (GroupKFold, "'cv' parameter cannot split the queries"),
    ],
)
@pytest.mark.parametrize("ranker", [RankRLSCV, RankSVMCV, RankRLSPath])
def test_what_is_no_fold_is_refused_by_its_number(cv, message, ranker):
    with pytest.raises((ParameterError, DataError), match=message):
        ranker(cv=cv).fit(X, Y, np.arange(12) // 3)


@pytest.mark.parametrize(
    ("alphas", "message"),
    [
        ([1, -1], r"must hold finite numbers (of at least|above) 0; got -1\.$"),
        ([np.nan], r"must hold finite numbers (of at least|above) 0; got nan\.$"),
        ([], r"must be a sequence of numbers; got \[\]\.$"),
        ([[1], [1, 2]], r"must be a sequence of numbers; got \[\[1\], \[1, 2\]\]\.$"),
    ],
)
def test_a_grid_of_alphas_is_refused_as_a_grid(alphas, message):
    for ranker in (RankRLSCV(alphas), KernelRankRLSCV(alphas), RankSVMCV(alphas)):
        with pytest.raises(ParameterError, match=message):
            ranker.fit(X, Y, QID)
    with pytest.raises(ParameterError, match=r"must hold finite numbers above 0; got 0\.$"):
        RankSVMCV([0, 1]).fit(X, Y, QID)


RANKERS = (RankRLS, RankRLSCV, KernelRankRLS, KernelRankRLSCV, RankSVM, RankSVMCV, RankSVMPath)


@pytest.mark.parametrize(
    ("ranker", "name"), [(ranker, name) for ranker in RANKERS for name in ranker().get_params()]
)
def test_every_parameter_is_checked_whether_this_fit_has_use_for_it_or_not(ranker, name):
    folds = {"cv": 3} if hasattr(ranker(), "cv") else {}
    refused = ranker(**(folds | {name: object()}))
    with pytest.raises(ParameterError, match=f"{name}.*<object object"):
        refused.fit(X, Y, QID)
    with pytest.raises(ParameterError, match=f"{name}.*<object object"):
        refused.fit_preferences(X, [[0, 1], [1, 2], [4, 5], [8, 9]])


@pytest.mark.parametrize("ranker", RANKERS)
def test_labels_and_pairs_that_say_nothing_are_refused_in_the_same_words(ranker):
    asked = ranker(cv=3) if hasattr(ranker(), "cv") else ranker()
    nothing = "^There is nothing to learn: "
    with pytest.raises(
        DataError, match=nothing + r"all rows of each query \(1, 2, 3\) have the same label\.$"
    ):
        asked.fit(X, QID, QID)
    with pytest.raises(DataError, match=nothing + r"all rows of each query \(0, 1, 2, \.\.\.\) have the"):
        asked.fit(X, Y, np.arange(12))
    with pytest.raises(DataError, match=nothing + r"all rows of the ranking have the same label\.$"):
        asked.fit(X, np.ones(12))
    with pytest.raises(DataError, match=nothing + r"no pair has a positive weight\.$"):
        asked.fit_preferences(X, [[0, 1], [4, 5], [8, 9]], weight=[0.0, 0.0, 0.0])


@pytest.mark.parametrize("options", [{"max_iter": 0}, {"tol": -1}, {"patience": 0}])
def test_numbers_out_of_range_are_refused_whatever_the_solver(options):
    (name,) = options
    for ranker in (RankRLS(**options), RankRLSCV(**options), KernelRankRLS(**options), RankSVMCV(**options)):
        with pytest.raises(ParameterError, match=f"The '{name}' parameter must be .* of at least"):
            ranker.fit(X, Y, QID)


def test_a_checkpoint_that_is_an_ordinary_file_is_refused(tmp_path):
    file = tmp_path / "notes"
    file.write_text("mine", encoding="utf-8")
    for ranker in (RankRLS(checkpoint=str(file)), KernelRankRLS(checkpoint=file)):
        with pytest.raises(
            ParameterError, match=r"'checkpoint' parameter must be a folder; .*notes is a file"
        ):
            ranker.fit(X, Y, QID)
    assert file.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("value", ["x", 1, None])
def test_what_merely_counts_as_true_or_false_is_refused(value):
    for ranker in (
        RankRLS(early_stopping=value),
        RankRLSCV(early_stopping=value),
        KernelRankRLS(early_stopping=value),
        RankSVM(early_stopping=value),
    ):
        with pytest.raises(ParameterError, match="'early_stopping' parameter must be True or False; got"):
            ranker.fit(X, Y, QID)
        if hasattr(ranker, "fit_preferences"):
            with pytest.raises(ParameterError, match="'early_stopping' parameter must be True or False; got"):
                ranker.fit_preferences(X, [[0, 1]])
    with pytest.raises(ParameterError, match="'warm_start' parameter must be True or False; got"):
        RankSVM(warm_start=value).fit(X, Y, QID)
    RankSVM(warm_start=np.True_).fit(X, Y, QID)


def test_a_model_that_cannot_be_written_names_its_file_alone(tmp_path):
    with pytest.raises(OSError, match=r"missing/model'$"):
        RankRLS().fit(X, Y, QID).save(tmp_path / "missing" / "model")


def test_a_feature_id_beyond_all_memory_is_refused_before_weights_are_made():
    X = sparse.csr_matrix(([1.0, 2.0, 3.0], [0, 1, 3_000_000_000], [0, 1, 2, 3]))
    with pytest.raises(DataError, match="X has 3,000,000,001 features; at most 67,108,864 are supported"):
        RankRLS().fit(X, Y[:3])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "ranker",
    [
        RankRLS(solver="primal"),
        RankRLS(solver="dual"),
        RankRLSCV(),
        KernelRankRLS(kernel="linear"),
        KernelRankRLS(basis=5),
        KernelRankRLS(basis=5, solver="cg"),
        KernelRankRLS(kernel="linear", basis=3),
        KernelRankRLS(kernel="polynomial", basis=3),
        KernelRankRLSCV(kernel="polynomial"),
        RankSVMPath(kernel="linear"),
    ],
    ids=str,
)
def test_features_whose_products_overflow_are_refused(ranker):
    with pytest.raises(DataError, match="X has entries so large that their products overflow"):
        ranker.fit(X * 1e200, Y, QID)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf"])
def test_kernel_products_that_overflow_leave_no_model_that_predicts_nan(kernel):
    with pytest.raises(DataError, match="overflow"):
        KernelRankRLS(kernel=kernel, solver="cg").fit(X * 1e200, Y, QID)


@pytest.mark.parametrize("solver", ["primal", "dual"])
def test_products_whose_sums_overflow_give_no_weights_of_zero(solver):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(40, 3))
    for scale in 10.0 ** np.arange(152.0, 154.0, 0.1):
        with np.errstate(all="ignore"):
            model = RankRLS(solver=solver, ties="drop", weighting="pair")
            try:
                model.fit(scale * rows, np.arange(40) % 3, np.arange(40) % 5)
            except DataError:
                continue
            assert model.coef_.any()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_rows_whose_distances_overflow_are_refused_even_if_their_kernel_values_are_finite():
    with pytest.raises(DataError, match="X has entries so large that their products overflow"):
        KernelRankRLS(gamma=2.0).fit(1e154 * np.eye(12), Y, QID)
