"""Weights of a data set are those of ``sample_weight``, wherever its rows go."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

import rankwise
from in_parts import in_parts
from rankwise import DataError, Moments, QuerySizes, RankingData
from rankwise.cli import main
from rankwise.metrics import evaluate
from rankwise.report.weights import left_out_weights

RANKERS = [
    rankwise.RankRLS(),
    rankwise.RankRLS(solver="cg"),
    rankwise.RankRLS(columns="spline"),
    rankwise.RankSVM(),
    rankwise.RankSVM(early_stopping=True, random_state=0),
    rankwise.KernelRankRLS(),
    rankwise.RankSVMPath(graph="reduced"),
    rankwise.RankRLSCV([0.1, 1.0]),
    rankwise.RankSVMCV([0.1]),
    rankwise.KernelRankRLSCV([1.0]),
    rankwise.RankRLSPath(max_features=2),
]


@pytest.fixture
def parts():
    """Rows with weights, some of them 0, and others."""
    data = rankwise.make_search_data(40, random_state=0)
    weight = np.random.default_rng(0).integers(0, 4, data.n_rows).astype(float)
    return replace(data, sample_weight=weight).split(0.7)


def without_weights(data):
    return replace(data, sample_weight=None)


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: str(ranker))
def test_a_fit_to_weighted_data_is_one_with_sample_weight(ranker, parts):
    train, test = parts
    found = clone(ranker).fit(train).predict(test)
    apart = clone(ranker).fit(without_weights(train), sample_weight=train.sample_weight)
    np.testing.assert_array_equal(found, apart.predict(test))
    assert not np.array_equal(found, clone(ranker).fit(without_weights(train)).predict(test))


def test_the_score_of_weighted_data_is_that_with_sample_weight(parts):
    train, test = parts
    model = rankwise.RankRLS().fit(train)
    assert model.score(test) == model.score(test.X, test.y, test.qid, test.sample_weight)
    assert model.score(test) != model.score(without_weights(test))


@pytest.mark.parametrize("weighting", ["example", "pair", "query"])
def test_moments_of_weighted_data_are_those_with_sample_weight(parts, weighting):
    train, _ = parts
    found = Moments.of(train, weighting=weighting)
    apart = Moments.of(train.X, train.y, train.qid, train.sample_weight, weighting=weighting)
    np.testing.assert_array_equal(found.A, apart.A)
    np.testing.assert_array_equal(found.b, apart.b)
    assert not np.array_equal(found.A, Moments.of(without_weights(train), weighting=weighting).A)


def test_sizes_without_the_weights_of_the_rows_are_noticed(parts):
    train, _ = parts
    sizes = QuerySizes.of(train.y, train.qid, train.sample_weight)
    whole = Moments.of(train, weighting="pair", sizes=sizes).close()
    np.testing.assert_allclose(whole.A, Moments.of(train, weighting="pair").A)
    with pytest.raises(DataError, match="its rows should weigh"):
        Moments.of(train, weighting="pair", sizes=QuerySizes.of(train.y, train.qid)).close()


@pytest.mark.parametrize("ranker", [rankwise.RankRLS(solver="primal"), rankwise.RankRLSCV([0.1, 1.0])])
def test_updates_learn_and_forget_weighted_rows(ranker, parts):
    train, more = parts
    found = clone(ranker).fit(train).partial_fit(more)
    plain = without_weights(train), without_weights(more)
    apart = clone(ranker).fit(plain[0], sample_weight=train.sample_weight)
    apart.partial_fit(plain[1], sample_weight=more.sample_weight)
    np.testing.assert_array_equal(found.coef_, apart.coef_)
    np.testing.assert_array_equal(
        found.forget(more).coef_, apart.forget(plain[1], sample_weight=more.sample_weight).coef_
    )
    with pytest.raises(DataError, match="learned with other rows, labels or weights"):
        found.forget(plain[0])


@pytest.mark.parametrize(
    "ranker", [rankwise.RankRLSCV([0.1, 1.0], measure="pairwise_error"), rankwise.RankSVM()]
)
def test_rows_that_are_measured_count_once_whatever_their_weights(ranker, parts):
    train, test = parts
    found = clone(ranker).fit(train, eval_set=test)
    plain = clone(ranker).fit(train, eval_set=without_weights(test))
    np.testing.assert_array_equal(found.coef_, plain.coef_)
    assert found.calibration_.slope == plain.calibration_.slope
    curves = [found.measure_calibration(rows) for rows in (test, without_weights(test))]
    assert curves[0].expected_calibration_error == curves[1].expected_calibration_error


def test_an_evaluation_of_rows_in_parts_counts_every_row_once(parts):
    train, test = parts
    model = rankwise.RankRLS().fit(train)
    weighted = in_parts(test, 3)
    expected = evaluate(test.y, model.predict(test), test.qid)
    assert evaluate(weighted, model.predict(weighted)).means == pytest.approx(expected.means)


def test_weights_beside_those_of_the_data_are_refused(parts):
    train, _ = parts
    for method in (rankwise.RankRLS().fit, rankwise.RankRLS().fit(train).score, Moments.of):
        with pytest.raises(DataError, match="has its own weights; pass it without sample_weight"):
            method(train, sample_weight=train.sample_weight)


def test_parts_on_a_cluster_keep_the_weights(parts):
    train, _ = parts
    model = rankwise.RankRLS(solver="primal").fit(in_parts(train, 3))
    np.testing.assert_allclose(model.coef_, rankwise.RankRLS(solver="primal").fit(train).coef_, rtol=1e-9)


def test_selecting_splitting_scaling_and_pickling_keep_the_weights(parts):
    train, _ = parts
    rows = [5, 0, 3]
    assert train.select(rows).sample_weight.tolist() == train.sample_weight[rows].tolist()
    first, second = train.split(0.5)
    of_row = dict(zip(zip(train.qid, train.docs, strict=True), train.sample_weight, strict=True))
    for part in (first, second, train.scale_per_query(), pickle.loads(pickle.dumps(train))):
        names = zip(part.qid, part.docs, strict=True)
        assert part.sample_weight.tolist() == [of_row[name] for name in names]


def test_rows_without_weights_count_one_beside_others(parts):
    train, test = parts
    joined = RankingData.concat([train, without_weights(test)])
    assert joined.sample_weight.tolist() == [*train.sample_weight, *[1.0] * test.n_rows]
    assert RankingData.concat([without_weights(train), without_weights(test)]).sample_weight is None


def test_a_store_keeps_the_weights(parts, tmp_path):
    train, _ = parts
    rankwise.save_store(train, tmp_path / "train.store")
    opened = rankwise.open_store(tmp_path / "train.store", verify=True)
    assert opened.sample_weight.tolist() == train.sample_weight.tolist()
    np.testing.assert_array_equal(rankwise.RankRLS().fit(opened).coef_, rankwise.RankRLS().fit(train).coef_)
    np.testing.assert_allclose(Moments.of(opened).A, Moments.of(train).A)


def test_text_that_cannot_hold_weights_is_not_written(parts, tmp_path):
    train, _ = parts
    with pytest.raises(DataError, match=r"LETOR text cannot hold row weights; .* \(save_store\)"):
        rankwise.save_letor(train, tmp_path / "train.txt")
    assert list(tmp_path.iterdir()) == []


def test_weights_of_clicks_and_judgments_replace_those_of_the_data(parts):
    data, log = rankwise.make_search_data(20, random_state=0, clicks=True)
    weighted = replace(data, sample_weight=np.zeros(data.n_rows))
    found = rankwise.clicks.rows_from_clicks(log, weighted)
    expected = rankwise.clicks.rows_from_clicks(log, data)
    np.testing.assert_array_equal(found.sample_weight, expected.sample_weight)
    assert rankwise.clicks.grades_from_clicks(log, weighted).sample_weight is None


def test_a_repr_says_that_rows_are_weighted(parts):
    train, _ = parts
    assert repr(train).endswith("weighted)")
    assert "weighted" not in repr(without_weights(train))


@pytest.mark.parametrize("as_table", [False, True])
def test_weights_are_a_column_of_a_frame_or_file(tmp_path, as_table):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"grade": [2, 0], "bm25": [7.5, 1.5], "trust": [3, 1]})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    columns = {"label": "grade", "weight": "trust", "as_table": as_table}
    for data in (
        RankingData.from_frame(frame, **columns),
        rankwise.load_table(tmp_path / "rows.csv", **columns),
    ):
        assert data.sample_weight.tolist() == [3.0, 1.0]
        assert data.feature_names == ("bm25",)


@pytest.mark.parametrize(
    "weight, message",
    [([1.0], r"shape \(2,\)"), ([1.0, -1.0], "row 1 has -1"), ([np.nan, 1.0], "row 0 has nan")],
)
def test_weights_of_a_data_set_are_checked(weight, message):
    with pytest.raises(DataError, match=message):
        RankingData.from_arrays([[1.0], [2.0]], [0, 1], sample_weight=weight)


def test_weights_that_are_all_zero_are_refused_when_they_are_to_be_learned():
    data = RankingData.from_arrays(np.eye(3), [0, 1, 2], ["q"] * 3, sample_weight=[0, 0, 0])
    with pytest.raises(DataError, match="sample_weight is zero for every row"):
        rankwise.RankRLS().fit(data)


def test_an_audit_trains_with_the_weights(parts):
    train, _ = parts
    assert rankwise.audit(train).calibration.slope != rankwise.audit(without_weights(train)).calibration.slope


def test_intervals_of_a_report_are_those_of_refitting_with_the_weights(parts):
    train = without_weights(parts[0])
    weight = np.random.default_rng(1).integers(0, 3, train.n_rows).astype(float)
    weight[train.queries.query_of_row() < 12] = 0.0  # whole queries that do not count
    train = replace(train, sample_weight=weight)
    model = rankwise.RankRLS(10.0).fit(train)
    without = left_out_weights(model.model_, train)
    for query in (0, 20):
        rest = train.select(train.queries.query_of_row() != query)
        np.testing.assert_allclose(without[query], rankwise.RankRLS(10.0).fit(rest).coef_, atol=1e-8)


def test_learning_curves_learn_the_weights_and_reports_leave_out_queries_without_any(parts):
    train = rankwise.make_search_data(60, random_state=3)
    weight = np.random.default_rng(1).integers(1, 5, train.n_rows) ** 3.0
    weighted, ranker = replace(train, sample_weight=weight), rankwise.RankRLS(10.0)
    curve = rankwise.learning_curve(weighted, ranker, n_draws=10)
    assert (curve.means != rankwise.learning_curve(train, ranker, n_draws=10).means).all()
    alike = replace(train, sample_weight=np.full(train.n_rows, 8.0))
    expected = rankwise.learning_curve(train, rankwise.RankRLS(10.0 / 8.0), n_draws=10).means
    np.testing.assert_allclose(rankwise.learning_curve(alike, ranker, n_draws=10).means, expected)
    unseen = replace(train, sample_weight=np.where(train.queries.query_of_row() < 12, 0.0, weight))
    facts = rankwise.make_report({"m": ranker.fit(unseen)}, parts[1], training=unseen).facts
    counted = rankwise.learning_curve(unseen.select(unseen.sample_weight > 0.0), ranker, n_draws=10)
    assert facts["learning"]["m"]["queries"] == [*counted.sizes, 48, 96]
    measured = facts["learning"]["m"]["values"][: len(counted.sizes)]
    np.testing.assert_allclose(measured, counted.means, rtol=1e-6)


def test_weights_of_judgments_reach_train_and_audit(parts, tmp_path, capsys):
    train, _ = parts
    judged, rows, model, page = (str(tmp_path / name) for name in ("j.csv", "rows.txt", "model", "page.html"))
    rankwise.save_judgments(train, judged)
    rankwise.save_letor(without_weights(train), rows)
    data = rankwise.load_judgments(judged, rankwise.load_letor(rows))
    assert main(["train", rows, model, "--judgments", judged, "--alpha", "1", "--report", page]) == 0
    np.testing.assert_array_equal(rankwise.load_model(model).coef_, rankwise.RankRLS(1.0).fit(data).coef_)
    capsys.readouterr()
    assert main(["audit", rows, "--judgments", judged, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found.pop("faults") is not None  # those of the file, which a data set does not have
    assert found == rankwise.audit(data).to_dict()
