"""What to judge next: through the function and the command, with what must be refused."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from command_line import done, folder, refused
from rankwise import KernelRankRLS, RankingData, RankRLS, load_letor, load_model, make_search_data
from rankwise.errors import DataError, ParameterError
from rankwise.judging.next_judgments import next_judgments
from rankwise.ridge.knowledge import Knowledge
from rankwise.ridge.teaching import wanted_differences
from rankwise.rows.table import table_of

__all__ = ["done", "folder", "refused"]  # fixtures

DATA = make_search_data(30, random_state=0).scale_per_query()
JUDGED = np.flatnonzero(DATA.queries.query_of_row() < 12)[::2]
MODEL = RankRLS(solver="primal").fit(DATA.select(JUDGED))


def test_judging_what_is_proposed_removes_more_variance_than_any_of_twenty_random_choices():
    chosen = next_judgments(MODEL, DATA, JUDGED, budget=30, reserve=0.0)
    wanted = wanted_differences(DATA.X, DATA.queries)

    def left(rows):
        data = DATA.select(np.union1d(JUDGED, rows))
        fitted = RankRLS(solver="primal").fit(data)
        return Knowledge.of(fitted.moments_.quadratic, 1.0).total_variance(wanted)

    rows = [one.rows[0] for one in chosen]
    assert len(set(rows) - set(JUDGED.tolist())) == 30
    before = Knowledge.of(MODEL.moments_.quadratic, 1.0).total_variance(wanted)
    assert left(rows) == pytest.approx(before * (1.0 - sum(one.share for one in chosen)), rel=1e-6)
    rng, others = np.random.default_rng(0), np.setdiff1d(np.arange(DATA.n_rows), JUDGED)
    assert left(rows) < min(left(rng.choice(others, 30, replace=False)) for _ in range(20))


def test_a_share_is_drawn_at_random_and_no_document_is_named_twice():
    found = next_judgments(MODEL, DATA, JUDGED, budget=50, reserve=0.3)
    assert [one.reason for one in found].count("random") == 15
    assert len({one.rows for one in found}) == 50
    again = next_judgments(MODEL, DATA, JUDGED, budget=50, reserve=0.3)
    assert [one.rows for one in found] == [one.rows for one in again]


def test_random_ones_are_equally_likely():
    counts = np.zeros(DATA.n_rows)
    for seed in range(60):
        found = next_judgments(None, DATA, budget=40, reserve=1.0, random_state=seed)
        counts[[one.rows[0] for one in found]] += 1.0
    expected = 60 * 40 / DATA.n_rows
    assert ((counts - expected) ** 2 / expected).sum() < 1.3 * DATA.n_rows


def test_pairs_are_of_one_query_and_never_proposed_twice():
    found = next_judgments(MODEL, DATA, JUDGED, budget=60, pairs=True, reserve=0.2)
    query = DATA.queries.query_of_row()
    assert all(query[one.rows[0]] == query[one.rows[1]] for one in found)
    assert len({frozenset(one.rows) for one in found}) == 60


def test_without_a_model_queries_are_opened_by_two_documents():
    found = next_judgments(None, DATA, budget=6, reserve=0.0)
    assert found[0].query == found[1].query
    assert all(one.share > 0.0 for one in found)


def test_the_whole_pool_can_be_proposed():
    small = DATA.select(slice(0, 25))
    assert len(next_judgments(None, small, budget=25)) == 25


def test_a_model_of_columns_is_asked_with_the_table():
    frame = pd.DataFrame(DATA.X[:, :4], columns=list("abcd")).assign(
        kind=np.where(DATA.X[:, 5] > 0.5, "x", "y")
    )
    table = RankingData.from_arrays(table_of(frame), DATA.y, DATA.qid)
    model = RankRLS(solver="primal", columns="auto").fit(table.select(JUDGED))
    found = next_judgments(model, table, JUDGED, budget=5, reserve=0.0)
    assert len(found) == 5
    assert found[0].share > 0.0


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (MODEL, {"judged": JUDGED, "budget": 10**6}, "budget is 1,000,000, but there are only"),
        (MODEL, {}, "was learned by the model, but none of its rows is in 'judged'"),
        (
            MODEL,
            {"judged": range(DATA.n_rows), "budget": 1},
            "has judged rows, but the model has not learned it",
        ),
        (None, {"judged": JUDGED}, "Without a model, no row can have been judged"),
        ("model", {}, "must be a fitted RankRLS or None"),
        (MODEL, {"judged": [10**9]}, "contains row 1000000000"),
        (MODEL, {"reserve": 2.0}, "reserve"),
    ],
)
def test_what_makes_no_sense_is_refused(model, options, message):
    judged = options.pop("judged", None) if "judged" in options else None
    with pytest.raises((DataError, ParameterError), match=message):
        next_judgments(model, DATA, judged, **options)


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (KernelRankRLS(kernel="rbf"), "no moments.*solver='primal'"),
        (RankRLS(solver="cg"), "no moments.*solver='primal'"),
        (RankRLS(solver="primal", weighting="pair"), "a grade changes the weight of all pairs.*--pairs"),
        (RankRLS(solver="primal", ties="drop"), "a grade changes the weight of all pairs.*--pairs"),
    ],
)
def test_models_whose_changes_are_not_known_are_refused(ranker, message):
    fitted = ranker.fit(DATA.select(JUDGED))
    with pytest.raises((DataError, ParameterError), match=message):
        next_judgments(fitted, DATA, JUDGED)


def test_pairs_work_with_every_weighting_and_ties():
    for options in ({"weighting": "pair"}, {"weighting": "query"}, {"ties": "drop"}):
        model = RankRLS(solver="primal", **options).fit(DATA.select(JUDGED))
        assert len(next_judgments(model, DATA, JUDGED, budget=5, pairs=True)) == 5


def test_the_command_proposes_what_the_function_does(folder, done, refused, tmp_path):
    out = tmp_path / "next.csv"
    found = json.loads(done("next", "test.txt", "--budget", "8", "--csv", out, "--json"))
    test = load_letor(folder / "test.txt")
    expected = next_judgments(None, test, budget=8)
    assert [one["row"] for one in found] == [one.rows[0] for one in expected]
    assert out.read_text(encoding="utf-8").startswith("qid,row,doc,reason,share\n")
    shown = done("next", "test.txt", "model", "--budget", "4", "--pairs")
    assert "other doc" in shown
    assert load_model(folder / "model").moments_ is not None
    judged = tmp_path / "judged.csv"
    judged.write_text("qid,doc,label\nnone,d,1\n", encoding="utf-8")
    message = refused("next", "test.txt", "model", "--judgments", judged, code=1)
    assert "(the first: query 'none', document 'd')" in message
    assert "only" in refused("next", "test.txt", "--budget", "100000", code=2)


def test_float32_and_rows_far_from_zero_are_chosen_as_others():
    far = replace(DATA, X=(DATA.X + 1000.0).astype(np.float32), features=DATA.features)
    near = replace(DATA, X=far.X.astype(np.float64) - 1000.0)
    one, two = (next_judgments(None, data, budget=10, reserve=0.0) for data in (far, near))
    assert [a.share for a in one] == pytest.approx([b.share for b in two], rel=1e-5)
