"""``rankwise update``: models that learn and forget on the command line."""

import json

import numpy as np
import pytest

import rankwise
from command_line import done, folder, letor_lines, refused

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
