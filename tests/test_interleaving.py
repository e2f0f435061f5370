"""Team-draft interleaving is fair, its test keeps its level, and power is what is promised."""

import itertools
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

import rankwise
from rankwise.cli import main
from rankwise.clicks import interleaving_test, make_interleaved_log, team_draft
from rankwise.clicks.sign_test import power_of, share_interval, sign_test_p


class Coins(np.random.Generator):
    """A generator whose coins are known."""

    def __init__(self, coins):
        super().__init__(np.random.PCG64(0))
        self.coins = iter(coins)

    def integers(self, low):
        return next(self.coins)


RANKINGS = [
    *((list("xyz"), list(b)) for b in itertools.permutations("xyz")),
    *((list("wxyz"), list(b)) for size in range(5) for b in itertools.permutations("wxpq", size)),
]


def test_each_ranking_is_as_likely_at_every_position_for_the_same_coins_turned_over():
    other = {"a": "b", "b": "a", None: None}
    for a, b in RANKINGS:
        for n in (None, 3):
            for coins in itertools.product([0, 1], repeat=len({*a, *b})):
                shown = team_draft(a, b, n, random_state=Coins(coins))
                turned = team_draft(a, b, n, random_state=Coins(1 - coin for coin in coins))
                assert [team for _, team in turned] == [other[team] for _, team in shown]
                assert len({document for document, _ in shown}) == len(shown)


def test_a_draft_shows_the_best_result_that_its_team_has_left():
    rng = np.random.default_rng(0)
    for _ in range(200):
        rankings = {name: rng.permutation(12)[: rng.integers(13)].tolist() for name in "ab"}
        n = int(rng.integers(1, 15))
        shown = team_draft(*rankings.values(), n, random_state=rng)
        assert len(shown) == min(n, len({*rankings["a"], *rankings["b"]}))
        above = set()
        for document, team in shown:
            left = {name: [d for d in ranking if d not in above] for name, ranking in rankings.items()}
            assert document in [ranking[0] for name, ranking in left.items() if ranking]
            assert team is None or document == left[team][0]
            above.add(document)
        teams = [team for _, team in shown]
        assert abs(teams.count("a") - teams.count("b")) <= 1


def test_results_that_cannot_tell_the_rankings_apart_have_no_team():
    same = team_draft(["w", "x"], ["w", "x"])
    assert same == [("w", None), ("x", None)]
    first, *rest = team_draft(["w", "x", "y"], ["w", "y", "x"])
    assert first == ("w", None)
    assert {team for _, team in rest} == {"a", "b"}
    longer = team_draft(["w", "x", "y", "z"], ["x"])
    assert [team for _, team in longer[1:]] == [None, None, None]
    assert longer[0][1] is not None
    assert team_draft([], ["x", "y"]) == [("x", None), ("y", None)]


def p_values_of(log, n_sessions):
    """The p-values of tests with so many sessions each."""
    n_tests = (int(log.session[-1]) + 1) // n_sessions
    for first in range(0, n_tests * n_sessions, n_sessions):
        some = slice(*np.searchsorted(log.session, [first, first + n_sessions]))
        yield interleaving_test(log.session[some], log.team[some], log.clicked[some]).p_value


@pytest.mark.parametrize("position_bias", [0.0, 1.0])
def test_users_without_a_preference_are_said_to_have_one_in_at_most_5_percent(position_bias):
    data = rankwise.make_search_data(40, random_state=1)
    alike = rankwise.RankingData.from_arrays(data.X, np.zeros(data.n_rows), data.qid)
    log = make_interleaved_log(
        alike, data.X[:, 0], data.X[:, 1], n_sessions=20_000, position_bias=position_bias, click_noise=0.4
    )
    p_values = np.array(list(p_values_of(log, 50)))
    assert len(p_values) == 400
    assert 0.005 <= np.mean(p_values <= 0.05) <= 0.05


def test_a_test_with_as_many_sessions_as_it_needs_has_the_power_that_was_asked_for():
    data = rankwise.make_search_data(40, random_state=1)
    scores = data.X[:, 0], data.X[:, 0] + data.X[:, 1]
    log = make_interleaved_log(data, *scores, n_sessions=30_000, random_state=1)
    whole = interleaving_test(log.session, log.team, log.clicked)
    assert whole.shares["b"] > 0.55
    for power in (0.5, 0.8):
        n = whole.n_to_detect(whole.shares["b"], power=power)
        found = np.array(list(p_values_of(log, n))) <= 0.05
        assert len(found) > 40
        assert abs(found.mean() - power) < 3.0 * np.sqrt(0.25 / len(found))


def test_power_is_the_share_of_simulated_tests_that_reject():
    rng = np.random.default_rng(0)
    for n, won, share in ((100, 0.5, 0.6), (1000, 0.3, 0.55), (20, 1.0, 0.8), (300, 0.2, 0.5)):
        n_won = rng.binomial(n, won, 4000)
        wins = rng.binomial(n_won, share)
        rejected = np.mean([sign_test_p(w, k - w) <= 0.05 for w, k in zip(wins, n_won, strict=True)])
        assert abs(power_of(n, won, share) - rejected) < 0.03


def test_the_sign_test_and_its_interval_are_exact_and_agree():
    for n in (1, 2, 5, 6, 30, 101):
        for wins in range(n + 1):
            exact = binomtest(wins, n)
            assert sign_test_p(wins, n - wins) == pytest.approx(exact.pvalue, rel=1e-9)
            low, high = share_interval(wins, n)
            assert (low, high) == pytest.approx(exact.proportion_ci(method="exact"), rel=1e-9)
            assert (low <= 0.5 <= high) == (exact.pvalue > 0.05)
    assert sign_test_p(0, 0) == 1.0
    assert share_interval(0, 0) == (0.0, 1.0)


def test_a_unit_is_won_by_the_team_with_more_clicks_and_ties_count_half():
    unit = ["ann", "ann", "ann", "bob", "bob", "cat", "cat"]
    team = ["old", "new", "new", "old", "new", "old", None]
    result = interleaving_test(unit, team, [1, 1, 1, 1, 1, 0, 1])
    assert (result.wins, result.ties, result.n_units) == ({"new": 1, "old": 0}, 2, 3)
    assert result.credits == pytest.approx({"new": 2 / 3, "old": 1 / 3})
    assert result.p_value == 1.0


def test_the_order_of_entries_and_the_names_of_units_do_not_matter():
    data = rankwise.make_search_data(30, random_state=2)
    log = make_interleaved_log(data, data.X[:, 0], data.X[:, 1], n_sessions=300)
    expected = interleaving_test(log.session, log.team, log.clicked)
    order = np.random.default_rng(0).permutation(len(log.session))
    unit = np.array([f"user {s}" for s in log.session])[order]
    assert interleaving_test(unit, log.team[order], log.clicked[order]) == expected
    turned = np.array([{"a": "b", "b": "a", "": np.nan}[team] for team in log.team], dtype=object)
    swapped = interleaving_test(log.session, turned, log.clicked)
    assert swapped.wins == {"a": expected.wins["b"], "b": expected.wins["a"]}
    assert swapped.p_value == expected.p_value


def test_a_log_that_favours_a_team_is_noticed_and_a_drafted_one_is_not():
    data = rankwise.make_search_data(30, random_state=2)
    log = make_interleaved_log(data, data.X[:, 0], data.X[:, 1], n_sessions=500)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        interleaving_test(log.session, log.team, log.clicked)
    kept = (log.team == "a") | log.clicked
    with pytest.warns(UserWarning, match="not what a draft gives"):
        interleaving_test(log.session[kept], log.team[kept], log.clicked[kept])


UNIT, TEAM, CLICKED = [1, 1, 2, 2], ["a", "b", "b", "a"], [0, 1, 0, 0]


@pytest.mark.parametrize(
    "unit, team, clicked, message",
    [
        (UNIT, ["a", "b", "c", "a"], CLICKED, "team must name two teams; found 'a', 'b', 'c'"),
        (UNIT, ["a", "a", "a", None], CLICKED, "team must name two teams; found 'a'"),
        (UNIT, [None] * 4, CLICKED, "team must name two teams; found none"),
        (UNIT, TEAM, [0, 0, 0, 0], "clicked has no clicks"),
        (UNIT, TEAM, [1, 1, 1, 1], "clicked has only clicks; results that were shown, but not clicked"),
        (UNIT, TEAM, [0, 2, 0, 0], "clicked must be 0 or 1; entry 1 is 2"),
        (UNIT, TEAM, [0, np.nan, 0, 0], "clicked has a missing value: entry 1 is NaN"),
        (UNIT[:3], TEAM, CLICKED, "unit must have one entry per entry of clicked: expected 4, got 3"),
        (UNIT, TEAM[:3], CLICKED, "team must have one entry per entry of clicked: expected 4, got 3"),
        ([1, 1, 2, np.nan], TEAM, CLICKED, "unit has a missing value"),
    ],
)
def test_a_log_that_cannot_be_tested_is_an_error_that_says_why(unit, team, clicked, message):
    with pytest.raises(rankwise.DataError, match=message):
        interleaving_test(unit, team, clicked)


@pytest.mark.parametrize(
    "a, b, n, message",
    [
        (["x", "x"], ["x"], None, "a has the document 'x' more than once"),
        (["x"], [["x"]], None, "b must hold the names of documents"),
        (["x"], [None], None, "b must hold the names of documents"),
        ("xy", ["x"], None, "'a' parameter must be a list of documents"),
        (["x"], 3, None, "'b' parameter must be a list of documents"),
        (["x"], ["y"], 0, "'n' parameter must be a whole number of at least 1"),
    ],
)
def test_rankings_that_cannot_be_interleaved_are_an_error(a, b, n, message):
    with pytest.raises(rankwise.RankwiseError, match=message):
        team_draft(a, b, n)


def test_no_number_of_units_shows_a_preference_of_users_who_never_decide():
    tied = interleaving_test(UNIT, TEAM, [1, 1, 0, 0])
    assert (tied.n_won, tied.p_value) == (0, 1.0)
    assert all(np.isnan(share) for share in tied.shares.values())
    with pytest.raises(rankwise.DataError, match="No unit has a winner"):
        tied.n_to_detect(0.6)
    decided = interleaving_test(UNIT, TEAM, CLICKED)
    for share in (0.5, 1.0, "b"):
        with pytest.raises(rankwise.ParameterError, match="'share' parameter"):
            decided.n_to_detect(share)


@pytest.fixture
def files(tmp_path, monkeypatch):
    data = rankwise.make_search_data(30, random_state=2)
    log = make_interleaved_log(data, -data.y, data.y, n_sessions=400)
    names = {"a": "old", "b": "new", "": None}
    frame = pd.DataFrame(vars(log)).assign(
        team=[names[team] for team in log.team], user=[f"u{s // 4}" for s in log.session]
    )
    monkeypatch.chdir(tmp_path)
    frame.to_csv("log.csv", index=False)
    frame.to_parquet("log.parquet")
    return interleaving_test(frame["session"], frame["team"], frame["clicked"]), frame


@pytest.mark.parametrize("log", ["log.csv", "log.parquet"])
def test_the_command_prints_the_result_of_python(log, files, capsys):
    expected, frame = files
    assert main(["interleave", log]) == 0
    printed = capsys.readouterr().out
    assert f"{expected.n_won} of 400 units have a winner." in printed
    assert f"Users prefer new (sign test, p = {expected.p_value:.3g})." in printed
    assert f"0.6000  {expected.n_to_detect(0.6):>5}" in printed
    by_user = interleaving_test(frame["user"], frame["team"], frame["clicked"])
    assert main(["interleave", log, "--unit", "user", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["units"] == by_user.n_units == 100
    assert facts["teams"]["new"]["wins"] == by_user.wins["new"]
    assert facts["teams"]["old"]["credit"] == pytest.approx(by_user.credits["old"])


def test_the_command_says_what_is_wrong_with_a_log(files, capsys, tmp_path):
    assert main(["interleave", "log.csv", "--team", "ranker"]) == 1
    assert "log.csv: The table has no column 'ranker'" in capsys.readouterr().err
    assert main(["interleave", "log.csv", "--team", "position"]) == 1
    assert "team must name two teams" in capsys.readouterr().err
    (tmp_path / "few.csv").write_text("session,team,clicked\n1,a,1\n1,b,1\n2,b,0\n", encoding="utf-8")
    assert main(["interleave", "few.csv"]) == 0
    assert "No preference is shown (sign test, p = 1)." in capsys.readouterr().out


def test_a_log_without_clicks_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quiet.csv").write_text("session,team,click\n1,a,0\n1,b,0\n", encoding="utf-8")
    assert main(["interleave", "quiet.csv"]) == 1
    assert "quiet.csv: clicked has no clicks" in capsys.readouterr().err
