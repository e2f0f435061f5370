"""The facts of a report: what they say is what the library computes, and any ranker can be reported on."""

import json

import numpy as np
import pytest
from scipy import sparse

import rankwise
from rankwise.errors import DataError, ParameterError
from rankwise.metrics import compare, evaluate
from rankwise.report.facts import SCHEMA, compared_facts, report_facts
from rankwise.report.lists import ranks_of
from rankwise.report.weights import jackknife_margins, left_out_weights
from rankwise.rows.table import table_of

MEASURES = ["ndcg@10", "pairwise_error"]


@pytest.fixture(scope="module")
def parts():
    return rankwise.make_search_data(60, random_state=4).split(0.5)


@pytest.fixture(scope="module")
def models(parts):
    training, _ = parts
    return {
        "old": rankwise.RankRLS(1e7).fit(training),
        "new": rankwise.RankRLSCV(alphas=[0.1, 1.0, 10.0], ties=["keep", "drop"]).fit(training),
    }


@pytest.fixture(scope="module")
def facts(parts, models):
    training, test = parts
    return report_facts(models, test, MEASURES, title="both", training=training)


def test_facts_are_plain_json_with_a_version(facts):
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert facts["schema"] == SCHEMA == "rankwise.report/1"


def test_means_margins_and_tests_are_those_of_the_library(facts, parts, models):
    test = parts[1]
    scores = {name: model.predict(test.X) for name, model in models.items()}
    expected = compare(test.y, scores, test.queries, MEASURES, baseline="old").to_dict()
    assert {name: facts[name] for name in expected} == expected
    assert facts["tests"][0]["a"] == "new"
    alone = evaluate(test.y, scores["new"], test.queries, MEASURES)
    assert facts["margins"]["new"] == alone.margins
    left_out = [measure["left_out"] for measure in facts["measures"]]
    assert left_out == list(alone.left_out.values())


def test_a_change_is_positive_where_a_ranker_is_better_whatever_the_measure(facts):
    for measure, sign in (("ndcg@10", 1), ("pairwise_error", -1)):
        values, changes = facts["queries"]["values"][measure], facts["queries"]["changes"][measure]["new"]
        for old, new, change in zip(values["old"], values["new"], changes, strict=True):
            if old is None:
                assert change is None
            else:
                assert change == pytest.approx(sign * (new - old), abs=1e-12)


def test_the_answer_names_the_best_the_baseline_and_the_queries_that_do_not_count(facts):
    first, means, *others = facts["answer"]
    assert first.startswith("new beats old: +")
    assert first.endswith(": ship it.")
    assert means.startswith("Mean ndcg@10 over ")
    assert "no value of ndcg@10" in others[0]
    assert "no relevant rows" in others[0]


def test_rankers_that_agree_cannot_be_told_apart(parts):
    test = parts[1]
    same = {"a": test.X[:, 0], "b": 2.0 * test.X[:, 0]}
    facts, _ = compared_facts(same, test, MEASURES)
    assert facts["answer"][0].startswith("b and a have the same ndcg@10 on all ")
    assert facts["verdict"]["decision"] == "equal"
    assert facts["tests"][0]["n_equal"] == facts["measures"][0]["queries"]


def test_contributions_of_any_two_rows_add_up_to_the_difference_of_their_scores(facts):
    for query in facts["lists"]["queries"]:
        for name, parts in query["parts"].items():
            sums = np.sum(parts["contributions"], axis=1) + np.array(parts["others"])
            scores = np.array(query["scores"][name])
            tolerance = 1e-5 * max(1.0, np.abs(scores).max())
            np.testing.assert_allclose(sums - sums[0], scores - scores[0], atol=tolerance)


def test_contributions_are_those_of_explain(facts, parts, models):
    test = parts[1]
    query = facts["lists"]["queries"][0]
    rows = {str(test.docs[row]): row for row in test.queries.rows_of(query["query"])}
    i, j = rows[query["docs"][0]], rows[query["docs"][-1]]
    explained = models["new"].explain(test.X, i, j)
    shown = query["parts"]["new"]
    for place, column in enumerate(shown["columns"]):
        difference = shown["contributions"][0][place] - shown["contributions"][-1][place]
        assert difference == pytest.approx(explained.contributions[column], abs=1e-5)
        assert facts["lists"]["columns"]["new"][column] == explained.names[column]
        assert query["values"][str(facts["lists"]["sources"]["new"][column])][0] == pytest.approx(
            test.X[i, column], rel=1e-6
        )


def test_ranks_follow_scores_and_tied_rows_keep_their_order():
    assert ranks_of(np.array([1.0, 3.0, 1.0, 2.0])).tolist() == [3, 1, 4, 2]
    retrieved = np.ma.masked_array([9.0, 3.0, 5.0], [True, False, False])
    assert ranks_of(retrieved).tolist() == [None, 2, 1]


def test_lists_begin_with_the_largest_change(facts):
    changes = facts["queries"]["changes"]["ndcg@10"]["new"]
    sizes = [abs(changes[query["query"]] or 0.0) for query in facts["lists"]["queries"]]
    assert sizes[0] == max(abs(change) for change in changes if change is not None)
    assert sizes == sorted(sizes, reverse=True)


def test_long_lists_and_many_queries_are_cut_and_counted(monkeypatch, parts):
    monkeypatch.setattr("rankwise.report.lists.MAX_NUMBERS", 500)
    monkeypatch.setattr("rankwise.report.lists.MAX_ROWS", 5)
    test = parts[1]
    lists = report_facts({"a": test.X[:, 0]}, test, title="cut")["lists"]
    assert 0 < len(lists["queries"]) < lists["n_queries"] == test.n_queries
    for query in lists["queries"]:
        assert len(query["docs"]) <= 5 <= max(query["rows"], 5)
        if query["rows"] >= 5:
            assert min(query["ranks"]["a"]) == 1
            assert min(query["ideal"]) == 1


def test_the_chosen_alpha_and_setting_are_on_the_curve(facts, models):
    curve, model = facts["choices"]["new"], models["new"]
    row = curve["scores"][curve["chosen"]["setting"]]
    assert row[curve["alphas"].index(curve["chosen"]["alpha"])] == pytest.approx(model.best_score_, rel=1e-6)
    assert curve["settings"] == ["ties=keep", "ties=drop"]
    assert "old" not in facts["choices"]


def test_a_path_and_a_surface_are_facts(parts):
    training, test = parts
    few = training.select(queries=training.queries.labels[:6].tolist())
    models = {
        "path": rankwise.RankSVMPath(gamma=1e-6, graph="reduced").fit(few).select(few),
        "surface": rankwise.RankRLSCV(alphas=[0.1, 1.0], solver="cg", max_iter=200).fit(
            training, eval_set=test
        ),
    }
    facts = report_facts(models, test, MEASURES, title="curves")
    path, surface = facts["choices"]["path"], facts["choices"]["surface"]["surface"]
    assert len(path["on_margin"]) == len(path["alphas"]) == len(path["scores"][0]) <= 301
    assert path["chosen"]["alpha"] == pytest.approx(models["path"].alpha_)
    assert any(alpha == pytest.approx(models["path"].alpha_) for alpha in path["alphas"])
    assert len(surface["values"]) == 2
    assert len(surface["iterations"]) == len(surface["values"][0]) <= 80


def test_functions_of_columns_and_their_intervals_equal_refitting(parts):
    training, test = parts
    model = rankwise.RankRLS(columns="spline").fit(training)
    facts = report_facts({"spline": model}, test, MEASURES, title="s", training=training)
    test_contributions_of_any_two_rows_add_up_to_the_difference_of_their_scores(facts)
    drawn = {one["column"]: one for one in facts["shapes"]["spline"]}
    assert "rating" in drawn
    points, values = (np.array(drawn["rating"][key]) for key in ("points", "values"))
    encoding, curves = model.encoding_, []
    labels = training.queries.labels.tolist()
    for one in labels:
        rest = training.select(queries=[q for q in labels if q != one])
        without = rankwise.RankRLS().fit(encoding.encode(table_of(rest.X)), rest.y, rest.qid)
        curves.append(without.coef_)
    column = list(encoding.codes).index("rating")
    curves = [encoding.function(coef).terms[column].shape(points) for coef in (model.coef_, *curves)]
    curves = [curve - curve.mean() for curve in curves]
    np.testing.assert_allclose(values, curves[0], atol=1e-6)
    expected = jackknife_margins(np.array(curves[1:]))
    np.testing.assert_allclose(drawn["rating"]["margins"], expected, rtol=1e-4, atol=1e-7)


def test_tables_of_any_columns_are_explained_in_their_own_values():
    frame = pytest.importorskip("pandas").DataFrame(
        {
            "query": np.repeat(np.arange(12), 5),
            "price": np.where(np.arange(60) % 7 == 0, np.nan, np.arange(60) % 11),
            "brand": [["acme", "<b>bold</b>", None][k % 3] for k in range(60)],
            "grade": np.arange(60) % 3,
        }
    )
    data = rankwise.RankingData.from_frame(frame, label="grade", qid="query", as_table=True)
    model = rankwise.RankRLS(columns="auto").fit(data)
    facts = report_facts({"table": model}, data, MEASURES, title="table", training=data)
    test_contributions_of_any_two_rows_add_up_to_the_difference_of_their_scores(facts)
    query = facts["lists"]["queries"][0]
    assert {"acme", "<b>bold</b>", "missing"} <= set(query["values"]["1"])
    drawn = {one["column"]: one for one in facts["shapes"]["table"]}
    assert sorted(drawn["brand"]["points"]) == ["<b>bold</b>", "acme"]
    assert len(drawn["price"]["points"]) == len(drawn["price"]["margins"])


def test_a_feature_path_says_what_each_size_adds(parts):
    path = pytest.importorskip("rankwise.rankers.rankrls_path", reason="there are no feature paths")
    training, test = parts
    model = path.RankRLSPath(max_features=3, measure="ndcg@10").fit(training)
    facts = report_facts({"few": model}, test, MEASURES, title="sizes")
    assert "choices" not in facts
    added = [", ".join(names) for names in facts["sizes"]["few"]["added"]]
    assert added == [row["feature"] for row in model.path_table()]
    assert facts["sizes"]["few"]["chosen"] == model.n_features_


@pytest.mark.parametrize("settings", [{}, {"ties": "drop"}, {"across_queries": 2.0}])
def test_a_learning_curve_is_that_of_the_library_with_the_settings_of_the_model(parts, settings):
    training, test = rankwise.make_search_data(60, random_state=2), parts[1]
    model = rankwise.RankRLSCV(alphas=[1.0, 10.0], **settings).fit(training)
    found = report_facts({"m": model}, test, MEASURES, title="curve", training=training)["learning"]["m"]
    ranker = rankwise.RankRLS(model.alpha_, solver="primal", **settings)
    curve = rankwise.learning_curve(training, ranker, MEASURES[0], n_draws=10)
    assert found["queries"] == [*curve.sizes, 60, 120]
    assert found["source"] == ["measured"] * len(curve.sizes) + ["predicted"] * 2
    np.testing.assert_allclose(
        found["values"], [*curve.means, *(curve.predict(n)[0] for n in (60, 120))], 1e-6
    )
    margins = [*curve.margins, *(curve.predict(n)[1] for n in (60, 120))]
    np.testing.assert_allclose(found["margins"], margins, 1e-6)
    gain = found["gain"]
    assert (gain["queries"], gain["mean"], gain["margin"]) == pytest.approx((120, *curve.gain(120)))


def test_too_few_training_queries_make_no_learning_curve(facts):
    assert "learning" not in facts
    assert "old, new: not drawn" in facts["absent"]["learning"]
    assert "at least 32" in facts["absent"]["learning"]


def test_constant_repeated_and_tied_data_is_reported():
    X = np.array([[1.0, 5.0, 2.0, 2.0], [2.0, 5.0, 3.0, 3.0], [3.0, 7.0, 1.0, 1.0], [4.0, 7.0, 9.0, 9.0]])
    for rows in (X, sparse.csr_matrix(X)):
        data = rankwise.RankingData.from_arrays(rows, [0, 1, 1, 1], ["a", "a", "b", "b"])
        found = report_facts({"x": X[:, 0]}, data, ["map"], title="data")["data"]
        assert found["features"]["constant"] == ["x1"]
        assert found["features"]["repeated"] == [["x3", "x2"]]
        assert (found["all_tied"], found["one_row"]) == (1, 0)
        assert found["labels"] == {"values": [0.0, 1.0], "counts": [1, 3]}


def test_constant_and_repeated_columns_of_tables_are_reported():
    frame = pytest.importorskip("pandas").DataFrame(
        {
            "query": ["a", "a", "b", "b"],
            "grade": [0, 1, 1, 0],
            "shop": ["x", "x", None, None],
            "brand": ["p", None, "q", "p"],
            "brand again": ["p", None, "q", "p"],
            "price": [1.0, np.nan, 2.0, 1.0],
        }
    )
    data = rankwise.RankingData.from_frame(frame, label="grade", qid="query", as_table=True)
    found = report_facts({"s": np.arange(4.0)}, data, ["map"], title="table")["data"]
    assert found["features"]["constant"] == ["shop"]
    assert found["features"]["repeated"] == [["brand again", "brand"]]


def test_a_wrong_label_and_a_feature_that_reveals_it_are_named(parts):
    test = parts[1]
    y = test.y.copy()
    wrong = int(np.flatnonzero(y == 0)[11])
    y[wrong] = 4.0
    X = np.column_stack([test.X, y])
    names = [*test.feature_names, "label again"]
    data = rankwise.RankingData.from_arrays(X[:, :-1], y, test.qid, test.docs, names[:-1])
    found = report_facts({"title": X[:, 0]}, data, MEASURES, title="audit")["audit"]
    assert test.docs[wrong] in [row["doc"] for row in found["rows"]["findings"]]
    assert found["revealing_features"]["number"] == 0
    data = rankwise.RankingData.from_arrays(X, y, test.qid, test.docs, names)
    found = report_facts({"title": X[:, 0]}, data, MEASURES, title="audit")["audit"]
    assert found["revealing_features"]["findings"][0]["feature"] == "label again"


def test_data_too_large_or_too_small_is_not_audited(parts, monkeypatch):
    test = parts[1]
    few = test.select(queries=test.queries.labels[:4].tolist())
    assert "audit" not in report_facts({"title": few.X[:, 0]}, few, MEASURES, title="few")
    monkeypatch.setattr("rankwise.report.audits.MAX_WORK", 1.0)
    assert "audit" not in report_facts({"title": test.X[:, 0]}, test, MEASURES, title="many")


@pytest.mark.parametrize("choices", [{}, {"ties": "drop"}, {"weighting": "query"}, {"alpha": 1e-3}])
def test_weights_without_a_query_and_their_intervals_equal_refitting(parts, choices):
    training = parts[0]
    model = rankwise.RankRLS(**choices).fit(training)
    found = left_out_weights(model.model_, training)
    labels = training.queries.labels.tolist()
    refitted = np.array(
        [
            rankwise.RankRLS(**choices).fit(training.select(queries=[q for q in labels if q != one])).coef_
            for one in labels
        ]
    )
    np.testing.assert_allclose(found, refitted, atol=1e-8 * np.abs(refitted).max())
    n = len(labels)
    error = np.sqrt((n - 1) / n * ((refitted - refitted.mean(axis=0)) ** 2).sum(axis=0))
    np.testing.assert_allclose(jackknife_margins(found), 2.0452296 * error, rtol=1e-5, atol=1e-9)
    facts = report_facts({"m": model}, training, ["map"], title="signs", training=training)
    learned = facts["weights"]["m"]
    places = [training.feature_names.index(name) for name in learned["columns"]]
    same = (np.sign(refitted) == np.sign(model.coef_)).mean(axis=0)
    np.testing.assert_allclose(learned["same_sign"], same[places], atol=1e-6)


def test_weights_without_the_query_that_taught_everything_are_refitted():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(14, 3)), rng.normal(size=14)
    X[:8] *= 1e6
    data = rankwise.RankingData.from_arrays(X, y, [0] * 8 + [1] * 6)
    model = rankwise.RankRLS(1e-6).fit(data)
    found = left_out_weights(model.model_, data)
    expected = rankwise.RankRLS(1e-6).fit(data.select(queries=[1])).coef_
    np.testing.assert_allclose(found[0], expected, rtol=1e-5)


def test_intervals_need_the_data_that_the_model_was_trained_on(parts, models):
    test = parts[1]
    with pytest.raises(DataError, match="does not belong to the training data"):
        report_facts(models, test, MEASURES, title="other", training=test)


def test_models_of_other_packages_scores_runs_and_predictors_are_rankers(parts):
    lightgbm, xgboost = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
    training, test = parts
    y, query = training.y.astype(int), training.queries.query_of_row()
    trees = lightgbm.LGBMRanker(n_estimators=5, verbose=-1).fit(training.X, y, group=training.queries.sizes)
    boosted = xgboost.XGBRanker(n_estimators=5).fit(training.X, y, qid=query)
    rankers = {
        "trees": trees,
        "boosted": boosted,
        "booster": trees.booster_,
        "kernel": rankwise.KernelRankRLS(gamma=1e-6, basis=10, random_state=0).fit(training),
        "scores": test.X[:, 0].tolist(),
        "run": rankwise.trec.run_from_scores(test, test.X[:, 0]),
    }
    facts = report_facts(rankers, test, MEASURES, title="all kinds")
    kinds = {model["name"]: model["kind"] for model in facts["models"]}
    assert (kinds["trees"], kinds["boosted"]) == ("LightGBM", "XGBoost")
    assert facts["means"]["scores"] == facts["means"]["run"]
    assert facts["means"]["trees"] == facts["means"]["booster"]
    assert set(facts["lists"]["columns"]) == {"trees", "boosted", "booster"}
    expected = evaluate(test.y, trees.predict(test.X), test.queries, MEASURES).means
    assert facts["means"]["trees"] == expected
    test_contributions_of_any_two_rows_add_up_to_the_difference_of_their_scores(facts)


def test_documents_that_were_not_judged_or_not_retrieved_are_counted(parts):
    test = parts[1]
    run = rankwise.trec.run_from_scores(test, test.X[:, 0])
    first = str(test.qid[0])
    run[first] = {str(test.docs[0]): 1.0, "unknown": 2.0}
    facts, _ = compared_facts({"run": run}, test, MEASURES, note="A note.")
    assert facts["note"] == "A note. Documents of run that are not in the data, and do not count: 1."
    assert facts["models"][0]["not_retrieved"] == (test.qid.astype(str) == first).sum() - 1


def test_scaling_per_query_is_part_of_the_explanation(parts):
    training, test = parts
    model = rankwise.RankRLS().fit(training.scale_per_query())
    facts = report_facts({"scaled": model}, test, MEASURES, title="s", training=training)
    test_contributions_of_any_two_rows_add_up_to_the_difference_of_their_scores(facts)
    assert facts["weights"]["scaled"]["training_queries"] == training.n_queries


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_contributions_keep_their_digits_far_from_zero(parts, offset):
    training, test = (
        rankwise.RankingData.from_arrays(part.X + offset, part.y, part.qid, part.docs) for part in parts
    )
    model = rankwise.RankRLS().fit(training)
    facts = report_facts({"far": model}, test, MEASURES, title="far")
    explained = model.explain(test.X, *(rows := test.queries.rows_of(0)[:2]))
    query = next(one for one in facts["lists"]["queries"] if one["query"] == 0)
    i, j = (query["docs"].index(str(test.docs[row])) for row in rows)
    parts_of = query["parts"]["far"]
    sums = np.sum(parts_of["contributions"], axis=1) + np.array(parts_of["others"])
    assert sums[i] - sums[j] == pytest.approx(explained.difference, abs=1e-5)


def test_mistakes_get_one_sentence(parts):
    judged = parts[1]
    for rankers, options, message in (
        ({}, {}, "at least one ranker"),
        ({"a": np.ones(3)}, {}, "has length 3|3 rows|one per row|must have"),
        ({"a": np.ones((3, 3))}, {}, "'a' must be a fitted ranker"),
        ({"a": parts[1].X[:, 0]}, {"baseline": "b"}, "The 'baseline' parameter must be one of 'a'; got 'b'"),
        ({"a": {"x": {"y": 1.0}}}, {}, "share no document"),
    ):
        with pytest.raises((DataError, ParameterError), match=message):
            compared_facts(rankers, judged, MEASURES, **options)
