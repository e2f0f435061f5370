"""Model cards: what a model file says of how it was made, of which data, and how good it is."""

import hashlib
import json
import time

import numpy as np
import pandas as pd
import pytest

import rankwise
from command_line import done, folder, refused
from dirty_tables import clean_table
from rankwise.cli.reading import load_model as load_for_command
from rankwise.errors import FileFormatError, ParameterError
from rankwise.metrics import evaluate
from rankwise.model.card_page import card_page, shown_date
from test_golden_models import READABLE, name_of
from test_model_files import rewrite

__all__ = ["done", "folder", "refused"]  # fixtures

TRAIN, TEST = rankwise.load_movies().split(0.5, random_state=0)
TABLE = ["--label", "grade", "--qid", "query", "--doc", "product", "--columns", "auto"]


def history_of(path):
    return load_for_command(path).origin.history


@pytest.fixture
def later(monkeypatch):
    """Makes the clock say another date."""

    def set_date(date):
        monkeypatch.setattr(time, "gmtime", lambda *_: time.strptime(date, "%Y-%m-%d"))

    return set_date


def test_a_file_says_what_save_was_told(tmp_path):
    (tmp_path / "rows.txt").write_bytes(b"1 qid:1 1:1\n")
    model = rankwise.RankRLSCV(measure="ndcg@10").fit(TRAIN)
    found = evaluate(TEST.y, model.predict(TEST), TEST.qid, ["ndcg@10", "map"])
    model.save(tmp_path / "model", note="For the shop.", results=found, data=tmp_path / "rows.txt")
    (step,) = rankwise.load_model(tmp_path / "model").history_
    assert (step.method, step.notes, step.command) == ("fit", ("For the shop.",), None)
    assert step.versions["rankwise"] == rankwise.__version__
    assert step.versions["numpy"] == np.__version__
    (rows,) = step.rows
    assert (rows.part, rows.n_rows, rows.n_queries) == ("training", TRAIN.n_rows, TRAIN.n_queries)
    (file,) = rows.files
    assert (file.bytes, file.sha256) == (12, hashlib.sha256(b"1 qid:1 1:1\n").hexdigest())
    assert [(one.part, one.measure, one.mean, one.margin, one.n_queries) for one in step.results] == [
        ("test", name, found.means[name], found.margins[name], found.summaries[0].n_queries)
        for name in ("ndcg@10", "map")
    ]
    model.save(tmp_path / "again", note="Another.", results={"live": {"clicks": 0.25}, "test": found})
    (step,) = history_of(tmp_path / "again")
    assert step.notes == ("Another.",)
    assert [(one.part, one.measure) for one in step.results][:2] == [("live", "clicks"), ("test", "ndcg@10")]


def test_without_dates_the_same_fit_gives_the_same_bytes(tmp_path, later):
    def saved(name, **options):
        model = rankwise.RankRLS(solver="primal").fit(TRAIN.X, TRAIN.y, TRAIN.qid)
        model.partial_fit(TEST.X, TEST.y, TEST.qid)
        model.save(tmp_path / name, **options)
        return (tmp_path / name).read_bytes()

    later("2026-01-01")
    dated, undated = saved("a"), saved("b", date=False)
    later("2026-02-02")
    assert saved("c", date=False) == undated
    assert saved("d") != dated
    assert [step.date for step in history_of(tmp_path / "d")] == ["2026-02-02T00:00:00Z"] * 2


def test_updates_are_steps_and_those_between_two_files_are_one(tmp_path, later):
    path, week = tmp_path / "model", [TEST.select(queries=TEST.queries.labels[k::3]) for k in range(3)]
    later("2026-01-01")
    model = rankwise.RankRLS(solver="primal").fit(TRAIN)
    model.save(path, note="The first.")
    model = rankwise.load_model(path).partial_fit(week[0]).partial_fit(week[1]).forget(week[0])
    later("2026-02-02")
    model.partial_fit(week[2]).save(path, note="The second.")
    rankwise.load_model(path).forget(week[2]).save(path)
    fit, update, last = history_of(path)
    assert [step.notes for step in (fit, update, last)] == [("The first.",), ("The second.",), ()]
    assert [step.method for step in (fit, update, last)] == ["fit", "update", "update"]
    assert {rows.part: rows.n_rows for rows in update.rows} == {
        "learned": TEST.n_rows,
        "forgotten": week[0].n_rows,
    }
    assert [(rows.part, rows.n_rows) for rows in last.rows] == [("forgotten", week[2].n_rows)]
    assert (fit.date, update.date) == ("2026-01-01T00:00:00Z", "2026-02-02T00:00:00Z")


def test_other_ways_to_a_model_are_told_apart():
    moments = rankwise.Moments.of(TRAIN.X, TRAIN.y, TRAIN.qid)
    pairs = np.array([[0, 2], [1, 3]])
    for model, method in (
        (rankwise.RankRLS.from_moments(moments), "from_moments"),
        (rankwise.RankRLS().partial_fit(TRAIN), "partial_fit"),
        (rankwise.RankRLS().fit_preferences(TRAIN.X, pairs), "fit_preferences"),
        (rankwise.RankSVM().fit(TRAIN), "fit"),
    ):
        assert [step.method for step in model.history_] == [method]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"note": " "}, "The 'note' parameter must be text"),
        ({"note": 3}, "The 'note' parameter must be text; got 3"),
        ({"results": [1.0]}, "The 'results' parameter must be an Evaluation or a dictionary"),
        ({"results": {"test": {"map": "good"}}}, "The 'results' parameter must be"),
        ({"results": {"test": 0.5, "live": {"map": 0.5}}}, "The 'results' parameter must be"),
        ({"results": {3: {"map": 0.5}}}, "The 'results' parameter must be"),
        ({"data": 3}, "The 'data' parameter must be the path of a file, or a list of them; got 3"),
        ({"date": "today"}, "The 'date' parameter must be True or False; got 'today'"),
    ],
)
def test_what_a_card_cannot_hold_is_refused_before_anything_is_written(tmp_path, given, says):
    model = rankwise.RankRLS().fit(TRAIN)
    with pytest.raises(ParameterError, match=says):
        model.save(tmp_path / "model", **given)
    with pytest.raises(FileNotFoundError):
        model.save(tmp_path / "model", data=[tmp_path / "missing.txt"])
    assert not (tmp_path / "model").exists()


DAMAGED = [
    "made by hand",
    [],
    [{}],
    [{"method": 3}],
    [{"method": "fit", "closed": True}],
    [{"method": "fit", "by": "me"}],
    [{"method": "fit", "date": ["2026"]}],
    [{"method": "fit", "versions": {"numpy": 2}}],
    [{"method": "fit", "rows": [{"n_rows": 3}]}],
    [{"method": "fit", "rows": [{"part": "training", "n_rows": -3}]}],
    [{"method": "fit", "rows": [{"part": "training", "n_rows": True}]}],
    [{"method": "fit", "rows": [{"part": "training", "n_rows": 10**400}]}],
    [{"method": "fit", "rows": [{"part": "training", "files": ["a.txt"]}]}],
    [{"method": "fit", "results": [{"part": "test", "measure": "map", "mean": float("nan")}]}],
    [{"method": "fit", "results": [{"part": "test", "measure": "map", "mean": 10**400}]}],
    [{"method": "fit", "results": [{"part": "test", "measure": "map"}]}],
    [{"method": "fit", "notes": "all good"}],
    [{"method": "fit", "notes": [[["deep"]]]}],
]


@pytest.mark.parametrize("history", DAMAGED, ids=str)
def test_a_damaged_history_is_refused_with_a_sentence(tmp_path, refused, history):
    path = tmp_path / "model"
    rankwise.RankRLS().fit(TRAIN).save(path)
    rewrite(path, lambda header: header["values"].update(history_=history))
    for load in (rankwise.load_model, load_for_command):
        with pytest.raises(FileFormatError, match=r"cannot be loaded: the history of the model") as caught:
            load(path)
        assert len(str(caught.value)) < 400
    assert "the history of the model" in refused("info", path, code=1)


def test_names_and_notes_are_shown_as_text_wherever_they_come_from(tmp_path, done):
    odd = "<script>alert(1)</script> | \x1b[31m\nred"
    frame = pd.DataFrame(TRAIN.X, columns=[odd, *TRAIN.feature_names[1:]])
    rankwise.RankRLS().fit(frame, TRAIN.y, TRAIN.qid).save(tmp_path / "model", note=odd)
    for arguments in ([], ["--markdown"], ["--html"]):
        shown = done("info", tmp_path / "model", *arguments)
        assert "\x1b" not in shown
        assert arguments == [] or "<script>" not in shown
    assert r"\| \u001b\[31m\u000ared" in done("info", tmp_path / "model", "--markdown")


@pytest.fixture
def shop(tmp_path):
    """A table with two kinds of columns, some values missing, and another of other queries."""
    frame, rng = clean_table(n_queries=50, seed=1), np.random.default_rng(0)
    frame.loc[rng.random(len(frame)) < 0.1, "price"] = np.nan
    is_test = frame["query"].isin(frame["query"].unique()[:20])
    for name, part in (("train", frame[~is_test]), ("test", frame[is_test])):
        part.to_parquet(tmp_path / f"{name}.parquet", index=False)
    return tmp_path


def test_train_documents_what_it_did(shop, done):
    path, train, test = (shop / name for name in ("model", "train.parquet", "test.parquet"))
    done("train", train, path, *TABLE, "--test", test, "--note", "To be tried.", "--threads", "1")
    (step,) = history_of(path)
    expected = f"rankwise train {train} {path} {' '.join(TABLE)} --test {test} --note 'To be tried.'"
    assert (step.command, step.notes) == (expected, ("To be tried.",))
    for rows, file in zip(step.rows, (train, test), strict=True):
        frame = pd.read_parquet(file)
        assert (rows.part, rows.n_rows, rows.n_queries) == (
            file.stem.replace("train", "training"),
            len(frame),
            frame["query"].nunique(),
        )
        assert (rows.label, rows.qid) == ("grade", "query")
        assert [one.sha256 for one in rows.files] == [hashlib.sha256(file.read_bytes()).hexdigest()]
    data = rankwise.load_table(test, label="grade", qid="query", doc="product", as_table=True)
    found = evaluate(data.y, rankwise.load_model(path).predict(data), data.qid, ["ndcg@10"])
    (result,) = [one for one in step.results if (one.part, one.measure) == ("test", "ndcg@10")]
    assert (result.mean, result.margin) == (found.means["ndcg@10"], found.margins["ndcg@10"])
    assert {one.part for one in step.results} == {"training", "test", "left_out"}


def test_update_appends_to_the_history(shop, done):
    path, train, test = (shop / name for name in ("model", "train.parquet", "test.parquet"))
    done("train", train, path, *TABLE, "--set", "solver=primal", "--alpha", "1", "--note", "First.")
    done("update", test, path, *TABLE[:6], "--note", "Second.")
    fit, update = history_of(path)
    assert (fit.notes, update.notes) == (("First.",), ("Second.",))
    assert update.command.startswith("rankwise update ")
    assert [(rows.part, rows.files[0].name) for rows in update.rows] == [("learned", str(test))]
    shown = done("info", path)
    assert "Updated once" in shown
    assert "Note: Second." in shown
    assert "before: the learned queries, scored before they were learned." in shown
    assert "First." in shown
    assert "Second." in shown


def test_no_date_makes_two_runs_write_the_same_file(shop, done, later):
    path, written = shop / "model", []
    for day in ("2026-01-01", "2026-02-02"):
        later(day)
        done("train", shop / "train.parquet", path, *TABLE, "--alpha", "1", "--no-date")
        done("update", shop / "test.parquet", path, *TABLE[:6], "--no-date")
        written.append(path.read_bytes())
    assert written[0] == written[1]
    assert [step.date for step in history_of(path)] == [None, None]


def test_a_model_that_cannot_be_measured_is_saved_with_its_card(shop, done, monkeypatch):
    def fail(*_):
        raise rankwise.DataError("No measure today.")

    monkeypatch.setattr("rankwise.cli.train.evaluate_parts", fail)
    assert rankwise.cli.main(["train", str(shop / "train.parquet"), str(shop / "model"), *TABLE]) == 1
    (step,) = history_of(shop / "model")
    assert step.command.startswith("rankwise train")
    assert step.results == ()


def test_info_is_a_page_of_what_became_of_every_column(shop, done):
    done("train", shop / "train.parquet", shop / "model", *TABLE, "--note", "To be tried.")
    shown, markdown, page = (done("info", shop / "model", *how) for how in ([], ["--markdown"], ["--html"]))
    digest = hashlib.sha256((shop / "train.parquet").read_bytes()).hexdigest()
    frame = pd.read_parquet(shop / "train.parquet")
    least, most = (f"{value:.4g}" for value in (frame["price"].min(), frame["price"].max()))
    for text in (shown, markdown, page):
        assert "coef_" not in text
        assert "Note: To be tried." in text
        for part in ("RankRLSCV: a sum of functions of 9 columns", "train.parquet", "Quality", "left_out"):
            assert part in text
        (line,) = [line for line in text.splitlines() if "log of the number" in line and "price" in line]
        assert all(value in line for value in (least, most, f"{frame['price'].isna().mean():.1%}"))
        (line,) = [line for line in text.splitlines() if "date" in line and "added" in line]
        assert str(frame["added"].min().date()) in line
    assert digest not in shown
    assert digest[:12] in shown
    assert digest in markdown
    assert digest in page
    assert page.startswith("<!doctype html>")
    assert "src=" not in page
    assert "coef_" in done("info", shop / "model", "--tensors")


def test_only_models_have_cards(folder, refused):
    for what in ("--markdown", "--html", "--tensors"):
        for file in ([], ["train.txt.gz"]):
            assert "require FILE to be a model" in refused("info", *file, what, code=2)
    assert "Only one of" in refused("info", "model", "--html", "--json", code=2)


@pytest.mark.parametrize("path", READABLE, ids=name_of)
def test_models_of_earlier_versions_have_a_card(path):
    page = card_page(load_for_command(path), path.name)
    assert page.sentences[0].startswith(path.stem.partition("-")[0])
    assert page.markdown()
    assert [section.title for section in page.sections][-1] == "Parameters"


def test_a_file_without_history_is_saved_without_one(tmp_path):
    (path,) = [path for path in READABLE if name_of(path) == "schema-2/RankRLS"]
    rankwise.load_model(path).save(tmp_path / "model")
    assert history_of(tmp_path / "model") is None
    rankwise.load_model(path).save(tmp_path / "model", note="Still good.")
    assert [step.notes for step in history_of(tmp_path / "model")] == [("Still good.",)]


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_columns_come_in_order_of_what_they_add_within_queries(offset):
    frame, rng = clean_table(n_queries=200, seed=2), np.random.default_rng(0)
    frame["match"] += offset
    frame.loc[rng.random(len(frame)) < 0.2, "rating"] = np.nan
    frame["maker"] = [f"maker {k}" for k in rng.integers(0, 150, len(frame))]  # more than are kept
    columns = ["match", "price", "rating", "added", "brand", "in_stock", "maker"]
    for became in ("auto", None):
        used = columns if became else ["match", "price"]
        model = rankwise.RankRLS(columns=became).fit(frame[used], frame["grade"], frame["query"])
        added = pd.DataFrame(model.contributions(frame[used]), columns=used).groupby(
            frame["query"].to_numpy()
        )
        expected = np.sqrt(added.transform(lambda one: one - one.mean()).pow(2).mean())
        (section,) = [one for one in card_page(model.model_, "model").sections if one.title == "Columns"]
        found = [float(row[1]) for row in section.rows]
        assert found == sorted(found, reverse=True)
        np.testing.assert_allclose(found, expected[[row[0] for row in section.rows]], rtol=0.01, atol=1e-9)


def test_a_column_that_moves_nothing_within_queries_has_no_effect_but_rounding():
    frame = clean_table(n_queries=60, seed=2)
    frame["words"] = np.random.default_rng(0).random(60)[frame["query"].astype("category").cat.codes] / 3.0
    with pytest.warns(rankwise.errors.ContextWarning):
        model = rankwise.RankRLS(columns="auto").fit(
            frame[["match", "words"]], frame["grade"], frame["query"]
        )
    assert 0.0 < model.model_.profile.columns["words"].effect < 1e-12
    (section,) = [one for one in card_page(model.model_, "model").sections if one.title == "Columns"]
    assert [row[1] for row in section.rows if row[0] == "words"] == ["0"]


def test_kernels_pairs_and_single_values_have_cards():
    X = np.column_stack([np.zeros(20), np.arange(20.0)])
    for model in (rankwise.KernelRankRLS(gamma=0.1), rankwise.RankRLS()):
        model.fit(X, np.arange(20.0) % 3, np.arange(20) // 5)
        assert "x1" in card_page(model.model_, "model").markdown()
    chosen = rankwise.KernelRankRLSCV([1.0]).fit(X, np.arange(20.0) % 3, np.arange(20) // 5)
    assert "gamma 0.5" in card_page(chosen.model_, "model").sentences[1]


def test_dates_are_shown_as_people_write_them_and_others_as_they_are():
    assert shown_date("2026-11-19T21:45:55Z") == "2026-11-19 21:45 UTC"
    for odd in ("", "yesterday", "2026-11-19", "TZ", "2026-11-19T21:45:55+01:00"):
        assert shown_date(odd) == odd


def test_the_facts_of_a_card_are_there_as_json(shop, done):
    done("train", shop / "train.parquet", shop / "model", *TABLE)
    facts = json.loads(done("info", shop / "model", "--json"))
    assert facts["history"][0]["rows"][0]["files"][0]["name"].endswith("train.parquet")
    assert facts["profile"]["price"]["missing"] > 0.05
    assert facts["parameters"]["columns"] == "auto"
    assert facts["tensors"]["coef_"].startswith("float64 ")


ODD = [None, True, -1, 0, 10**400, float("nan"), 1e308, "", "\ud800", "<script>", [], {}, [[]], {"a": 1}]


def damaged(content, rng):
    """The same JSON with one value, or key, in it replaced."""
    if isinstance(content, dict) and content:
        key = list(content)[rng.integers(len(content))]
        if rng.random() < 0.1:
            return {(name if name != key else f"{name}x"): value for name, value in content.items()}
        return content | {key: damaged(content[key], rng)}
    if isinstance(content, list) and content and rng.random() < 0.9:
        place = rng.integers(len(content))
        return [*content[:place], damaged(content[place], rng), *content[place + 1 :]]
    return ODD[rng.integers(len(ODD))]


@pytest.mark.parametrize("part", ["history_", "profile.", "any"])
def test_whatever_loads_has_a_card_and_the_rest_is_refused(tmp_path, part):
    frame = clean_table(n_queries=12, seed=3).drop(columns=["product"])
    model = rankwise.RankRLSCV([1.0, 10.0], columns="auto").fit(
        frame.drop(columns=["grade", "query"]), frame["grade"], frame["query"]
    )
    model.save(tmp_path / "whole", note="An example.", results={"test": {"map": 0.5}})
    rng, path, loaded = np.random.default_rng(0), tmp_path / "model", 0
    for _ in range(150):

        def change(header):
            values = header["values"]
            names = [name for name in values if part == "any" or name.startswith(part)]
            name = names[rng.integers(len(names))]
            values[name] = damaged(values[name], rng)

        path.write_bytes((tmp_path / "whole").read_bytes())
        rewrite(path, change)
        try:
            found = load_for_command(path)
        except FileFormatError:
            continue
        loaded += 1
        page = card_page(found, "model")
        assert "<script>" not in page.markdown() + page.html("")
    assert 10 < loaded < 140
