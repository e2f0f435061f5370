"""The documentation site: its contents, its reference and its links are complete."""

import importlib.util
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

from rankwise import _SUBMODULES as SUBMODULES

DOCS = Path(__file__).parent.parent / "docs"
SECTIONS = ("index.md", "guides.md", "reference.md", "background.md")


def contents_of(section):
    """The pages that the contents of a section name, in order."""
    (block,) = re.findall(
        r"^:::\{toctree\}\n(?::\w+:.*\n)*\n(.*?)^:::$", read(section), re.MULTILINE | re.DOTALL
    )
    return block.split()


def read(name):
    return (DOCS / name).read_text(encoding="utf-8")


def test_every_page_is_in_the_contents_once():
    pages = {path.stem for kind in ("*.md", "*.rst") for path in DOCS.glob(kind)}
    named = [page for section in SECTIONS for page in contents_of(section)]
    assert sorted([*named, "index"]) == sorted({*pages, "gallery/index"})


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_introduces_its_pages_in_the_order_of_its_contents(section):
    links = re.findall(r"^\|.*\[.*\]\((.*)\.\w+\)", read(section), re.MULTILINE)
    introduced = [link.replace("../examples/gallery/README", "gallery/index") for link in links]
    assert introduced == contents_of(section)


@pytest.mark.parametrize("module", ["rankwise", *(f"rankwise.{name}" for name in SUBMODULES)])
def test_the_reference_lists_every_public_name_once(module):
    if module == "rankwise.dask":
        pytest.importorskip("distributed")
    names = [name for name in import_module(module).__all__ if name not in ("__version__", *SUBMODULES)]
    prefix = f"{module}.".removeprefix("rankwise.")
    listed = re.findall(
        rf"^(?:   |\.\. py:data:: rankwise\.){prefix}(\w+)$", read("python.rst"), re.MULTILINE
    )
    assert sorted(listed) == sorted(names)


def site_module(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / "site" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("words", ["hyperparameter", "LambdaMART", "missing values", "learning to rank"])
def test_a_search_for_common_words_finds_a_page(words):
    assert any(words.lower() in path.read_text(encoding="utf-8").lower() for path in DOCS.glob("*.md"))


@pytest.mark.parametrize("module", ["rankwise", "rankwise.clicks", "rankwise.metrics", "rankwise.raters"])
def test_the_reference_of_every_class_leads_back_to_a_guide(module):
    guides_of = site_module("links").guides_of
    public = import_module(module)
    things = {name: getattr(public, name) for name in public.__all__ if name not in SUBMODULES}
    classes = [
        name for name, thing in things.items() if inspect.isclass(thing) and not issubclass(thing, Exception)
    ]
    assert classes
    assert [name for name in classes if not guides_of(f"{module}.{name}")] == []


@pytest.mark.parametrize(
    "code, name",
    [
        ("RankRLS", "RankRLS"),
        ("rankwise.RankRLS(alpha=1.0)", "RankRLS"),
        ("metrics.evaluate", "metrics.evaluate"),
        ("rankwise train rows.csv model", "rankwise train"),
        ("make_report(titles=...)", "make_report"),
        ("compare", ""),  # the command or the function
        ("--report", ""),
    ],
)
def test_code_in_a_guide_leads_to_what_it_names(code, name):
    assert site_module("links").named_by(code) == name


@pytest.fixture
def problems():
    return site_module("check").problems


def write(site, **pages):
    for name, text in pages.items():
        (site / f"{name}.html").write_text(text, encoding="utf-8")


def test_a_site_whose_links_work_has_no_problems(tmp_path, problems):
    write(tmp_path, a='<h1 id="top">A</h1><a href="b.html#x%C3%A9">b</a><a href="#top">top</a>')
    write(
        tmp_path,
        b='<a id="xé" href="https://example.org/elsewhere">readers may leave</a><a href="a.html">a</a>',
    )
    assert problems(tmp_path) == []


@pytest.mark.parametrize(
    "tag, problem",
    [
        ('<a href="c.html">', "a.html links to c.html, which does not exist."),
        ('<img src="c.png">', "a.html links to c.png, which does not exist."),
        ('<a href="a.html#there">', "a.html links to a.html#there, which has no such anchor."),
        ('<a href="#there">', "a.html links to #there, which has no such anchor."),
        ('<script src="https://cdn.org/x.js">', "a.html loads https://cdn.org/x.js."),
        ('<link href="//cdn.org/x.css">', "a.html loads //cdn.org/x.css."),
    ],
)
def test_a_broken_link_or_a_foreign_file_is_one_sentence(tmp_path, problems, tag, problem):
    write(tmp_path, a=f'<h1 id="here">A</h1>{tag}')
    assert problems(tmp_path) == [problem]


@pytest.mark.parametrize("rule", ["@import 'https://cdn.org/x.css'", "a { b: url(//cdn.org/x.css) }"])
def test_style_sheets_load_nothing_from_elsewhere(tmp_path, problems, rule):
    (tmp_path / "own.css").write_text(f"a {{ b: url(x.woff) }} {rule}", encoding="utf-8")
    (found,) = problems(tmp_path)
    assert re.fullmatch(r"own\.css loads (https:)?//cdn\.org/x\.css\.", found)
