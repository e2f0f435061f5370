"""Everything shown in README and docs runs: each Python block and command, page by page from the top."""

import re
import shlex
from pathlib import Path

import pytest

from warm import run_warm

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md"))]

# What a page leaves to the reader: the data it mentions, and imports for code it shows in passing.
MEASURED = """
import pathlib, rankwise
data = rankwise.make_search_data(30, random_state=2)
y, qid, bm25 = data.y, data.qid, data.X[:, 0]
scores = rankwise.RankRLS().fit(data.X, y, qid).predict(data.X)
run, qrels = rankwise.trec.run_from_scores(data, bm25), rankwise.trec.qrels_from_data(data)
other = rankwise.trec.run_from_scores(data, scores)
labels = data.queries.labels.tolist()
for fold in range(3):
    pathlib.Path(f"MQ2007/Fold{fold + 1}").mkdir(parents=True)
    for place, name in enumerate(("train", "vali", "test")):
        part = data.select(queries=labels[(place + fold) % 3 :: 3])
        rankwise.save_letor(part, f"MQ2007/Fold{fold + 1}/{name}.txt")
candidates = [bm25, scores]
"""
SERVED = """
import json, pathlib
import numpy, onnxruntime, pandas, rankwise
frame = pandas.DataFrame(numpy.random.default_rng(0).normal(size=(20, 2)), columns=["title", "price"])
model = rankwise.RankRLS().fit(frame, frame["title"], numpy.zeros(20))
model.save("model.safetensors")
searches = numpy.arange(20) // 5
mobile = frame.assign(is_mobile=searches % 2 == 0)
pairs = [("is_mobile", "price")]
rankwise.RankRLS(interactions=pairs).fit(mobile, frame["title"], searches).save("mobile.safetensors")
names = {"title": "_score", "is_mobile": "params.is_mobile"}
mapped = rankwise.load_model("mobile.safetensors")
rankwise.export_model(mapped, "script.json", "elasticsearch-script", feature_names=names)
frame.assign(query=1).to_csv("rows.csv", index=False)
rankwise.export_model(model, "model.onnx")
docs = [{"id": f"d{n}", "[features]": f"title={n % 3},price={n}"} for n in range(9)]
response = {"responseHeader": {"params": {"qid": "17"}}, "response": {"docs": docs}}
pathlib.Path("log.jsonl").write_text(json.dumps(response))
rankwise.trec.save_qrels({"17": {f"d{n}": n % 3 for n in range(9)}}, "qrels.txt")
data, names = rankwise.make_search_data(20, random_state=2), ["title_bm25", "popularity", "in_stock"]
judged = pandas.DataFrame(data.X, columns=data.feature_names)[names].assign(label=data.y, qid=data.qid)
judged.to_csv("judged.csv", index=False)
pathlib.Path("clauses.json").write_text(json.dumps({name: {"rank": {"boost": "$boost"}} for name in names}))
"""
FILED = """
import rankwise
train, test = rankwise.make_search_data(40, random_state=2).split(0.6)
rankwise.save_letor(train, "train.txt")
rankwise.save_letor(test, "test.txt")
rankwise.save_letor(test, "validation.txt")
model = rankwise.RankRLS().fit(train.X, train.y, train.qid)
model.save("model.safetensors")
rankwise.trec.save_qrels(rankwise.trec.qrels_from_data(test), "qrels.txt")
rankwise.trec.save_run(rankwise.trec.run_from_scores(test, test.X[:, 0]), "bm25.txt")
"""
DIVIDED = """
import dask, rankwise
dask.config.set({"logging.distributed": "error"})  # it warns that a cluster ends with work in memory
made = rankwise.make_search_data(40, random_state=2)
rows = list(zip(made.qid.tolist(), made.y.tolist(), made.X.tolist()))
for part in range(4):
    rankwise.save_letor(made.select(slice(part, None, 4)), f"part-{part}.txt")
    rankwise.save_letor(made.select(queries=made.queries.labels[part::4].tolist()), f"whole-{part}.txt")
"""
REPORTED = """
import pathlib, rankwise
train, test = rankwise.make_search_data(40, random_state=2).split(0.6)
for name, part in (("train", train), ("test", test), ("validation", test)):
    rankwise.save_letor(part, f"{name}.txt")
old, new = rankwise.RankRLS(1e6).fit(train), rankwise.RankRLSCV().fit(train)
old.save("old.safetensors")
new.save("new.safetensors")
pathlib.Path("bm25.txt").write_text("".join(f"{score}\\n" for score in test.X[:, 0]))
"""
SELECTED = """
import pandas, rankwise
made = rankwise.make_search_data(20, random_state=2)
table = pandas.DataFrame(made.X, columns=made.feature_names).assign(label=made.y, qid=made.qid)
table.to_csv("data.csv", index=False)
"""
PAIRED = """
import pandas
rankwise.save_pairs([[0, 1], [2, 3]], "test.pairs")
table = pandas.DataFrame(train.X, columns=train.feature_names).assign(label=train.y, qid=train.qid)
table.to_csv("train.csv", index=False)
"""
# LightGBM warns of an argument that it called so itself for years.
PORTED = "import warnings\nwarnings.filterwarnings('ignore', message='.*eval_set')"
# Packages that a page is about, which `make clients` installs.
CLIENTS = {"mlops.md": ("mlflow", "optuna")}
GIVEN = {
    "lightgbm-xgboost.md": PORTED,
    "features.md": SELECTED,
    "reports.md": REPORTED,
    "data-files.md": FILED,
    "how-sure.md": FILED + PAIRED,
    "measures.md": MEASURED,
    "scaling.md": DIVIDED,
    "serving.md": SERVED,
    "architecture.md": "from rankwise.model.schemas import ModelSchema, array, value",
}
GUIDES = (
    (ROOT / "docs" / "guides.md").read_text(encoding="utf-8").split(":hidden:")[1].split(":::")[0].split()
)


def blocks(page):
    """The language and text of each block of a page."""
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def python_of(page):
    return [text for language, text in blocks(page) if language == "python"]


def commands_in(text):
    lines = text.replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.startswith("rankwise ")]


def commands_of(page):
    return [command for language, text in blocks(page) if language == "" for command in commands_in(text)]


def called(commands):
    """Code that runs commands one after the other."""
    calls = [f"assert main({command[1:]!r}) == 0, {shlex.join(command)!r}" for command in commands]
    return "\n".join(["from rankwise.cli import main", *calls])


def need(page):
    for package in CLIENTS.get(page.name, ()):
        pytest.importorskip(package, reason=f"{package} is not installed (make clients)")


@pytest.mark.parametrize(
    "page", [page for page in PAGES if python_of(page) or commands_of(page)], ids=lambda page: page.name
)
def test_a_page_runs_from_top_to_bottom(page, tmp_path):
    need(page)
    for text in python_of(page):
        if named := re.match(r"# (\w+\.py)\n", text):
            (tmp_path / named[1]).write_text(text, encoding="utf-8")
    script = [GIVEN.get(page.name, ""), *python_of(page), called(commands_of(page))]
    run = run_warm("\n".join(script), cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert page.name in CLIENTS or run.stderr == ""  # some of these packages report there what they do


@pytest.mark.parametrize("page", ["tutorial", *GUIDES])
def test_the_first_block_of_a_guide_runs_alone(page, tmp_path):
    need(ROOT / "docs" / f"{page}.md")
    shown = [
        text if language == "python" else called(commands_in(text))
        for language, text in blocks(ROOT / "docs" / f"{page}.md")
        if language == "python" or (language == "" and commands_in(text))
    ]
    run = run_warm(shown[0], cwd=tmp_path) if shown else None
    assert run is None or run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.stem not in ("CONTRIBUTING", "architecture")],
    ids=lambda page: page.name,
)
def test_code_fits_a_narrow_column(page):
    shown = [text for language, text in blocks(page) if language not in ("text", "mermaid")]
    assert [line for text in shown for line in text.splitlines() if len(line) > 76] == []


# Times, sizes, ratios of times and qualities, such as "0.3 s", "1.5 times as fast" and "NDCG@10 of 0.45".
MEASURED_NUMBER = re.compile(
    r"\b\d+\.\d+ (s|ms|µs|MB|GB)\b|\b[\d.]+ times (as|faster|slower)|NDCG@10[^.|]{0,60}\b0\.\d\d"
)
NAMED_COMMAND = re.compile(
    r"python -m (benchmarks|house)|make (bench|clients|elsewhere|fuzz|house|kills|mutate|sanitize|wheel)\b"
    r"|tests/"
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sections_with_measurements_name_the_command_that_prints_them(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for section in re.split(r"^(?=#+ )", text, flags=re.MULTILINE):
        assert not MEASURED_NUMBER.search(section) or NAMED_COMMAND.search(section), section


def test_the_readme_fits_a_screen_and_prints_what_it_shows(tmp_path):
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 60
    ((_, code), (_, shown), (_, commands)) = blocks(ROOT / "README.md")
    assert len(code.splitlines()) <= 12
    assert len(commands.splitlines()) == 2
    assert run_warm(code, cwd=tmp_path).stdout == shown
    assert blocks(ROOT / "docs/index.md") == blocks(ROOT / "README.md")[:2]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_target_link_module_and_command_that_is_named_exists(page):
    text = page.read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"\bmake (\w+)", " ".join(re.findall(r"`[^`]*`|^make .*", text, re.MULTILINE))):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (page.parent / link).exists(), link
    for link, anchor in re.findall(r"\]\(([\w-]*\.md)?#([^)]+)\)", text):
        target = (page.parent / link if link else page).read_text(encoding="utf-8")
        headings = re.findall(r"^#+ (.*)", target, flags=re.MULTILINE)
        assert anchor in [re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings], anchor
    for name in re.findall(r"python -m benchmarks (\w+)", text):
        assert (ROOT / "benchmarks" / f"bench_{name}.py").exists(), name
    for path in re.findall(r"`((?:src|native|tests|benchmarks|examples|docs)/[\w/.-]+)`", text):
        assert (ROOT / path).exists(), path


def test_every_paper_that_is_called_by_a_letter_is_listed():
    listed = re.findall(
        r"^\| ([A-Z]) \| .*20\d\d \|",
        (ROOT / "docs/papers.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    texts = [
        *PAGES,
        *ROOT.glob("src/**/*.py"),
        *ROOT.glob("native/**/*.?pp"),
        *ROOT.glob("benchmarks/**/*.py"),
    ]
    pattern = re.compile(r"[Pp]apers? ([A-Z])\b(?: and ([A-Z])\b)?")
    found = (letters for path in texts for letters in pattern.findall(path.read_text(encoding="utf-8")))
    called = {letter for letters in found for letter in letters if letter}
    assert called
    assert called <= set(listed)
