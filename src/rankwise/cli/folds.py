"""``rankwise folds``: train, choose and test learners on the folds of a benchmark, and compare them."""

from __future__ import annotations

import warnings
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwise.cli import completion, options
from rankwise.cli.data_files import ReadOptions, files_to_read, read_data, warn_of_one_ranking
from rankwise.cli.folds_report import FILES, show_folds, write_folds, write_folds_page
from rankwise.cli.interrupts import stop_if_interrupted
from rankwise.cli.learners import SELECTORS, LearnerSpec, parse_learner
from rankwise.cli.outputs import check_folder
from rankwise.cli.paths import Input, Output
from rankwise.cli.peer_learners import PEERS, BoostedTrees, OneFeature
from rankwise.cli.screen import show_json
from rankwise.errors import GridWarning, ParameterError, warn_caller
from rankwise.files import created_folder
from rankwise.long_tasks import task
from rankwise.readers.letor_folds import FoldFiles, find_folds

if TYPE_CHECKING:
    from rankwise.metrics import Comparison, Measure
    from rankwise.rows.ranking import RankingData
    from rankwise.types import Floats

# For grades; other labels have the measures of 'evaluate'.
MEASURES = "map,ndcg@1,ndcg@5,ndcg@10,mean_ndcg"
PRESET = "letor"


def _files_of_folds(folder: Path) -> list[Path]:
    parts = ((fold.training, fold.validation, fold.test) for fold in find_folds(folder))
    return [file for path in chain.from_iterable(parts) for file in files_to_read(path)]


def run(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="A folder with Fold1, Fold2, ..., each with files for training, validation and test.",
            show_default=False,
        ),
        Input(_files_of_folds),
    ],
    *,
    learners: Annotated[
        str,
        typer.Option(
            **completion.some_or_other(*SELECTORS, *PEERS),
            metavar="A,B,...",
            help=f"Any of {', '.join((*SELECTORS, *PEERS))}, with parameters in parentheses as in "
            "'rankrls(ties=drop)', and features such as feature:11.",
        ),
    ] = "rankrls,ranksvm",
    measure: Annotated[
        str | None,
        typer.Option(
            help="The criterion on validation data; the first of --measures by default.",
            **completion.measure(),
        ),
    ] = None,
    measures: Annotated[
        str | None,
        typer.Option(
            **completion.measures(), help=f"Measures on test data; {MEASURES} by default for grades."
        ),
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            **completion.one_of(*options.PRESETS, "default", listed=False),
            metavar="TOOL",
            help=f"Follow the conventions of a tool: {', '.join(options.PRESETS)}; or default.",
        ),
    ] = PRESET,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help=f"Also write {', '.join(FILES)} here.",
            show_default=False,
        ),
        Output(check_folder, lambda folder: [folder / name for name in FILES]),
    ] = None,
    rows: options.FeatureOptions,
    report: options.Report = None,
    json: options.Json = False,
) -> None:
    """Compare learners on folds: train, choose parameters on validation data, test, and average.

    Differences are tested over the queries of all test parts, with Holm's correction for all tests.
    """
    from rankwise.cli.reading import split_list
    from rankwise.metrics import get_measure

    folds = find_folds(folder)
    specified = [parse_learner(text) for text in split_list(learners) or []]
    if not specified or len({spec.name for spec in specified}) < len(specified):
        raise ParameterError(f"--learners must name one or more different learners; got {learners!r}.")
    for name in [measure or "map", *(split_list(measures) or [])]:
        get_measure(name, preset=preset)  # a mistake is an error before any data is read
    how = rows.how()
    experiment = Experiment(specified, measure, measures, preset)
    with nullcontext() if out is None else created_folder(out):
        for fold in folds:
            with task(fold.name):
                experiment.run(fold, how, rows.columns())
        warn_of_queries_tested_twice(experiment.tests)
        if out is not None:
            write_folds(experiment, out)
    if report is not None:
        write_folds_page(experiment, report, folder)
    if json:
        show_json(experiment.to_dict())
        return
    show_folds(experiment, out)


@dataclass
class Experiment:
    """Learners trained on each fold, and what their models are worth on its test part.

    Attributes
    ----------
    values : dict
        The means over the test queries by fold, learner and measure.
    chosen : dict
        The chosen alpha and other settings by fold and learner.
    """

    learners: list[LearnerSpec | BoostedTrees | OneFeature]
    criterion: str | None
    asked: str | None
    preset: str
    measures: list[Measure] = field(default_factory=list)
    values: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    chosen: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    tests: dict[str, RankingData] = field(default_factory=dict)
    scores: dict[str, dict[str, Floats]] = field(default_factory=dict)

    def run(self, fold: FoldFiles, how: ReadOptions, features: list[str] | None) -> None:
        """Train and test all learners on a fold."""
        from rankwise.cli.fitting import fit
        from rankwise.cli.reading import predict_scores, read_matching
        from rankwise.metrics import evaluate

        training = read_data(fold.training, how, features=features)
        validation, test = (read_matching(path, how, training) for path in (fold.validation, fold.test))
        warn_of_one_ranking(fold.training, training, how)
        warn_of_shared_queries(fold, {"training": training, "validation": validation, "test": test})
        self.measures = self.measures or self._measures(training)
        criterion = self.criterion or self.measures[0].name
        self.values[fold.name], self.chosen[fold.name], self.scores[fold.name] = {}, {}, {}
        for learner in self.learners:
            if isinstance(learner, LearnerSpec):
                ranker = learner.make(f"{self.preset}:{criterion}")
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", GridWarning)  # the table of choices says so
                    fit(ranker, training, validation)
                stop_if_interrupted()
                scores, choice = predict_scores(ranker.model_, test), _choice(ranker)
            else:
                scores, choice = learner.run(training, validation, test)
            found = evaluate(test.y, scores, test.queries, self.measures, docs=test.docs)
            self.values[fold.name][learner.name] = found.means
            self.chosen[fold.name][learner.name] = choice
            self.scores[fold.name][learner.name] = scores
        self.tests[fold.name] = test.without_features()

    def _measures(self, training: RankingData) -> list[Measure]:
        from rankwise.cli.reading import are_grades, choose_measures

        default = MEASURES if are_grades(training) else None
        return choose_measures(self.asked or default, training, self.preset)

    def means(self) -> dict[str, dict[str, float]]:
        """The means over the folds, by learner and measure; NaN where a fold has no value."""
        names = [measure.name for measure in self.measures]
        by_fold = list(self.values.values())
        return {
            learner.name: {n: sum(v[learner.name][n] for v in by_fold) / len(by_fold) for n in names}
            for learner in self.learners
        }

    @cached_property
    def comparison(self) -> Comparison | None:
        """Paired tests over the test queries of all folds; None for a single learner."""
        from rankwise.metrics import compare

        if len(self.learners) < 2:
            return None
        rows, scores = self.tested
        return compare(rows.y, scores, rows.queries, self.measures, docs=rows.docs)

    @cached_property
    def tested(self) -> tuple[RankingData, dict[str, Floats]]:
        """The test rows of all folds, whose queries are named after their fold, and all scores."""
        import numpy as np

        from rankwise.preferences.queries import group_rows
        from rankwise.rows.ranking import RankingData

        y = np.concatenate([test.y for test in self.tests.values()])
        qid = [
            f"{fold} {query}"
            for fold, test in self.tests.items()
            for query in (test.queries.query_of_row() if test.qid is None else test.qid).tolist()
        ]
        docs = [test.docs for test in self.tests.values() if test.docs is not None]
        known = np.concatenate(docs) if len(docs) == len(self.tests) else None
        scores = {
            learner.name: np.concatenate([scores[learner.name] for scores in self.scores.values()])
            for learner in self.learners
        }
        rows = RankingData(np.empty((len(y), 0)), y, group_rows(qid, len(y)), np.array(qid), known)
        return rows, scores

    def n_test_queries(self) -> int:
        return sum(test.queries.n_queries for test in self.tests.values())

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain numbers and names."""
        return {
            "learners": [learner.name for learner in self.learners],
            "preset": self.preset,
            "criterion": self.criterion or self.measures[0].name,
            "test_queries": self.n_test_queries(),
            "means": self.means(),
            "folds": self.values,
            "chosen": self.chosen,
            "tests": [] if self.comparison is None else self.comparison.to_dict()["tests"],
        }


def _choice(ranker: Any) -> dict[str, Any]:
    """The chosen alpha, its validation score, and the settings that were chosen from several."""
    first, *others = ranker.settings_
    fixed = {name for name, value in first.items() if all(other[name] == value for other in others)}
    ends = ranker.alphas_[[0, -1]].tolist() if len(ranker.alphas_) > 1 else []
    chosen = {name: value for name, value in ranker.best_.items() if name not in fixed}
    return chosen | {"at_the_end_of_the_grid": ranker.alpha_ in ends}


def warn_of_queries_tested_twice(tests: dict[str, RankingData]) -> None:
    """Warn if the tests of significance would take one query for several."""
    labels = [test.queries.labels.tolist() for test in tests.values() if test.queries.labels is not None]
    counts = Counter(chain.from_iterable(labels))
    twice = [label for label, count in counts.items() if count > 1]
    if twice:
        warn_caller(
            f"{len(twice)} query labels are in the test data of more than one fold, such as {twice[0]!r}; if "
            "they are the same queries, differences are less significant than the p-values say."
        )


def warn_of_shared_queries(fold: FoldFiles, parts: dict[str, RankingData]) -> None:
    """Warn if test queries were also learned from."""
    labels = {
        name: set() if part.queries.labels is None else set(part.queries.labels.tolist())
        for name, part in parts.items()
    }
    for name in ("training", "validation"):
        shared = labels[name] & labels["test"]
        if shared:
            warn_caller(
                f"{fold.name}: {len(shared)} of {len(labels['test'])} test queries have the label of a query "
                f"of the {name} data, such as {min(shared, key=str)!r}; if they are the same, the test is "
                "too optimistic."
            )
