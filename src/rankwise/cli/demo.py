"""``rankwise demo``: a complete experiment on the built-in data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli import options
from rankwise.cli.compare import show_comparison
from rankwise.cli.outputs import check_folder
from rankwise.cli.paths import Output
from rankwise.cli.report import write_page
from rankwise.cli.screen import progress, show_json, show_text
from rankwise.files import created_folder

if TYPE_CHECKING:
    from rankwise.rows.ranking import RankingData
    from rankwise.types import Floats

FILES = ("model.safetensors", "per_query.csv", "report.html")
MEASURES = ("ndcg@10", "map", "p@1", "err", "pairwise_error")
CRITERION = "pairwise_error"
ALPHAS = tuple(4.0**power for power in range(-4, 6))


@dataclass(frozen=True)
class DemoRankers:
    """The rankers of the demo, and the parts of the data that they were trained, chosen and tested on."""

    parts: dict[str, RankingData]
    model: Any
    settings: dict[str, str]
    rankers: dict[str, Any]


def run(
    out: Annotated[
        Path,
        typer.Option(help="Folder for the model, per-query table and report."),
        Output(check_folder, lambda folder: [folder / name for name in FILES]),
    ] = Path("demo"),
    random_state: Annotated[int, typer.Option(min=0, help="Seed of the simulated search engine.")] = 0,
    json: options.Json = False,
) -> None:
    """Train on the built-in data, compare with simpler rankers, and write a report.

    The data comes from a simulated shop search; RankRLS is compared with the best single feature and plain
    regression on unseen queries.
    """
    with created_folder(out):
        with progress("Training three rankers"):
            experiment = run_experiment(random_state)
        experiment.model.save(out / "model.safetensors")
        parts = experiment.parts
        facts = write_page(
            out / "report.html",
            experiment.rankers,
            parts["test"],
            MEASURES,
            title="rankwise demo: a simulated shop search",
            training=parts["training"],
            note=", ".join(f"{part.n_queries} {name} queries" for name, part in parts.items()),
            files=[out / "model.safetensors"],
        )
        write_per_query(out / "per_query.csv", facts)
    if json:
        shown = {name: facts[name] for name in ("answer", "means", "margins", "tests")}
        show_json({"out": str(out), "settings": experiment.settings, **shown})
        return
    show_comparison(facts)
    show_text([f"Written to {out}: {', '.join(FILES)}"])


def write_per_query(path: Path, facts: dict[str, Any]) -> None:
    """Write one line per test query and ranker; a cell is empty where a measure excludes the query."""
    from rankwise.readers.delimited import write_delimited

    queries, measures = facts["queries"], [measure["name"] for measure in facts["measures"]]
    rows = (
        [ranker, *line]
        for ranker in facts["means"]
        for line in zip(
            queries["label"],
            queries["rows"],
            *(queries["values"][measure][ranker] for measure in measures),
            strict=True,
        )
    )
    write_delimited(path, ["ranker", "qid", "n_rows", *measures], rows)


def run_experiment(random_state: int) -> DemoRankers:
    """Train on some queries, and choose alpha on others."""
    from sklearn.linear_model import Ridge

    import rankwise

    learning, test = rankwise.make_search_data(600, random_state=random_state).split(
        0.7, random_state=random_state
    )
    training, validation = learning.split(0.7, random_state=random_state)
    feature, score_by_feature = best_feature(training)
    ranker, alpha = best_model(lambda alpha: rankwise.RankRLS(alpha).fit(training), validation)
    ridge, ridge_alpha = best_model(lambda alpha: Ridge(alpha).fit(training.X, training.y), validation)
    return DemoRankers(
        parts={"training": training, "validation": validation, "test": test},
        model=ranker,
        settings={"RankRLS": f"alpha={alpha:g}", "regression (Ridge)": f"alpha={ridge_alpha:g}"},
        rankers={
            "regression (Ridge)": ridge,
            f"best feature ({feature})": score_by_feature(test),
            "RankRLS": ranker,
        },
    )


def best_feature(training: RankingData) -> tuple[str, Callable[[RankingData], Floats]]:
    """The feature that, ascending or descending, best orders the training queries: the unlearned baseline."""
    from rankwise.metrics import get_measure

    error = get_measure(CRITERION).prepare(training.y, training.queries)
    names = training.feature_names or ()
    candidates = [
        (error(sign * column(training, j)), j, sign) for j in range(len(names)) for sign in (1.0, -1.0)
    ]
    _, best, sign = min(candidates)
    return names[best] if sign > 0 else f"−{names[best]}", lambda data: sign * column(data, best)


def column(data: RankingData, number: int) -> Floats:
    """The values of one feature."""
    import numpy as np

    return np.asarray(data.X[:, number], dtype=np.float64)


def best_model(fitted: Callable[[float], Any], validation: RankingData) -> tuple[Any, float]:
    """The fitted model that best orders the validation queries, and its alpha; the largest if tied."""
    from rankwise.metrics import get_measure

    error = get_measure(CRITERION).prepare(validation.y, validation.queries)
    models = {alpha: fitted(alpha) for alpha in ALPHAS}
    best = min(ALPHAS, key=lambda alpha: (error(models[alpha].predict(validation.X)), -alpha))
    return models[best], best
