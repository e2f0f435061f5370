"""Arguments of wrong types get a sentence from every public function, never an error from inside."""

import inspect
import os
import types

import numpy as np
import pandas
import pytest

import rankwise
from rankwise import metrics
from rankwise.errors import RankwiseError

ODD = {
    "5": 5,
    "-1": -1,
    "1j": 1j,
    "None": None,
    "x": "x",
    "empty": "",
    "[]": [],
    "[None]": [None],
    "{}": {},
    "{0: 1}": {0: 1},
    "object": object(),
    "type": dict,
    "True": True,
    "nan": float("nan"),
    "bytes": b"x",
    "array": np.zeros((2, 2, 2)),
    "nul": "nul\0",
    "surrogate": "\ud800",
}

_rng = np.random.default_rng(0)
X = _rng.normal(size=(12, 2))
Y, QID, PAIRS = np.tile([0.0, 1.0, 2.0], 4), np.repeat(["a", "b", "c"], 4), [[1, 0], [5, 4], [10, 9]]
DOCS = [f"d{row}" for row in range(12)]
FRAME = pandas.DataFrame({"y": Y, "q": QID, "doc": DOCS, "f": X[:, 0], "g": X[:, 1]})
RUN = {"a": {"d0": 1.0, "d1": 0.5}}
QRELS = {"a": {"d0": 0, "d1": 1}}


class Setting:
    """What the calls below need."""

    def __init__(self, folder):
        self.folder = folder
        self.data = rankwise.RankingData.from_arrays(X, Y, QID, docs=DOCS, feature_names=["f", "g"])
        shown = {"row": [0, 1, 1, 0] * 6, "position": [1, 2] * 12, "propensity": [1.0, 0.5] * 12}
        self.shown = shown | {"session": np.arange(24) // 2, "clicked": [1, 0, 0, 1] * 6}
        self.log = rankwise.clicks.ClickLog.from_arrays(**self.shown)
        self.named = FRAME.assign(p=[1, 2, 3, 4] * 3, c=Y > 1)
        self.columns = {"query": "q", "doc": "doc", "position": "p", "clicked": "c", "session": "q"}
        self.model = rankwise.RankRLS().fit(self.data)
        self.moments = rankwise.Moments.of(X, Y, QID)
        rankwise.save_letor(self.data, folder / "rows.txt")
        rankwise.save_store(self.data, folder / "rows.store")
        rankwise.save_judgments(self.data, folder / "judgments.csv")
        rankwise.save_pairs(PAIRS, folder / "pairs.txt")
        rankwise.trec.save_run(RUN, folder / "run.txt")
        rankwise.trec.save_qrels(QRELS, folder / "qrels.txt")
        FRAME.to_csv(folder / "table.csv", index=False)
        self.model.save(folder / "model")
        self.moments.save(folder / "moments")
        hit = '{"qid": "a", "id": "d1", "[features]": "f=1,g=2"}\n'
        self.ratings = folder / "ratings.csv"
        judged = [
            f"{q},{doc},{grade},{who}" for who in "uv" for q, doc, grade in zip(QID, DOCS, Y, strict=True)
        ]
        self.ratings.write_text("\n".join(["qid,doc,label,rater", *judged, ""]), encoding="utf-8")
        (folder / "log.jsonl").write_text(hit + hit.replace("d1", "d0"), encoding="utf-8")


def calls_of_data(s):
    """A valid call of each function of rows and files: what to call, and with which arguments."""
    rows = {"X": X, "y": Y, "qid": QID}
    table = {"label": "y", "qid": "q", "features": ["f"], "doc": None, "exclude": None, "as_table": False}
    letor = {"dtype": "float64", "dense": "auto", "zero_based": "auto", "n_features": 2}
    more = {"merge_queries": False, "progress": None}
    yield rankwise.load_letor, {"path": s.folder / "rows.txt", **letor, **more}
    yield (
        rankwise.convert_letor,
        {"path": s.folder / "rows.txt", "store": s.folder / "new.store", **letor, **more},
    )
    yield (
        rankwise.load_feature_log,
        {
            "path": s.folder / "log.jsonl",
            "judgments": QRELS,
            "qid": "qid",
            "doc": None,
            "unjudged": "leave-out",
        },
    )
    yield rankwise.load_judgments, {"path": s.folder / "judgments.csv", "data": s.data}
    yield rankwise.load_pairs, {"path": s.folder / "pairs.txt", "n_rows": 12, "data": None}
    yield rankwise.trec.load_qrels, {"path": s.folder / "qrels.txt"}
    yield rankwise.trec.load_run, {"path": s.folder / "run.txt"}
    yield rankwise.load_table, {"path": s.folder / "table.csv", **table}
    yield (
        rankwise.make_search_data,
        {"n_queries": 3, "mean_rows": 4.0, "noise": 1.0, "habits": 0.0, "random_state": 0, "clicks": False},
    )
    yield rankwise.open_store, {"path": s.folder / "rows.store", "verify": False}
    yield rankwise.qid_from_group_sizes, {"sizes": [2, 3]}
    yield rankwise.trec.qrels_from_data, {"data": s.data}
    yield rankwise.trec.run_from_scores, {"data": s.data, "scores": X[:, 0]}
    yield rankwise.load_movies, {}
    yield rankwise.save_judgments, {"data": s.data, "path": s.folder / "out"}
    yield rankwise.save_letor, {"data": s.data, "path": s.folder / "out", "zero_based": False}
    yield rankwise.save_pairs, {"pairs": PAIRS, "path": s.folder / "out", "weight": np.ones(3), "data": None}
    yield rankwise.trec.save_qrels, {"qrels": QRELS, "path": s.folder / "out"}
    yield rankwise.trec.save_run, {"run": RUN, "path": s.folder / "out", "tag": "t"}
    yield rankwise.save_store, {"data": s.data, "path": s.folder / "again.store"}
    yield rankwise.scale_per_query, {"X": X, "qid": QID}
    yield rankwise.RankingData.from_arrays, {**rows, "docs": DOCS, "feature_names": ["f", "g"]}
    yield rankwise.RankingData.from_frame, {"df": FRAME, **table}
    yield rankwise.RankingData.concat, {"parts": [s.data], "merge_queries": False}
    yield s.data.select, {"rows": [0, 1], "queries": None}
    yield s.data.select, {"queries": ["a"]}
    yield s.data.split, {"fraction": 0.5, "random_state": 0}


def calls_of_clicks(s):
    """Those of click logs."""
    yield rankwise.clicks.click_likelihood, {"log": s.log, "n_folds": 2, "random_state": 0}
    yield (
        rankwise.clicks.grades_from_clicks,
        {"log": s.log, "data": s.data, "thresholds": (0.5, 1.0), "min_expected": 0.0},
    )
    yield (
        rankwise.clicks.make_click_log,
        {"data": s.data, "scores": X[:, 0], "n_sessions": 5, "n_shown": 3, "exploration": 0.3}
        | {"position_bias": 1.0, "click_noise": 0.1, "random_state": 0},
    )
    yield (
        rankwise.clicks.make_interleaved_log,
        {"data": s.data, "a": X[:, 0], "b": X[:, 1], "n_sessions": 5, "n_shown": 3}
        | {"position_bias": 1.0, "click_noise": 0.1, "random_state": 0},
    )
    yield rankwise.clicks.team_draft, {"a": DOCS[:3], "b": DOCS[3:6], "n": 2, "random_state": 0}
    yield rankwise.clicks.interleaving_test, {"unit": QID, "team": ["a", "b"] * 6, "clicked": Y > 1}
    yield rankwise.clicks.pairs_from_clicks, {"log": s.log, "max_weight": None}
    yield rankwise.clicks.rows_from_clicks, {"log": s.log, "data": s.data, "prior_clicks": 1.0}
    yield rankwise.clicks.ClickLog.from_arrays, s.shown
    yield rankwise.clicks.ClickLog.from_frame, {"df": s.named, **s.columns, "propensity": 1.0}
    yield rankwise.clicks.ClickLog.from_frame(s.named, **s.columns, propensity=1.0).match, {"data": s.data}
    yield s.log.with_propensity, {"propensity": np.ones(24)}


def calls_of_moments(s):
    """Those of moments."""
    rows = {"X": X, "y": Y, "qid": QID}
    yield (
        rankwise.Moments.of,
        {**rows, "sample_weight": np.ones(12), "ties": "keep", "weighting": "example", "query_weight": None}
        | {"open_queries": ()},
    )
    yield (
        rankwise.Moments.of_text,
        {"path": s.folder / "rows.txt", "ties": "keep", "weighting": "example", "n_features": None}
        | {"zero_based": "auto"},
    )
    yield rankwise.Moments.load, {"path": s.folder / "moments"}
    yield s.moments.save, {"path": s.folder / "out"}
    yield s.moments.close, {"leave_open": ()}
    yield s.moments.loss, {"coef": np.zeros(2)}
    yield rankwise.QuerySizes.of, {"y": Y, "qid": QID, "sample_weight": None}
    yield rankwise.RankRLS.from_moments, {"moments": s.moments, "alpha": 1.0, "monotonic_cst": None}


def calls_of_models(s):
    """Those that make, measure and export models."""
    rows = {"X": X, "y": Y, "qid": QID}
    yield rankwise.audit, {**rows, "ranker": rankwise.RankRLSCV([1.0]), "n_suspects": 2, "reveals": 0.9}
    entrants = {"rls": rankwise.RankRLS(), "first": rankwise.RankRLS(10.0)}
    compared = {"measures": ["map"], "cv": 2, "baseline": "rls", "preset": None}
    yield rankwise.compare_learners, {"data": s.data, "learners": entrants, **compared}
    many = rankwise.RankingData.from_arrays(
        np.tile(X, (32, 1)), np.tile(Y, 32), np.repeat(np.arange(32), len(Y))
    )
    drawn = {"learner": rankwise.RankRLS(), "measure": "map", "n_draws": 10, "random_state": 0}
    yield rankwise.learning_curve, {"data": many, **drawn}
    people = np.ma.masked_array(many.y, np.arange(many.n_rows) >= 6 * len(Y))
    yield rankwise.fit_sampled, {"ranker": rankwise.RankRLSCV([1.0]), "data": many, "people": people}
    dated = {"time": ["2026-03-02"] * len(Y), "measure": "map"}
    yield rankwise.drift, {"model": rankwise.RankRLS().fit(X, Y, QID), **rows, **dated}
    yield rankwise.config_context, {"n_threads": 1, "one_ranking": True, "on_interrupt": "raise"}
    yield (
        rankwise.export_model,
        {"model": s.model, "path": s.folder / "out", "to": "sql", "name": "n", "feature_names": ["f", "g"]}
        | {"dtype": "float64", "clauses": None, "X": X, "qid": QID, "nonnegative": False},
    )
    yield (
        rankwise.export_model,
        {"model": s.model, "path": s.folder / "out.onnx", "dtype": "float32", "X": X, "qid": QID},
    )
    yield rankwise.load_model, {"path": s.folder / "model"}
    yield (
        rankwise.make_report,
        {"rankers": {"m": s.model, "o": X[:, 1]}, "data": s.data, "training": s.data, "measures": ["map"]}
        | {"preset": None, "baseline": "m", "title": "t", "titles": {"a": "b"}, "random_state": 0},
    )
    yield rankwise.rank_scorer, {"measure": "ndcg@5", "preset": None}
    yield rankwise.raters.load_ratings, {"path": s.ratings, "rater": "rater", "scale": (0.0, 4.0)}
    yield (
        rankwise.raters.study_raters,
        {"ratings": rankwise.raters.load_ratings(s.ratings), "random_state": 0},
    )
    yield rankwise.set_config, {"n_threads": None, "one_ranking": False, "on_interrupt": "raise"}
    yield rankwise.ColumnEncoder().fit, {"X": FRAME}
    yield rankwise.ColumnEncoder().fit(FRAME).transform, {"X": FRAME}
    yield rankwise.QueryMinMaxScaler().fit_transform, {"X": X, "y": None, "qid": QID}


def calls_of_measures(s):
    labelled = {"y": Y, "scores": X[:, 0], "qid": QID}
    common = {**labelled, "preset": None, "ties": None, "empty": None}
    yield metrics.auc, {**labelled, "relevant": 1.0, "sample_weight": None}
    yield metrics.average_precision, {**common, "k": 3, "relevant": 1.0}
    yield metrics.best_threshold, {"y": Y > 1, "scores": X[:, 0]}
    yield metrics.find_good_results, {**labelled, "precision": 0.1, "relevant": 1.0}
    scores = {"a": X[:, 0], "b": X[:, 1]}
    compared = {"measures": ["map"], "preset": None, "baseline": "a", "n_permutations": 10, "random_state": 0}
    people = np.ma.masked_array(np.tile(Y, 2), np.repeat([0, 1], 12))
    twice = {"y": np.tile(Y, 2), "scores": np.tile(X[:, 0], 2), "qid": np.repeat(np.arange(12), 2)}
    yield metrics.evaluate_sampled, {**twice, "people": people, "measures": "map", "preset": None}
    yield metrics.compare, {"y": Y, "scores": scores, "qid": QID, **compared}
    yield metrics.compare_runs, {"runs": {"a": RUN, "b": RUN}, "qrels": QRELS, **compared, "complete": False}
    yield metrics.disagreement_error, labelled
    yield metrics.err, {**common, "k": 3, "max_grade": 4.0}
    yield metrics.evaluate, {**labelled, "measures": ["map"], "preset": None}
    yield (
        metrics.evaluate_run,
        {"run": RUN, "qrels": QRELS, "measures": ["map"], "complete": False},
    )
    yield metrics.non_inferiority, {"gains": X[:, 0] / 10.0, "margin": 0.1, "value_range": 1.0}
    yield metrics.get_measure, {"name": "ndcg@5", "preset": None, "gain": None, "ties": None}
    yield metrics.holm, {"p_values": [0.1, 0.2]}
    yield metrics.kendall_tau_b, labelled
    yield metrics.mean_ndcg, {**common, "gain": None, "discount": None}
    yield metrics.ndcg, {**common, "k": 3, "gain": None, "discount": None}
    yield metrics.pairwise_error, {**labelled, "average": "macro", "sample_weight": None}
    yield metrics.precision_at, {**common, "k": 3, "relevant": 1.0, "denominator": None}
    yield metrics.preference_error, {"scores": X[:, 0], "pairs": PAIRS, "weight": None}
    yield metrics.recall_at, {**common, "k": 3, "relevant": 1.0, "denominator": None}
    yield metrics.reciprocal_rank, {**common, "k": 3, "relevant": 1.0}


MODULES = (rankwise, rankwise.clicks, metrics, rankwise.trec)
KINDS = [
    getattr(rankwise, name)
    for name in rankwise.__all__
    if name.startswith(("RankRLS", "KernelRank", "RankSVM"))
]


def calls_of_rankers(s):
    rows = {"X": X, "y": Y, "qid": QID}
    weights = {
        "sample_weight": np.ones(12),
        "query_weight": None,
        "eval_set": (X, Y, QID),
        "on_progress": None,
    }
    for kind in KINDS:
        taken = inspect.signature(kind.fit).parameters
        yield kind().fit, rows | {name: value for name, value in weights.items() if name in taken}
    for kind in (rankwise.RankRLSCV, rankwise.KernelRankRLS, rankwise.RankSVMPath):
        fitted = kind().fit(X, Y, QID)
        yield fitted.predict, {"X": X}
        yield fitted.rank, {"X": X, "qid": QID}
        yield fitted.score, {**rows, "sample_weight": None}
        yield fitted.explain, {"X": X, "i": 0, "j": 1}
        if hasattr(fitted, "calibration_"):
            yield fitted.predict_preference_proba, {"X": X, "pairs": PAIRS}
            yield fitted.measure_calibration, rows
        yield fitted.save, {"path": s.folder / "out"}
        yield kind().fit_preferences, {"X": X, "pairs": PAIRS, "weight": np.ones(3)}
    new, old = rows | {"qid": list("xxxxyyyyzzzz")}, {name: values[:4] for name, values in rows.items()}
    yield rankwise.RankRLS(solver="primal").fit(X, Y, QID).partial_fit, {**new, "sample_weight": None}
    yield rankwise.RankRLS(solver="primal").fit(X, Y, QID).forget, {**old, "sample_weight": None}
    yield s.model.with_alpha, {"alpha": 1.0}
    path = rankwise.RankSVMPath().fit(X, Y, QID)
    yield path.select, {**rows, "measure": "map"}
    for method in (path.dual_coef_at, path.n_support_at):
        yield method, {"alpha": 1.0}
    yield rankwise.RankRLSPath().fit(X, Y, QID).select, {"n_features": 1}


CALLS = (
    calls_of_data,
    calls_of_clicks,
    calls_of_moments,
    calls_of_models,
    calls_of_measures,
    calls_of_rankers,
)


@pytest.fixture
def setting(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some odd values are names of files to write
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    with rankwise.config_context(one_ranking=True, n_threads=1):
        yield Setting(tmp_path)
    rankwise.set_config(n_threads=None, one_ranking=False, on_interrupt="raise")


def complaints(call, arguments):
    """Errors from inside, for an odd value of one argument after the other."""
    call(**arguments)
    for name in arguments:
        for word, odd in ODD.items():
            # A callable may do what it likes with its arguments, and raise what it likes.
            if word == "type" and name in ("progress", "on_progress", "kernel"):
                continue
            try:
                call(**{**arguments, name: odd})
            except (RankwiseError, OSError):
                continue
            except Exception as error:  # noqa: BLE001, whatever comes from inside is what we look for
                yield f"{call.__qualname__}({name}={word}): {type(error).__name__}: {error}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("calls", CALLS)
def test_an_odd_argument_is_taken_or_refused_in_a_sentence(calls, setting):
    found = [said for call, arguments in calls(setting) for said in complaints(call, arguments)]
    assert not found, "\n".join(found)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_odd_parameter_is_taken_or_refused_in_a_sentence(kind, setting):
    def fit(**parameters):
        return kind(**parameters).fit(X, Y, QID)

    found = list(complaints(fit, kind().get_params()))
    assert not found, "\n".join(found)


def test_every_public_function_is_called(setting):
    called = {call for calls in CALLS for call, _ in calls(setting)}
    public = [getattr(module, name) for module in MODULES for name in module.__all__]
    functions = {each for each in public if isinstance(each, types.FunctionType)}
    assert functions - called == {rankwise.get_config, rankwise.register_onnx_converters}
