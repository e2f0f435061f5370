"""Arguments of `fit` as LGBMRanker and XGBRanker take them, and attributes that other libraries read."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from rankwise import (
    DataError,
    KernelRankRLS,
    KernelRankRLSCV,
    ParameterError,
    RankingData,
    RankRLS,
    RankRLSCV,
    RankRLSPath,
    RankSVM,
    RankSVMCV,
    RankSVMPath,
    make_search_data,
)
from rankwise.metrics import evaluate
from stressed import KINDS, dense, stressed

FEW = [0.1, 10.0]
RANKERS = [
    RankRLS(),
    RankRLS(solver="cg", tol=1e-12),
    RankRLSCV(FEW),
    KernelRankRLS(gamma=0.1),
    KernelRankRLSCV(FEW, gamma=0.1),
    RankRLSPath(max_features=2, alphas=FEW),
    RankSVM(0.1, tol=1e-9),
    RankSVM(0.1, loss="squared_hinge", tol=1e-9),
    RankSVMCV([0.1, 0.01], tol=1e-6),
    RankSVMPath(kernel="linear", alpha_min=0.05),
    RankSVMPath(kernel="linear", alpha_min=0.05, graph="reduced"),
]
every_ranker = pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: repr(ranker)[:40])
linear = pytest.mark.parametrize(
    "ranker",
    [RankRLSCV(FEW), RankRLSPath(max_features=2), RankSVM(), KernelRankRLS(kernel="linear")],
    ids=repr,
)


def sorted_rows(seed, n_queries=12, n=3):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 7, n_queries)
    X = rng.normal(size=(sizes.sum(), n))
    y = np.digitize(X[:, 0] + rng.normal(size=len(X)), [-0.5, 0.5]).astype(float)
    return X, y, np.repeat(np.arange(n_queries), sizes), sizes


@pytest.fixture(scope="module")
def rows():
    return sorted_rows(0)


@pytest.fixture(scope="module")
def others():
    return sorted_rows(1, n_queries=6)


@every_ranker
def test_sizes_of_queries_mean_what_their_qid_means(ranker, rows):
    X, y, qid, sizes = rows
    expected = clone(ranker).fit(X, y, qid).predict(X)
    np.testing.assert_array_equal(clone(ranker).fit(X, y, group=sizes).predict(X), expected)
    np.testing.assert_array_equal(clone(ranker).fit(X, y, qid, group=list(sizes)).predict(X), expected)


def refused(kind, fit, *arguments, **options):
    with pytest.raises(kind) as refusal:
        fit(*arguments, **options)
    assert str(refusal.value).count("\n") == 0
    return str(refusal.value)


def test_sizes_that_contradict_the_rows_or_qid_are_refused(rows):
    X, y, qid, sizes = rows
    fit = RankRLS().fit
    assert f"number of rows, {len(X)}; got 3" in refused(DataError, fit, X, y, group=[1, 2])
    assert "contradict" in refused(DataError, fit, X, y, qid[::-1], group=sizes)
    assert "whole numbers" in refused(DataError, fit, X, y, group=sizes / 2)
    data = RankingData.from_arrays(X, y, qid)
    assert "its own labels and queries" in refused(DataError, fit, data, group=sizes)


@every_ranker
def test_a_query_of_weight_two_is_the_query_twice(ranker, rows):
    if isinstance(ranker, RankRLSCV | KernelRankRLSCV | RankSVMCV | RankRLSPath):
        pytest.skip("a copy of a query would be left out without it")
    X, y, qid, _ = rows
    heavy = np.where(np.arange(12) == 3, 2.0, 1.0)
    twice = np.flatnonzero(qid == 3)
    weighted = clone(ranker).fit(X, y, qid, query_weight=heavy).predict(X)
    again = np.concatenate([np.arange(len(X)), twice])
    repeated = clone(ranker).fit(X[again], y[again], np.concatenate([qid, np.full(len(twice), 99)]))
    np.testing.assert_allclose(differences(weighted, qid), differences(repeated.predict(X), qid), atol=2e-4)
    assert np.abs(differences(weighted - clone(ranker).fit(X, y, qid).predict(X), qid)).max() > 1e-3


def differences(scores, qid):
    return scores - np.array([scores[qid == q].mean() for q in range(qid.max() + 1)])[qid]


@pytest.mark.parametrize(
    "ranker", [RankRLSCV(FEW), RankSVMCV([0.1, 0.01]), RankRLSPath(max_features=2)], ids=repr
)
def test_searches_weigh_queries_with_whatever_else_they_learn(ranker, rows):
    """With almost all weight on some queries, the model is that of these queries."""
    X, y, qid, _ = rows
    chosen = qid < 6
    weight = {q: 1.0 if q < 6 else 1e-9 for q in range(12)}
    (few,) = np.flatnonzero(np.diff(np.append(chosen, False)))
    ranker = clone(ranker).set_params(alphas=[0.1])
    weighted = ranker.fit(X, y, qid, query_weight=weight).coef_
    alone = clone(ranker).fit(X[: few + 1], y[: few + 1], qid[: few + 1]).coef_
    np.testing.assert_allclose(weighted / np.abs(weighted).max(), alone / np.abs(alone).max(), atol=0.02)


@every_ranker
def test_every_form_of_eval_sets_gives_the_same_results(ranker, rows, others):
    X, y, qid, sizes = rows
    A, b, q, own = others
    forms = [
        {"eval_set": [(X, y, qid), (A, b, q)]},
        {"eval_set": [(X, y), (A, b)], "eval_group": [sizes, own]},
        {"eval_set": [(X, y), (A, b)], "eval_qid": [qid, q]},
        {"eval_set": (RankingData.from_arrays(X, y, qid), (A, b, q))},
    ]
    found = [
        clone(ranker).fit(X, y, qid, **form, eval_at=[2, 5], eval_metric=["map", "ndcg"]) for form in forms
    ]
    scores = found[0].predict(A)
    expected = evaluate(b, scores, q, ["pairwise_error", "map@2", "map@5", "ndcg@2", "ndcg@5"]).means
    for model in found:
        assert list(model.evals_result_) == ["valid_0", "valid_1"]
        assert model.evals_result_["valid_1"] == {name: [pytest.approx(v)] for name, v in expected.items()}
        assert model.evals_result_ == found[0].evals_result_
    single = [
        {"eval_set": [(A, b)], "eval_group": [own]},
        {"eval_set": (A, b), "eval_group": own},
        {"eval_set": (A, b), "eval_qid": q},
        {"eval_set": [(A, b)], "eval_qid": [q]},
        {"eval_set": (A, b, q)},
        {"eval_set": [RankingData.from_arrays(A, b, q)]},
    ]
    for form in single:
        model = clone(ranker).fit(X, y, qid, **form)
        assert model.evals_result_ == {
            "valid_0": {"pairwise_error": pytest.approx([expected["pairwise_error"]])}
        }
        np.testing.assert_array_equal(model.predict(A), scores)  # the last set decides


def test_results_are_those_of_the_last_fit(rows, others):
    X, y, qid, _ = rows
    model = RankRLS().fit(X, y, qid, eval_set=others[:3])
    assert model.with_alpha(1e6).evals_result_ != model.evals_result_
    assert pickle.loads(pickle.dumps(model)).evals_result_ == model.evals_result_
    assert not hasattr(model.fit(X, y, qid), "evals_result_")


def test_eval_arguments_that_do_not_fit_are_refused(rows, others):
    X, y, qid, sizes = rows
    A, b, q, own = others
    fit = RankSVM().fit
    assert "because fit was given a qid" in refused(DataError, fit, X, y, group=sizes, eval_set=[(A, b)])
    assert "eval_group" in refused(DataError, fit, X, y, qid, eval_group=[own])
    assert "eval_at needs an eval_set" in refused(ParameterError, fit, X, y, qid, eval_at=[1])
    both = {"eval_set": [(X, y), (A, b)]}
    assert "one entry for each eval_set: 2; got 1" in refused(
        DataError, fit, X, y, qid, **both, eval_group=[own]
    )
    message = refused(DataError, fit, X, y, qid, **both, eval_group=[sizes, sizes])
    assert "eval_group[1]" in message
    assert "without eval_qid" in refused(DataError, fit, X, y, qid, eval_set=(A, b, q), eval_qid=[q])
    assert "eval_set[1]: X has 2 features" in refused(
        DataError, fit, X, y, qid, eval_set=[(X, y, qid), (A[:, :2], b, q)]
    )
    assert "eval_at" in refused(ParameterError, fit, X, y, qid, eval_set=(A, b, q), eval_at=[0])


@every_ranker
def test_a_wrong_argument_is_reported_with_the_class_that_was_typed(ranker, rows):
    X, y, qid, _ = rows
    with pytest.raises(
        TypeError, match=rf"^{type(ranker).__name__}\.fit\(\) got an unexpected .* 'callbacks'"
    ):
        clone(ranker).fit(X, y, qid, callbacks=[])


def fitted_to(kind, ranker):
    X, y, qid = stressed(kind)
    try:
        return X, qid, clone(ranker).fit(X, y, qid)
    except DataError:
        pytest.skip("this ranker needs more queries or smaller numbers")


@linear
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_contributions_add_up_to_the_scores(ranker, kind):
    X, _, model = fitted_to(kind, ranker)
    parts = model.contributions(X)
    assert parts.shape == X.shape
    assert sparse.issparse(parts) == sparse.issparse(X)
    size = np.abs(dense(parts)).sum(axis=1).max()
    np.testing.assert_allclose(dense(parts).sum(axis=1), model.predict(X), atol=1e-12 * size)


@linear
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_importances_are_effects_within_queries(ranker, kind):
    X, qid, model = fitted_to(kind, ranker)
    weights = dense(model.contributions(np.eye(X.shape[1]))).sum(axis=0)
    rows = [np.asarray(dense(X)[qid == q], dtype=np.float64) for q in dict.fromkeys(qid)]
    squares = sum(((own - own.mean(axis=0)) ** 2).sum(axis=0) for own in rows)
    expected = np.abs(weights) * np.sqrt(squares / X.shape[0])
    np.testing.assert_allclose(model.feature_importances_, expected, rtol=1e-6, atol=1e-9 * expected.max())


def test_columns_of_tables_have_one_importance_and_contribution_each(rows):
    pandas = pytest.importorskip("pandas")
    X, y, qid, _ = rows
    table = pandas.DataFrame({"a": X[:, 0], "kind": np.where(X[:, 1] > 0, "x", "y"), "b": X[:, 2]})
    for interactions in (None, [("kind", "b")]):
        model = RankRLS(columns="auto", interactions=interactions).fit(table, y, qid)
        parts = model.contributions(table)
        assert parts.shape == table.shape
        np.testing.assert_allclose(parts.sum(axis=1), model.predict(table), atol=1e-12)
        squares = sum(
            ((parts[qid == q] - parts[qid == q].mean(axis=0)) ** 2).sum(axis=0) for q in range(qid.max() + 1)
        )
        np.testing.assert_allclose(model.feature_importances_, np.sqrt(squares / len(X)), atol=1e-12)


def test_a_large_fit_measures_importances_on_some_of_its_rows():
    data = make_search_data(400, random_state=0)
    model = RankRLS().fit(data)
    parts, query = model.contributions(data), data.queries.query_of_row()
    means = np.stack([parts[query == q].mean(axis=0) for q in range(query.max() + 1)])
    expected = np.sqrt(((parts - means[query]) ** 2).mean(axis=0))
    np.testing.assert_allclose(model.feature_importances_, expected, rtol=0.1, atol=0.02 * expected.max())


def test_rankers_without_weights_of_columns_say_so(rows):
    X, y, qid, _ = rows
    model = KernelRankRLS(gamma=0.1).fit(X, y, qid)
    assert not hasattr(model, "feature_importances_")
    assert "linear ranker" in refused(ParameterError, model.contributions, X)
    two = RankRLS().fit(X, np.stack([y, -y], axis=1), qid)
    assert "2 targets" in refused(DataError, two.contributions, X)


@linear
def test_shap_explains_linear_rankers(ranker, rows):
    shap = pytest.importorskip("shap")
    X, y, qid, _ = rows
    model = clone(ranker).fit(X, y, qid)
    if isinstance(ranker, KernelRankRLS):
        assert not hasattr(model, "intercept_")
        return
    explainer = shap.LinearExplainer(model, X)
    values = explainer.shap_values(X)
    np.testing.assert_allclose(values.sum(axis=1) + explainer.expected_value, model.predict(X), atol=1e-12)
    parts = model.contributions(X)
    np.testing.assert_allclose(values, parts - parts.mean(axis=0), atol=1e-12)
