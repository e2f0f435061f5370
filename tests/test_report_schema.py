"""The facts of every kind of report follow the schema published with them, which names every entry."""

import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import rankwise
from command_line import done, folder
from rankwise.report.facts import SCHEMA

jsonschema = pytest.importorskip("jsonschema")

__all__ = ["done", "folder"]  # fixtures


@pytest.fixture(scope="module")
def schema():
    return json.loads(files("rankwise.report").joinpath("facts.schema.json").read_text(encoding="utf-8"))


@pytest.fixture
def validate(schema, monkeypatch):
    """Checks facts, of few numbers, in which nothing may be that the schema does not name."""
    monkeypatch.setattr("rankwise.report.lists.MAX_NUMBERS", 1000)

    def closed(part):
        if isinstance(part, list):
            return [closed(one) for one in part]
        if not isinstance(part, dict):
            return part
        shut = {"additionalProperties": False} if "properties" in part and "type" in part else {}
        return {**shut, **{key: closed(value) for key, value in part.items()}}

    validator = jsonschema.Draft202012Validator(closed(schema))

    def check(facts):
        validator.validate(json.loads(json.dumps(facts, allow_nan=False)))
        return set(facts)

    return check


@pytest.fixture(scope="module")
def parts():
    return rankwise.make_search_data(54, random_state=4).split(0.6)


def test_facts_of_all_kinds_of_models_follow_the_schema(parts, validate):
    training, test = parts
    few = training.select(queries=training.queries.labels[:5].tolist())
    surface = rankwise.RankRLSCV(alphas=[0.1, 1.0], solver="cg", early_stopping=True)
    models = {
        "scores": test.X[:, 0],
        "run": rankwise.trec.run_from_scores(test, test.X[:, 1]),
        "chosen": rankwise.RankRLSCV(alphas=[0.1, 1.0], ties=["keep", "drop"]).fit(training),
        "surface": surface.fit(training, eval_set=test),
        "spline": rankwise.RankRLS(columns="spline").fit(training),
        "few": rankwise.RankRLSPath(max_features=2).fit(training),
        "path": rankwise.RankSVMPath(gamma=1e-6, graph="reduced").fit(few).select(few),
    }
    found = validate(rankwise.make_report(models, test, training=training).facts)
    assert {"weights", "shapes", "choices", "sizes", "calibration", "learning", "audit"} <= found


def test_facts_of_commands_follow_the_schema(done, folder, tmp_path, validate):
    test = rankwise.load_letor(folder / "test.txt")
    for name, column in (("a.run", 0), ("b.run", 1)):
        rankwise.trec.save_run(rankwise.trec.run_from_scores(test, test.X[:, column]), tmp_path / name)
    rankwise.trec.save_qrels(rankwise.trec.qrels_from_data(test), tmp_path / "qrels")
    runs = [tmp_path / "a.run", tmp_path / "b.run", "--qrels", tmp_path / "qrels", "--json"]
    validate(json.loads(done("compare", *runs)))
    validate(json.loads(done("report", *runs, "--out", tmp_path / "page.html")))


def test_facts_without_any_value_follow_the_schema(validate):
    """No query has two different labels, and real-valued labels are binned."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    for y in (np.zeros(40), np.repeat(rng.normal(size=10), 4)):
        data = rankwise.RankingData.from_arrays(X, y, np.repeat(np.arange(10), 4))
        rankers = {"a": X[:, 0], "b": X[:, 1]}
        facts = rankwise.make_report(rankers, data, measures=["pairwise_error", "map"]).facts
        validate(facts)
        assert facts["means"]["a"]["pairwise_error"] is None
        assert facts["answer"][0].startswith("No query has a value of pairwise_error: ")


def test_a_table_of_columns_follows_the_schema(validate):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "q": np.repeat(np.arange(8), 4),
            "n": np.arange(32) % 5,
            "t": ["a", "b"] * 16,
            "y": np.arange(32) % 3,
        }
    )
    data = rankwise.RankingData.from_frame(frame, label="y", qid="q", as_table=True)
    model = rankwise.RankRLS(columns="auto").fit(data)
    assert "shapes" in validate(rankwise.make_report({"table": model}, data, training=data).facts)


def test_the_schema_has_the_version_of_the_facts_and_every_entry_is_documented(schema):
    assert schema["properties"]["schema"]["const"] == schema["title"] == SCHEMA
    text = Path(__file__).parent.parent.joinpath("docs", "reports.md").read_text(encoding="utf-8")
    table = text[text.index("## The facts") :]
    assert [entry for entry in schema["properties"] if f"`{entry}`" not in table] == []
