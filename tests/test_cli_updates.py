"""``rankwise update``: models that learn and forget on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

import rankwise
from command_line import done, folder, letor_lines, refused
from rankwise.cli import main
from rankwise.metrics import evaluate

__all__ = ["done", "folder", "refused"]  # fixtures


@pytest.fixture(scope="module")
def weeks(folder):
    """Three weeks of judgments as text, and a model of the first two."""
    data = rankwise.make_search_data(30, random_state=4)
    labels = data.queries.labels.tolist()
    for week in range(3):
        part = data.select(queries=labels[10 * week : 10 * week + 10])
        (folder / f"week{week}.txt").write_text("".join(letor_lines(part)), encoding="utf-8")
    (folder / "first.txt").write_text(
        "".join(letor_lines(data.select(queries=labels[:20]))), encoding="utf-8"
    )
    rest = data.select(queries=labels[10:])
    return data, rest


def test_an_update_is_a_fit_to_all(weeks, done, folder):
    data, rest = weeks
    done("train", "first.txt", "first", "--alpha", "1", "--set", "solver=primal", "--ties", "drop")
    done("update", "week2.txt", "first", "--out", "all")
    model = rankwise.load_model(folder / "all")
    fitted = rankwise.RankRLS(ties="drop").fit(data.X, data.y, data.qid)
    np.testing.assert_allclose(model.coef_, fitted.coef_, rtol=1e-8, atol=1e-10)
    shown = json.loads(
        done("update", "week2.txt", "first", "--forget", "week0.txt", "--out", "rest", "--json")
    )
    assert shown["class"] == "RankRLS"
    model = rankwise.load_model(folder / "rest")
    fitted = rankwise.RankRLS(ties="drop").fit(rest.X, rest.y, rest.qid)
    np.testing.assert_allclose(model.coef_, fitted.coef_, rtol=1e-8, atol=1e-10)


def test_info_says_how_much_a_model_has_learned(weeks, done):
    data, _ = weeks
    done("train", "first.txt", "first", "--alpha", "1", "--set", "solver=primal")
    done("update", "week2.txt", "first", "--out", "all")
    facts = json.loads(done("info", "all", "--json"))
    assert facts["learned"]["queries"] == 30
    assert facts["learned"]["rows"] == data.n_rows
    assert facts["made by"] == f"rankwise {rankwise.__version__}"
    assert "30" in next(line for line in done("info", "all").splitlines() if "learned" in line)


def test_a_model_keeps_its_names_and_scaling(done, folder):
    (folder / "a.csv").write_text(
        "qid,label,title,price\n1,1,3,100\n1,0,1,20\n2,1,5,7\n2,0,2,9\n", encoding="utf-8"
    )
    (folder / "b.csv").write_text(
        "qid,price,label,title\n3,10,0,3\n3,30,1,7\n4,5,1,2\n4,1,0,1\n", encoding="utf-8"
    )
    done("train", "a.csv", "named", "--scale", "--alpha", "1", "--set", "solver=primal")
    done("update", "b.csv", "named", "--out", "named2")
    model = rankwise.load_model(folder / "named2")
    assert model.feature_names_in_.tolist() == ["title", "price"]
    assert model.scaled_per_query_
    tables = [
        rankwise.load_table(folder / name, label="label", qid="qid", features=["title", "price"])
        for name in ("a.csv", "b.csv")
    ]
    scaled = [table.scale_per_query() for table in tables]
    fitted = rankwise.RankRLS().fit(
        np.vstack([part.X for part in scaled]),
        np.concatenate([part.y for part in scaled]),
        np.concatenate([part.qid for part in scaled]),
    )
    np.testing.assert_allclose(model.coef_, fitted.coef_, atol=1e-12)


def test_a_model_that_chose_alpha_validates_the_update(weeks, done, folder):
    done("train", "first.txt", "chosen", "--set", "solver=primal")
    shown = done("update", "week2.txt", "chosen", "--out", "chosen2")
    assert "by progressive validation" in shown
    assert rankwise.load_model(folder / "chosen2").cv_ == "progressive validation"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["week0.txt", "first"], "was learned before, so it would count twice"),
        (["week2.txt", "first", "--forget", "week2.txt"], "was never learned"),
        (["week2.txt", "dual"], "dual: the model has no moments to update"),
        (["week2.txt", "svm"], "svm: the model has no moments to update"),
    ],
)
def test_updates_that_are_impossible_are_refused(weeks, done, refused, folder, arguments, message):
    done("train", "first.txt", "first", "--alpha", "1", "--set", "solver=primal")
    done("train", "first.txt", "dual", "--alpha", "1", "--set", "solver=dual")
    done("train", "first.txt", "svm", "--learner", "ranksvm", "--alpha", "0.001")
    assert message in refused("update", *arguments, "--out", "out", code=1)
    assert not (folder / "out").exists()


@pytest.fixture
def kept(folder):
    """A table of queries by users, and a model of it."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "qid": np.repeat([f"query {k}" for k in range(30)], 8),
            "user": np.repeat(rng.choice(["ann", "bob", "eve"], 30), 8),
            "price": rng.normal(size=240),
            "brand": rng.choice(["oak", "elm"], 240),
            "label": rng.integers(0, 3, 240),
        }
    )
    table.to_parquet(folder / "kept.parquet")
    refit(table).save(folder / "users")
    return table


def refit(table):
    ranker = rankwise.RankRLS(columns={"price": "number", "brand": "category"}, solver="primal")
    return ranker.fit(table[["price", "brand"]], table["label"], table["qid"])


def test_queries_are_forgotten_by_name(kept, done, folder):
    (folder / "gone.txt").write_text("query 3\n\n query 7 \n", encoding="utf-8")
    shown = done("update", "users", "--forget", "kept.parquet", "--forget-queries", "gone.txt")
    assert "Forgot 2 queries of 16 rows; 28 are left; written to users" in shown
    rest = kept[~kept["qid"].isin(["query 3", "query 7"])]
    model = rankwise.load_model(folder / "users")
    encoding = model.model_.encoding
    fitted = rankwise.RankRLS().fit(encoding.encode(encoding.table(rest)), rest["label"], rest["qid"])
    np.testing.assert_allclose(model.coef_, fitted.coef_, atol=1e-9)


def test_queries_are_forgotten_by_the_user(kept, done, folder):
    (folder / "gone.txt").write_text("bob\n", encoding="utf-8")
    shown = json.loads(
        done("update", "users", "--forget", "kept.parquet", "--forget-queries", "gone.txt",
             "--forget-by", "user", "--out", "without", "--json")
    )  # fmt: skip
    rest = kept[kept["user"] != "bob"]
    assert shown["forgotten"]["rows"] == len(kept) - len(rest)
    assert shown["queries"] == rest["qid"].nunique()
    encoding = rankwise.load_model(folder / "users").model_.encoding
    model = rankwise.load_model(folder / "without")
    fitted = rankwise.RankRLS().fit(encoding.encode(encoding.table(rest)), rest["label"], rest["qid"])
    np.testing.assert_allclose(model.coef_, fitted.coef_, atol=1e-9)
    done("update", "users", "--forget", "kept.parquet", "--out", "again", "--forget-queries", "gone.txt",
         "--forget-by", "user")  # fmt: skip


def test_numbers_and_stores_are_forgotten_by_name(done, folder):
    data = rankwise.make_search_data(12, random_state=0)
    data = rankwise.RankingData.from_arrays(data.X, data.y, data.queries.query_of_row().astype(float))
    rankwise.save_store(data, folder / "kept.store")
    rankwise.RankRLS(solver="primal").fit(data).save(folder / "numbered")
    (folder / "gone.txt").write_text("3\n11\n", encoding="utf-8")
    done("update", "numbered", "--forget", "kept.store", "--forget-queries", "gone.txt")
    rest = data.select(~np.isin(data.qid, [3, 11]))
    model = rankwise.load_model(folder / "numbered")
    np.testing.assert_allclose(model.coef_, rankwise.RankRLS().fit(rest).coef_, atol=1e-9)


def test_what_cannot_be_forgotten_gets_a_sentence(kept, done, refused, folder, monkeypatch, capsys):
    for name, text in (("gone.txt", "query 3\nquery 99\n"), ("none.txt", "nobody\n"), ("empty.txt", "\n")):
        (folder / name).write_text(text, encoding="utf-8")
    for arguments, code, message in (
        (["users", "--forget-queries", "gone.txt"], 2, "need --forget DATA, the rows as they were learned"),
        (["users", "--forget-by", "user"], 2, "need --forget DATA, the rows as they were learned"),
        (["users", "--forget", "kept.parquet", "--forget-by", "user"], 2, "needs --forget-queries FILE"),
        (["users"], 2, "Expected DATA to learn and a MODEL"),
        ([], 2, "Expected DATA to learn and a MODEL"),
        (["users", "--forget", "kept.parquet", "--forget-queries", "none.txt"], 1, "none of these names"),
        (["users", "--forget", "kept.parquet", "--forget-queries", "empty.txt"], 1, "names nothing"),
        (["users", "--forget", "kept.parquet", "--forget-queries", "gone.txt", "--forget-by", "u"], 1,
         "no column 'u'"),
    ):  # fmt: skip
        assert message in refused("update", *arguments, code=code)
    monkeypatch.chdir(folder)
    assert main(["update", "users", "--forget", "kept.parquet", "--forget-queries", "gone.txt"]) == 0
    assert "1 of 2 names are not in kept.parquet: query 99" in capsys.readouterr().err
    (folder / "gone.txt").write_text("query 3\n", encoding="utf-8")
    again = ["update", "users", "--forget", "kept.parquet", "--forget-queries", "gone.txt"]
    assert "was never learned" in refused(*again, code=1)


def test_an_update_shows_the_score_of_the_new_queries_before_they_were_learned(weeks, done, folder):
    data, _ = weeks
    done("train", "first.txt", "first", "--alpha", "1", "--set", "solver=primal")
    facts = json.loads(done("update", "week2.txt", "first", "--out", "all", "--json"))
    first, new = rankwise.load_model(folder / "first"), data.select(queries=data.queries.labels[20:].tolist())
    expected = evaluate(new.y, first.predict(new.X), new.qid, ["ndcg@10"])
    assert facts["before"]["ndcg@10"] == pytest.approx(expected.means["ndcg@10"])
    assert facts["margins"]["before"]["ndcg@10"] == pytest.approx(expected.margins["ndcg@10"])
    shown = done("update", "week2.txt", "first", "--out", "all")
    assert "before: the new queries, scored before they were learned" in shown


def test_an_update_names_unknown_categories(kept, done, folder):
    new = kept.assign(qid="new " + kept["qid"])
    new.loc[:23, "brand"], new.loc[24:27, "brand"] = "ash", "yew"
    new.to_parquet(folder / "new.parquet")
    shown = done("update", "new.parquet", "users", "--out", "all")
    assert "Unknown categories of brand in 11.7% of the rows: ash (24), yew (4)" in shown
    facts = json.loads(done("update", "new.parquet", "users", "--out", "all", "--json"))
    assert facts["unknown_categories"] == {"brand": {"ash": 24, "yew": 4}}
