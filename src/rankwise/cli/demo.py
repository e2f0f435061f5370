"""``rankwise demo``: a complete experiment on the built-in data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli import options
from rankwise.cli.compare import show_comparison
from rankwise.cli.outputs import check_folder
from rankwise.cli.paths import Output
from rankwise.cli.report import write_page
from rankwise.cli.screen import show_json, show_text
from rankwise.files import created_folder
from rankwise.long_tasks import task

if TYPE_CHECKING:
    from rankwise.metrics import Evaluation
    from rankwise.rows.ranking import RankingData

FILES = ("train.csv", "test.csv", "model.safetensors", "report.html")
MEASURES = ("ndcg@10", "map", "p@1", "pairwise_error")


@dataclass(frozen=True)
class DemoRankers:
    """The rankers of the demo, and the queries that they were trained and are compared on."""

    training: RankingData
    test: RankingData
    model: Any
    rankers: dict[str, Any]
    results: Evaluation | None


def run(
    out: Annotated[
        Path,
        typer.Option(help="Folder for the data, the model and the report."),
        Output(check_folder, lambda folder: [folder / name for name in FILES]),
    ] = Path("demo"),
    random_state: Annotated[int, typer.Option(min=0, help="Seed for splitting the queries.")] = 0,
    json: options.Json = False,
) -> None:
    """Train on the built-in data, compare with simpler rankers, and write a report.

    The data is a small film search. RankRLS learns from half of the queries. On the other half, it is
    compared with the match of words, by which the search engine sorts, and with the ratings of the films.
    """
    with created_folder(out):
        with task("Training"):
            experiment = run_experiment(random_state)
        # Without a date, the same seed gives the same file.
        experiment.model.save(out / "model.safetensors", results=experiment.results, date=False)
        for name, part in (("train.csv", experiment.training), ("test.csv", experiment.test)):
            write_rows(out / name, part)
        facts = write_page(
            out / "report.html",
            experiment.rankers,
            experiment.test,
            MEASURES,
            title="rankwise demo: film search",
            training=experiment.training,
            note=f"Trained on {experiment.training.n_queries} other queries",
            files=[out / name for name in FILES[:3]],
        )
    if json:
        shown = {name: facts[name] for name in ("answer", "means", "margins", "tests")}
        show_json({"out": str(out), "alpha": experiment.model.alpha_, **shown})
        return
    show_comparison(facts)
    show_text([f"Written to {out}: {', '.join(FILES)}"])


def write_rows(path: Path, data: RankingData) -> None:
    """Write judged rows as a table, with the names of columns that other commands expect."""
    from rankwise.readers.delimited import write_delimited

    assert data.qid is not None
    assert data.docs is not None
    header = ["qid", "title", "label", *(data.feature_names or ())]
    columns = (data.qid.tolist(), data.docs.tolist(), data.y.astype(int).tolist(), *data.X.T.tolist())
    write_delimited(path, header, zip(*columns, strict=True))


def run_experiment(random_state: int) -> DemoRankers:
    """Train on half of the queries."""
    import rankwise

    training, test = rankwise.load_movies().split(0.5, random_state=random_state)
    model = rankwise.RankRLSCV(measure="ndcg@10").fit(training)
    columns = dict(zip(test.feature_names or (), test.X.T, strict=True))
    words = columns["title_match"] + columns["plot_match"]
    rankers = {"words": words, "rating": columns["rating"], "RankRLS": model}
    results = rankwise.metrics.evaluate(test.y, model.predict(test), test.queries, MEASURES)
    return DemoRankers(training, test, model, rankers, results)
