"""Columns that are constant within queries are named: alone, they change no order."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.model_selection import GridSearchCV, GroupKFold

from command_line import done, folder
from rankwise import (
    KernelRankRLS,
    KernelRankRLSCV,
    RankingData,
    RankRLS,
    RankRLSCV,
    RankSVM,
    RankSVMCV,
    audit,
    load_model,
)
from rankwise.cli import main
from rankwise.columns.context import ROWS_FIRST, about_context, context_of_matrix
from rankwise.errors import ContextWarning
from rankwise.model.model_file import read_model
from rankwise.preferences.queries import group_rows

__all__ = ["done", "folder"]  # fixtures

LINEAR = {
    "RankRLS": RankRLS(),
    "RankRLSCV": RankRLSCV([0.1, 1.0]),
    "RankSVM": RankSVM(),
    "RankSVMCV": RankSVMCV([0.1, 1.0]),
    "a linear kernel": KernelRankRLS(kernel="linear"),
}


def shop(n_rows=400, n_queries=20, seed=0):
    """A table with context of every kind, partly missing, and one column that is constant everywhere."""
    rng = np.random.default_rng(seed)
    qid = rng.permutation(np.arange(n_rows) % n_queries)
    days = np.datetime64("2024-05-31") - (qid % 5).astype("timedelta64[D]")
    frame = pd.DataFrame(
        {
            "price": rng.normal(size=n_rows),
            "is_mobile": qid % 2 == 0,
            "category": np.array(["shoes", "hats", None], dtype=object)[qid % 3],
            "length": np.where(qid % 4 == 0, np.nan, qid % 4),
            "asked": days,
            "shop": "ours",
        }
    )
    return frame, np.digitize(frame["price"] + rng.normal(size=n_rows), [-0.5, 0.5]), qid


CONTEXT = ["is_mobile", "category", "length", "asked"]


@pytest.mark.parametrize("ranker", LINEAR.values(), ids=LINEAR)
def test_a_fit_names_the_columns_that_are_constant_within_queries(ranker, tmp_path):
    frame, y, qid = shop()
    with pytest.warns(ContextWarning, match="are constant within queries; they can only matter") as caught:
        model = ranker.set_params(columns="auto").fit(frame, y, qid)
    assert len([one for one in caught if one.category is ContextWarning]) == 1
    assert caught[0].filename == __file__
    assert model.context_columns_ == CONTEXT
    model.save(tmp_path / "model")
    assert load_model(tmp_path / "model").context_columns_ == CONTEXT
    assert read_model(tmp_path / "model").outcome.context_columns == CONTEXT


def test_context_is_what_a_sum_of_functions_cannot_use():
    frame, y, qid = shop()
    with pytest.warns(ContextWarning):
        model = RankRLS(columns="auto").fit(frame, y, qid)
    other = frame.assign(is_mobile=~frame["is_mobile"], length=7.0)
    order = model.rank(frame, qid)
    np.testing.assert_array_equal(model.rank(other, qid), order)


@pytest.mark.parametrize("columns", ["auto", {"price": "spline", "shop": "category"}])
def test_columns_that_vary_or_are_constant_everywhere_are_not_context(columns):
    frame, y, qid = shop()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ContextWarning)
        model = RankRLS(columns=columns).fit(frame[["price", "shop"]], y, qid)
    assert not hasattr(model, "context_columns_")


def test_one_row_that_differs_makes_a_column_one_of_rows():
    frame, y, qid = shop()
    for row in (0, 200, 399):
        changed = frame[["price", "length"]].copy()
        changed.loc[row, "length"] = 17.0
        assert not hasattr(RankRLS(columns="auto").fit(changed, y, qid), "context_columns_")


def test_kernels_and_global_rankings_are_not_warned():
    frame, y, qid = shop(200)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ContextWarning)
        KernelRankRLS(columns="auto").fit(frame, y, qid)
        KernelRankRLSCV([1.0], columns="auto", kernel="polynomial").fit(frame, y, qid)
        RankRLS(columns="auto").fit(frame, y)


def test_features_are_recorded_without_a_warning():
    frame, y, qid = shop()
    X = frame[["price", "is_mobile", "shop"]].assign(shop=1.0).to_numpy(float)
    data = RankingData.from_arrays(X, y, qid, feature_names=["price", "is_mobile", "shop"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", ContextWarning)
        assert RankRLSCV([1.0]).fit(X, y, qid).context_columns_ == ["x1"]
        assert RankSVM().fit(data).context_columns_ == ["is_mobile"]
        assert not hasattr(RankRLS().fit(sparse.csr_matrix(X), y, qid), "context_columns_")


@pytest.mark.parametrize("shift", [0.0, 1e9])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_context_of_a_matrix_is_that_of_its_definition(shift, dtype):
    rng = np.random.default_rng(0)
    qid = np.sort(rng.integers(0, 90, 5 * ROWS_FIRST))
    columns = [qid % 3, qid % 3, rng.integers(0, 2, len(qid)), 0 * qid]
    X = (1000.0 * np.stack(columns, axis=1) + shift).astype(dtype)
    X[-1, 1] += 1000.0  # in the last query only
    for order in (np.arange(len(qid)), rng.permutation(len(qid))):
        found = context_of_matrix(X[order], group_rows(qid[order], len(qid)))
        assert found.tolist() == [0]


def test_an_update_may_bring_rows_in_which_columns_vary():
    frame, y, qid = shop()
    X = frame[["price", "length"]].fillna(0.0).to_numpy()
    model = RankRLS(solver="primal").fit(X, y, qid)
    assert model.context_columns_ == ["x1"]
    rng = np.random.default_rng(1)
    model.partial_fit(rng.normal(size=(10, 2)), rng.normal(size=10), np.full(10, 99))
    assert not hasattr(model, "context_columns_")


def test_folds_inside_and_outside_say_it_once():
    frame, y, qid = shop()
    with (
        warnings.catch_warnings(record=True) as caught,
        sklearn.config_context(enable_metadata_routing=True),
    ):
        warnings.simplefilter("default")
        RankRLSCV([0.1, 1.0], cv=4, columns="auto").fit(frame, y, qid)
        search = GridSearchCV(RankRLS(columns="auto"), {"alpha": [0.1, 1.0]}, cv=GroupKFold(4), refit=False)
        search.fit(frame, y, qid=qid, groups=qid)
    assert len([one for one in caught if one.category is ContextWarning]) == 1


def test_an_audit_says_what_constant_columns_can_do():
    frame, y, qid = shop()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ContextWarning)
        found = audit(frame, y, qid, ranker=RankRLSCV([1.0], columns="auto"))
    assert found.constant_features == (*CONTEXT, "shop")
    assert found.context_features == tuple(CONTEXT)
    header, rows = found.tables()["Features that are constant within queries"]
    assert header == ["feature", "matters"]
    assert dict(rows)["is_mobile"] == "only together with others"
    assert dict(rows)["shop"] == "never; it is constant everywhere"
    assert found.to_dict()["context_features"] == CONTEXT
    X = sparse.csr_matrix(frame[["price", "is_mobile", "shop"]].assign(shop=1.0).astype(float).to_numpy())
    assert audit(X, y, qid).context_features == ("x1",)


def test_the_command_line_says_it_once(done, tmp_path, recwarn):
    frame, y, qid = shop()
    frame.assign(label=y, qid=qid).to_csv(tmp_path / "rows.csv", index=False)
    model = tmp_path / "model"
    printed = " ".join(done("train", tmp_path / "rows.csv", model, "--columns", "auto").split())
    assert printed.count("is_mobile, category, length and asked are constant within queries") == 1
    assert "they can only matter together with other columns" in " ".join(done("info", model).split())
    for said in (printed, " ".join(done("info", model).split())):
        assert (
            "through --interactions auto or --learner kernel-rankrls, or between queries, through --set"
            in said
        )
    shown = json.loads(done("train", tmp_path / "rows.csv", model, "--columns", "auto", "--json"))
    assert shown["context_columns"] == CONTEXT


@pytest.mark.filterwarnings("always::rankwise.errors.ContextWarning")
def test_a_warning_names_options_of_the_command_line(tmp_path, capsys):
    frame, y, qid = shop(n_queries=40)
    frame.assign(label=y, qid=qid).to_csv(tmp_path / "rows.csv", index=False)
    assert main(["curve", str(tmp_path / "rows.csv"), "--columns", "auto", "--draws", "10"]) == 0
    said = capsys.readouterr().err
    assert "constant within queries" in said
    assert "through --interactions auto" in said
    assert 'interactions="auto"' not in said


def test_columns_without_an_interaction_are_named_where_interactions_were_searched_for(tmp_path, capsys):
    frame, y, qid = shop()
    frame = frame[["price", "is_mobile", "category"]].assign(label=y, qid=qid)
    model = RankRLSCV([1.0], interactions="auto").fit(frame.drop(columns=["label", "qid"]), y, qid)
    assert not model.encoding_.interactions
    assert model.context_columns_ == ["is_mobile", "category"]
    frame.to_csv(tmp_path / "rows.csv", index=False)
    arguments = [str(tmp_path / "rows.csv"), str(tmp_path / "model"), "--alpha", "1"]
    sentence = (
        "is_mobile and category are constant within queries and in no interaction, so they cannot change"
    )
    assert main(["train", *arguments, "--interactions", "auto"]) == 0
    assert sentence in " ".join(capsys.readouterr().out.split())
    assert main(["info", str(tmp_path / "model")]) == 0
    assert sentence in " ".join(capsys.readouterr().out.split())
    named = RankRLSCV([1.0], interactions=[("price", "is_mobile")])
    named.fit(frame.drop(columns=["label", "qid"]), y, qid)
    assert named.context_columns_ == ["category"]


def test_a_sentence_names_some_columns_and_counts_the_others():
    assert about_context(["is_mobile"]).startswith(
        "Column is_mobile is constant within queries; it can only matter "
    )
    assert about_context(list("ab")).startswith("Columns a and b are constant within queries; they can ")
    assert about_context(list("abcdef")).startswith("Columns a, b, c, d, e and f are constant")
    assert about_context(list("abcdefg")).startswith("Columns a, b, c, d, e and 2 others are constant")
