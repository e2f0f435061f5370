"""``rankwise clicks``: a log and a table of features become a report, training data and a model."""

import json

import numpy as np
import pandas as pd
import pytest

import rankwise
from rankwise.cli import main

COLUMNS = ["--qid", "query", "--doc", "url", "--position", "rank", "--clicked", "click", "--session", "visit"]


@pytest.fixture(scope="module")
def made():
    """The data, its log, and both as frames with the names that a shop uses."""
    data, log = rankwise.make_search_data(60, random_state=3, clicks=True)
    features = pd.DataFrame(data.X, columns=data.feature_names)
    features["query"], features["url"] = [f"query {q}" for q in data.qid], data.docs
    shown = pd.DataFrame(
        {
            "visit": log.session,
            "query": features["query"].to_numpy()[log.row],
            "url": data.docs[log.row],
            "rank": log.position,
            "click": log.clicked.astype(int),
            "browser": "any",
        }
    )
    return data, log, features, shown


@pytest.fixture
def files(made, tmp_path, monkeypatch):
    _, _, features, shown = made
    monkeypatch.chdir(tmp_path)
    shown.to_csv("log.csv", index=False)
    shown.to_parquet("log.parquet")
    # In another order: rows are found by name. The index of the frame is not a feature.
    features.sample(frac=1.0, random_state=0).to_parquet("features.parquet")
    return tmp_path


def clicks(capsys, *arguments, log="log.csv", code=0):
    returned = main(["clicks", log, *COLUMNS, *arguments])
    printed = capsys.readouterr()
    assert returned == code, printed
    return printed.err if code else printed.out


@pytest.mark.parametrize("log", ["log.csv", "log.parquet"])
def test_the_report_says_what_the_log_holds_and_whether_position_matters(files, made, capsys, log):
    report = clicks(capsys, log=log)
    simulated = made[1]
    assert f"Click log {log}\n  sessions           1200\n" in report
    assert f"results shown      {len(simulated.row)}\n" in report
    likelihood = rankwise.clicks.click_likelihood(simulated)
    assert f"without position bias         {likelihood.without_bias:.4f}" in report
    assert f"Gain per result {likelihood.gain:.5f}, 95 % interval " in report
    assert "Labels are corrected for the position; the position helps predict clicks, but whether" in report
    assert "users who look" in report


def expected_rows(made, propensity=None):
    data, log, _, _ = made
    return rankwise.clicks.rows_from_clicks(log.with_propensity(propensity), data)


@pytest.mark.parametrize("correct", [True, False])
def test_weighted_rows_are_trained_on_as_in_python(files, made, capsys, correct):
    flags = [] if correct else ["--no-correct"]
    printed = clicks(capsys, "--data", "features.parquet", "--out", "judged.csv", *flags)
    next_step = printed.strip().splitlines()[-1].partition("rankwise ")[2].split()
    assert main([part.replace("MODEL", "model") for part in next_step] + ["--alpha", "1"]) == 0
    expected = rankwise.RankRLS().fit(expected_rows(made, None if correct else 1.0))
    found = rankwise.load_model("model")
    assert found.feature_names_in_.tolist() == list(made[0].feature_names)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-5, atol=1e-10)


def test_grades_are_trained_on_as_in_python(files, made, capsys):
    clicks(capsys, "--data", "features.parquet", "--to", "grades", "--out", "graded.csv.gz")
    command = ["train", "features.parquet", "model", "--judgments", "graded.csv.gz"]
    assert main([*command, "--alpha", "1", "--qid", "query", "--doc", "url"]) == 0
    data, log, _, _ = made
    graded = rankwise.clicks.grades_from_clicks(log.with_propensity(), data)
    expected = rankwise.RankRLS().fit(graded.X, graded.y, graded.qid)
    np.testing.assert_allclose(rankwise.load_model("model").coef_, expected.coef_, rtol=1e-5, atol=1e-10)


@pytest.mark.parametrize("name", ["brands.csv", "brands.parquet"])
def test_the_next_step_encodes_columns_that_are_no_numbers(files, made, capsys, name):
    brands = made[2].assign(brand=lambda rows: rows["url"].astype(str).str[-1].map("brand {}".format))
    brands.to_csv(name, index=False) if name.endswith("csv") else brands.to_parquet(name)
    printed = clicks(capsys, "--data", name, "--out", "judged.csv")
    step = printed.strip().splitlines()[-1].partition("rankwise ")[2].split()
    assert step[-2:] == ["--columns", "auto"]
    assert main([part.replace("MODEL", "model") for part in step]) == 0


def test_pairs_name_documents_and_are_trained_on_as_in_python(files, made, capsys):
    printed = clicks(capsys, "--data", "features.parquet", "--to", "pairs", "--out", "pairs.csv")
    assert "  rankwise train features.parquet MODEL --pairs pairs.csv --qid query --doc url" in printed
    _, log, features, _ = made
    found = rankwise.load_pairs(
        "pairs.csv", data=rankwise.RankingData.from_frame(features, label=None, qid="query", doc="url")
    )
    expected = rankwise.clicks.pairs_from_clicks(log.with_propensity())
    order = np.lexsort(found.pairs.T[::-1])
    np.testing.assert_array_equal(found.pairs[order], expected.pairs)
    np.testing.assert_allclose(found.weight[order], expected.weight, rtol=1e-5)
    command = ["train", "features.parquet", "model", "--pairs", "pairs.csv", "--alpha", "1,100"]
    assert main([*command, "--qid", "query", "--doc", "url"]) == 0


def test_alpha_can_be_chosen_on_judgments(files, made, capsys):
    clicks(capsys, "--data", "features.parquet", "--out", "judged.csv")
    command = ["train", "features.parquet", "model", "--judgments", "judged.csv", "--alpha", "1,1000"]
    assert main([*command, "--qid", "query", "--doc", "url"]) == 0
    expected = rankwise.RankRLSCV([1.0, 1000.0]).fit(expected_rows(made))
    np.testing.assert_allclose(rankwise.load_model("model").coef_, expected.coef_, rtol=1e-5, atol=1e-10)


def test_judgments_replace_the_labels_of_a_table_which_are_not_features(files, made, capsys):
    clicks(capsys, "--data", "features.parquet", "--out", "judged.csv")
    old = made[2].assign(label="not yet judged")
    old.to_csv("old.csv", index=False)
    command = ["train", "old.csv", "model", "--judgments", "judged.csv", "--qid", "query", "--doc", "url"]
    assert main(command) == 0
    assert rankwise.load_model("model").feature_names_in_.tolist() == list(made[0].feature_names)


def test_a_model_of_judgments_is_validated_on_the_labels_of_the_validation_data(files, made, capsys):
    clicks(capsys, "--data", "features.parquet", "--out", "judged.csv")
    made[2].assign(label=made[0].y).to_csv("graded.csv", index=False)
    command = [
        "train",
        "features.parquet",
        "model",
        "--judgments",
        "judged.csv",
        "--validation",
        "graded.csv",
    ]
    assert main([*command, "--qid", "query", "--doc", "url", "--json"]) == 0
    data = made[0]
    scores = rankwise.load_model("model").predict(made[2][list(data.feature_names)])
    found = json.loads(capsys.readouterr().out)["validation"]["ndcg@10"]
    assert found == pytest.approx(rankwise.metrics.ndcg(data.y, scores, data.qid, k=10))


def test_data_may_be_text_with_other_numbers_of_features_and_columns_of_other_names(files, made, capsys):
    data, _, features, _ = made
    named = rankwise.RankingData.from_arrays(data.X, data.y, [f"q{q}" for q in data.qid], data.docs)
    rankwise.save_letor(named, "features.txt")
    shown = made[3].assign(query=[text.replace("query ", "q") for text in made[3]["query"]])
    shown.to_csv("short.csv", index=False)
    printed = clicks(capsys, "--data", "features.txt", "--out", "judged.csv", log="short.csv")
    assert printed.rstrip().endswith("  rankwise train features.txt MODEL --judgments judged.csv")
    assert main(["train", "features.txt", "model", "--judgments", "judged.csv"]) == 0
    features.rename(columns={"query": "q", "url": "d"}).to_csv("renamed.csv", index=False)
    names = ["--data-qid", "q", "--data-doc", "d"]
    printed = clicks(capsys, "--data", "renamed.csv", "--out", "judged.csv", *names)
    assert printed.rstrip().endswith("--judgments judged.csv --qid q --doc d")


def test_json_holds_the_numbers_of_the_report(files, made, capsys):
    found = json.loads(clicks(capsys, "--data", "features.parquet", "--json"))
    assert found["clicks"] == int(made[1].clicked.sum())
    assert found["corrected"] is True
    assert found["likelihood"]["with_bias"] > found["likelihood"]["without_bias"]
    assert [line["position"] for line in found["positions"]] == list(range(1, 11))
    assert found["written"] is None
    found = json.loads(clicks(capsys, "--data", "features.parquet", "--out", "judged.csv", "--json"))
    n_rows = len(set(made[1].row.tolist()))
    assert found["written"] == {"path": "judged.csv", "form": "rows", "entries": n_rows}


def test_results_without_features_are_counted_on_standard_error(files, made, capsys):
    made[2][100:].to_csv("some.csv", index=False)
    assert main(["clicks", "log.csv", *COLUMNS, "--data", "some.csv"]) == 0
    assert "documents, are not in the data; they are left out." in capsys.readouterr().err


def test_an_engine_that_never_varies_is_reported_and_not_corrected(files, made, capsys):
    data = made[0]
    log = rankwise.clicks.make_click_log(data, data.X[:, 0], n_sessions=200, exploration=0.0)
    frame = pd.DataFrame({"session": log.session, "qid": data.qid[log.row], "doc": data.docs[log.row]})
    frame.assign(position=log.position, clicked=log.clicked).to_csv("fixed.csv", index=False)
    assert main(["clicks", "fixed.csv"]) == 0
    printed = capsys.readouterr().out
    assert "The position bias cannot be estimated: no rows link positions 1 and 2" in printed
    assert "Labels are not corrected for the position: its effect cannot be estimated" in printed
    assert main(["clicks", "fixed.csv", "--correct"]) == 1


def test_without_position_bias_nothing_is_corrected(made, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    data = made[0]
    log = rankwise.clicks.make_click_log(data, data.X[:, 0], n_sessions=1000, position_bias=0.0)
    frame = pd.DataFrame({"session": log.session, "qid": data.qid[log.row], "doc": data.docs[log.row]})
    frame.assign(position=log.position, clicked=log.clicked).to_parquet("log.parquet")
    assert main(["clicks", "log.parquet"]) == 0
    assert "Labels are not corrected for the position; it does not reliably help" in capsys.readouterr().out


@pytest.mark.parametrize(
    "change, message",
    [
        (
            lambda log: log.assign(rank=log["rank"] - 1),
            "Column 'rank' must be at least 1, the top of the list",
        ),
        (lambda log: log.assign(rank=1_700_000_000), "which looks like a time stamp or an id"),
        (lambda log: log.assign(rank=pd.Timestamp("2026-01-05")), "Column 'rank' must contain integers"),
        (lambda log: log.assign(rank=log["rank"].where(log.index != 3)), "Column 'rank' has a missing value"),
        (lambda log: log.assign(click=0), "Column 'click' has no clicks: there is nothing to learn"),
        (lambda log: log.assign(click=2), "Column 'click' must be 0 or 1; entry 0 is 2"),
        (lambda log: log.assign(click="yes"), "Column 'click' must contain integers"),
        (lambda log: pd.concat([log, log[3:4]]), "are the same result in one session"),
        (lambda log: log.drop(columns="visit"), "The table has no column 'visit'; its columns are"),
        (lambda log: log.assign(query="other"), "No clicked result is in the data"),
        (lambda log: log[:0], "The table has no rows."),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_bad_log_is_one_sentence(files, made, capsys, change, message, kind):
    bad = change(made[3][:40])
    bad.to_csv("bad.csv", index=False) if kind == "csv" else bad.to_parquet("bad.parquet", index=False)
    said = clicks(capsys, "--data", "features.parquet", log=f"bad.{kind}", code=1)
    assert said.startswith("rankwise: error: ")
    assert message in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--out", "judged.csv"], "--out requires --data, the rows with features that are trained on."),
        (
            ["--data", "features.parquet", "--to", "wishes"],
            "--to must be one of rows, grades, pairs; got 'wi",
        ),
        (["--data", "features.parquet", "--out", "log.csv"], "log.csv is an input of this command"),
    ],
)
def test_options_that_make_no_sense_are_refused(files, capsys, arguments, message):
    assert message in clicks(capsys, *arguments, code=2)


def test_judgments_and_pairs_exclude_each_other(files, capsys):
    assert main(["train", "features.parquet", "model", "--judgments", "a.csv", "--pairs", "b.csv"]) == 2
    assert "--judgments cannot be used with --pairs." in capsys.readouterr().err


@pytest.fixture
def counted(files, made):
    """Counts per query, document and position."""
    table = made[3].assign(shown=1, bought=made[3]["click"] * (made[3]["visit"] % 5 == 0))
    by = table.groupby(["query", "url", "rank"])[["shown", "click", "bought"]].sum().reset_index()
    by.to_csv("counts.csv", index=False)
    usual = {"query": "qid", "url": "doc", "rank": "position", "shown": "impressions", "click": "clicks"}
    by.rename(columns=usual).to_parquet("usual.parquet")
    table.drop(columns=["visit", "shown"]).rename(columns=usual).to_csv("no-sessions.csv", index=False)
    return by


def written_rows(capsys, *arguments):
    assert main(["clicks", *arguments, "--out", "judged.csv"]) == 0
    return pd.read_csv("judged.csv").sort_values(["qid", "doc"]).reset_index(
        drop=True
    ), capsys.readouterr().out


def test_counts_and_lines_without_sessions_teach_what_sessions_teach(counted, capsys):
    data = ["--data", "features.parquet"]
    expected, _ = written_rows(capsys, "log.csv", *COLUMNS, *data)
    own = ["--qid", "query", "--doc", "url", "--position", "rank"]
    given, _ = written_rows(capsys, "counts.csv", *own, "--impressions", "shown", "--clicks", "click", *data)
    names = ["--data-qid", "query", "--data-doc", "url"]
    usual, printed = written_rows(capsys, "usual.parquet", *data, *names)
    lines, _ = written_rows(capsys, "no-sessions.csv", *data, *names)
    for found in (given, usual, lines):
        pd.testing.assert_frame_equal(found, expected, rtol=1e-5)
    assert "Clicks of 60 queries, held out" in printed
    assert "  sessions" not in printed
    assert f"results shown      {counted.shown.sum()}\n" in printed


def test_signals_are_given_with_their_weights(counted, made, capsys):
    own = ["--qid", "query", "--doc", "url", "--position", "rank", "--impressions", "shown"]
    command = ["counts.csv", *own, "--data", "features.parquet", "--no-correct"]
    found, _ = written_rows(capsys, *command, "--signals", "click=1,bought=10")
    sums = (
        counted.groupby(["query", "url"])[["shown", "click", "bought"]]
        .sum()
        .loc[list(zip(found.qid, found.doc, strict=True))]
    )
    value = sums.click + 10 * sums.bought
    np.testing.assert_allclose(found.label, value / sums.shown * sums.shown.sum() / value.sum())
    assert main(["clicks", *command, "--signals", "click=1,bought=many"]) == 2
    assert "--signals expects clicks=1,purchases=10 or the like; got 'bought=many'" in capsys.readouterr().err


def test_a_log_without_positions_is_not_corrected_and_says_why(counted, capsys):
    own = ["--qid", "query", "--doc", "url", "--impressions", "shown", "--clicks", "click"]
    assert main(["clicks", "counts.csv", *own]) == 0
    printed = capsys.readouterr().out
    assert "The log has no positions of results (--position)." in printed
    assert "Labels are not corrected for the position: its effect cannot be estimated" in printed
    assert "Positions" not in printed  # there are none
    assert (
        main(["clicks", "counts.csv", *own, "--data", "features.parquet", "--to", "pairs", "--out", "p"]) == 1
    )
    assert "this log has no sessions; --to rows and --to grades need none." in capsys.readouterr().err
    assert main(["clicks", "usual.parquet", "--position", ""]) == 0
    assert "has no positions of results" in capsys.readouterr().out


def test_events_of_opensearch_are_a_log(files, capsys):
    events = [
        {
            "query_id": f"{q}",
            "user_query": "shoes",
            "action_name": action,
            "event_attributes": {
                "object": {"object_id": f"d{(place + q) % 3}"},
                "position": {"ordinal": place},
            },
        }
        for q in range(40)
        for place in range(3)
        for action in (["impression", "click"] if (place, q % 2) == (0, 0) else ["impression"])
    ]
    (files / "ubi.ndjson").write_text("\n".join(map(json.dumps, events)), encoding="utf-8")
    assert main(["clicks", "ubi.ndjson", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["sessions"], found["results shown"], found["clicks"]) == (40, 120, 20)
    assert [line["results shown"] for line in found["positions"]] == [40, 40, 40]
