"""Reports on rankers in Python, and the page that shows their facts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from rankwise.files import replacing_file
from rankwise.metrics.evaluation import listed_measures
from rankwise.metrics.named_measures import MeasureLike
from rankwise.rendering import printable
from rankwise.report.facts import report_facts
from rankwise.rows.ranking import RankingData
from rankwise.rows.table import table_of
from rankwise.validation import check_count, check_kind

DEFAULT_MEASURES = ("ndcg@10", "map", "pairwise_error")


_HERE = Path(__file__).parent
# In this order, as one script: what is used comes before its users.
_SCRIPTS = (
    "elements",
    "facts",
    "charts",
    "curves",
    "lists",
    "queries",
    "segments",
    "learned",
    "data",
    "page",
)
# Nothing may be loaded from anywhere, whatever the facts contain.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


@dataclass(frozen=True, repr=False, eq=False)
class Report:
    """The result of `make_report`; shown as a page in notebooks.

    Attributes
    ----------
    facts : dict
        Everything that the page shows, ready for JSON; docs/reports.md describes it.

    See Also
    --------
    rankwise.make_report : Make a report.
    rankwise.metrics.compare : The comparison alone.

    Examples
    --------
    >>> import rankwise
    >>> train, test = rankwise.load_movies().split(0.5, random_state=0)
    >>> model = rankwise.RankRLSCV().fit(train)
    >>> report = rankwise.make_report({"model": model, "rating": test.X[:, 3]}, test)
    >>> report
    Report(model, rating on 47 queries)
    >>> report.facts["models"][0]["name"]
    'model'
    >>> report.save("report.html")
    """

    facts: dict[str, Any]

    @property
    def html(self) -> str:
        """The page as self-contained HTML."""
        return page(self.facts)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file."""
        with replacing_file(Path(path)) as beside:
            beside.write_text(self.html, encoding="utf-8")

    def __repr__(self) -> str:
        models = ", ".join(model["name"] for model in self.facts["models"])
        return f"Report({models} on {len(self.facts['queries']['label'])} queries)"

    def __str__(self) -> str:
        return "\n".join(self.facts["answer"])

    def _repr_html_(self) -> str:
        style = "width:100%;height:46rem;border:1px solid #8886"
        return f'<iframe srcdoc="{escape(self.html)}" style="{style}" title="report"></iframe>'


def make_report(
    rankers: Any,
    data: RankingData,
    *,
    training: RankingData | None = None,
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT_MEASURES,
    preset: str | None = None,
    baseline: str | None = None,
    by: Any = None,
    title: str = "Ranking report",
    titles: Mapping[Any, str] | None = None,
    random_state: int = 0,
) -> Report:
    """Report on rankers: which one is best, how certain that is, which queries changed, and why.

    Parameters
    ----------
    rankers : dict of name to ranker, a list of rankers, or one
        Fitted rankers of rankwise, LightGBM or XGBoost, or anything with `predict`; arrays of scores, one per
        row; or runs as from `rankwise.trec.load_run`.
    data : RankingData
        Judged rows that the rankers were not trained on.
    training : RankingData, optional
        The rows that linear RankRLS models were trained on, for the intervals of their weights and for
        learning curves.
    measures, preset
        As in `rankwise.metrics.evaluate`; the first measure decides the order of queries.
    baseline : str, optional
        The name of the ranker that others are compared with; the first by default.
    by : frame, optional
        Columns by which the report shows quality in segments of queries, such as devices or categories: one
        row per row of `data`, and the same value in all rows of a query.
    title : str
        The title of the page.
    titles : dict of label to str, optional
        Texts to show instead of query and document labels, such as titles.
    random_state : int
        The seed of randomization tests and of learning curves.

    Returns
    -------
    Report

    Examples
    --------
    >>> import rankwise
    >>> train, test = rankwise.make_search_data(60, random_state=0).split()
    >>> model = rankwise.RankRLS().fit(train)
    >>> rankwise.make_report({"title": test.X[:, 0], "model": model}, test, training=train)
    Report(title, model on 15 queries)
    """
    check_kind("data", data, RankingData)
    check_kind("training", training, RankingData, optional=True)
    check_kind("title", title, str)
    check_kind("titles", titles, dict, optional=True)
    return Report(
        report_facts(
            _named(rankers),
            data,
            listed_measures(measures),
            title=title,
            titles=titles,
            training=training,
            preset=preset,
            baseline=baseline,
            by=None if by is None else table_of(by).columns,
            random_state=check_count("random_state", random_state, minimum=0),
        )
    )


def _named(rankers: Any) -> Mapping[str, Any]:
    """Rankers by name: as given, or by their class, with numbers where that is ambiguous."""
    if isinstance(rankers, Mapping):
        return {str(name): ranker for name, ranker in rankers.items()}
    listed: Sequence[Any] = rankers if isinstance(rankers, list | tuple) else [rankers]
    classes = [type(ranker).__name__ for ranker in listed]
    if len(set(classes)) == len(classes):
        return dict(zip(classes, listed, strict=True))
    return {f"{name} {k}": one for k, (name, one) in enumerate(zip(classes, listed, strict=True), start=1)}


def page(facts: dict[str, Any]) -> str:
    """A complete page that shows the facts."""
    script = "\n".join((_HERE / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS)
    style = (_HERE / "page.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(printable(facts['title']))}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        "<noscript><p>The charts and tables of this page need JavaScript; it loads nothing.</p></noscript>\n"
        f'<script type="application/json" id="facts">{embedded(facts)}</script>\n'
        f'<script>\n"use strict";\n(() => {{\n{script}}})();\n</script>\n</body>\n</html>\n'
    )


def embedded(facts: dict[str, Any]) -> str:
    """JSON that cannot end the script element that it is in."""
    text = json.dumps(facts, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    # Half of a surrogate pair cannot be encoded.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
