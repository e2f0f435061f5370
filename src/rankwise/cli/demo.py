"""``rankwise demo``: a complete experiment on the built-in data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli import options
from rankwise.cli.screen import progress, show_json, show_table

if TYPE_CHECKING:
    from rankwise.data.ranking import RankingData
    from rankwise.metrics import Comparison, Evaluation
    from rankwise.types import Floats

MEASURES = ("ndcg@10", "map", "p@1", "err", "pairwise_error")
CRITERION = "pairwise_error"
ALPHAS = tuple(4.0**power for power in range(-4, 6))


@dataclass(frozen=True)
class Experiment:
    """The result of the demo: the trained model, and all rankers evaluated on unseen queries."""

    parts: dict[str, RankingData]
    model: Any
    settings: dict[str, str]
    evaluations: dict[str, Evaluation]
    comparison: Comparison


def run(
    out: Annotated[Path, typer.Option(help="Folder for the model, per-query table and report.")] = Path(
        "demo"
    ),
    random_state: Annotated[int, typer.Option(min=0, help="Seed of the simulated search engine.")] = 0,
    threads: options.Threads = None,
    json: options.Json = False,
) -> None:
    """Train on the built-in data, compare with simpler rankers, and write a report.

    The data comes from a simulated shop search; RankRLS is compared with the best single feature and plain
    regression on unseen queries.
    """
    from rankwise.cli.demo_report import (
        left_out_note,
        rows_against_others,
        write_per_query,
        write_report,
    )

    out.mkdir(parents=True, exist_ok=True)
    with progress("Training three rankers"):
        experiment = run_experiment(random_state)
    experiment.model.save(out / "model.safetensors")
    write_per_query(out / "per_query.csv", experiment)
    write_report(out / "report.html", experiment)
    comparison = experiment.comparison
    if json:
        show_json({"out": str(out), "settings": experiment.settings, **comparison.to_dict()})
        return
    test = experiment.parts["test"]
    show_table(
        f"Quality on {test.n_queries} test queries",
        ["ranker", *MEASURES],
        [(name, *means.values()) for name, means in comparison.means.items()],
    )
    show_table(
        "RankRLS against the others, query by query",
        ["measure", "against", "better", "worse", "equal", "p Wilcoxon", "p randomization"],
        rows_against_others(comparison),
        f"{left_out_note(experiment)}\nWritten to {out}: model.safetensors, per_query.csv, report.html",
    )


def run_experiment(random_state: int) -> Experiment:
    """Train on some queries, choose alpha on others, and compare on the rest."""
    from sklearn.linear_model import Ridge

    import rankwise
    from rankwise.metrics import compare, evaluate

    learning, test = rankwise.make_search_data(600, random_state=random_state).split(
        0.7, random_state=random_state
    )
    training, validation = learning.split(0.7, random_state=random_state)
    feature, score_by_feature = best_feature(training)
    ranker, alpha = best_model(lambda alpha: rankwise.RankRLS(alpha).fit(training), validation)
    ridge, ridge_alpha = best_model(lambda alpha: Ridge(alpha).fit(training.X, training.y), validation)
    scores = {
        "RankRLS": ranker.predict(test.X),
        "regression (Ridge)": ridge.predict(test.X),
        f"best feature ({feature})": score_by_feature(test),
    }
    return Experiment(
        parts={"training": training, "validation": validation, "test": test},
        model=ranker,
        settings={"RankRLS": f"alpha={alpha:g}", "regression (Ridge)": f"alpha={ridge_alpha:g}"},
        evaluations={
            name: evaluate(test.y, values, test.queries, MEASURES) for name, values in scores.items()
        },
        comparison=compare(test.y, scores, test.queries, MEASURES),
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
