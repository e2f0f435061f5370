"""OHSUMED (if the data set is available): paper A's numbers, moments, probabilities and an audit."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from benchmarks import bench_audit, bench_calibration, bench_moments
from benchmarks.reproduce import ohsumed

from rankwise import Moments, QuerySizes, RankingData, RankRLS, RankRLSCV, audit, load_letor
from rankwise.selection.calibrating import recalibrated


def test_rankrls_reproduces_the_paper_on_ohsumed(shared_data, monkeypatch):
    monkeypatch.setattr(ohsumed, "METHODS", {"RankRLS": ohsumed.rank_rls})
    values = ohsumed.reproduce(shared_data / "ohsumed_letor2")["RankRLS"]
    off = np.abs(values - ohsumed.PAPER["RankRLS"])
    assert off[0] < 0.005
    assert off[1:].max() < 0.02


LOSSES = list(product(["keep", "drop"], ["example", "pair", "query"]))


@pytest.fixture(scope="module")
def judged(shared_data):
    return bench_moments.fold(shared_data, 1)[0]


@pytest.mark.parametrize(("ties", "weighting"), LOSSES)
@pytest.mark.parametrize("told", [False, True])
def test_queries_of_ohsumed_cut_across_parts_give_the_model_of_one_fit(judged, ties, weighting, told):
    sizes = QuerySizes.of(judged.y, judged.qid) if told else None
    options = {"ties": ties, "weighting": weighting, "sizes": sizes, "open_queries": True}
    part = np.random.default_rng(0).integers(0, 5, judged.n_rows)
    moments = [Moments.of(judged.select(part == number), **options) for number in range(5)]
    total = moments[3] + moments[0] + moments[4] + moments[1] + moments[2]
    fitted = RankRLS(ties=ties, weighting=weighting).fit(judged.X, judged.y, judged.qid)
    np.testing.assert_allclose(RankRLS.from_moments(total.close()).coef_, fitted.coef_, rtol=0, atol=1e-10)


@pytest.mark.parametrize(("ties", "weighting"), LOSSES)
def test_50_updates_on_ohsumed_leave_the_model_of_a_fit(judged, ties, weighting):
    rng, labels = np.random.default_rng(1), judged.queries.labels
    learned = set(labels[:40].tolist())
    some = judged.select(queries=learned)
    model = RankRLS(ties=ties, weighting=weighting, solver="primal").fit(some.X, some.y, some.qid)
    for label in rng.choice(labels, 50).tolist():
        query = judged.select(queries=[label])
        update = model.forget if label in learned else model.partial_fit
        update(query.X, query.y, query.qid)
        learned ^= {label}
    left = judged.select(queries=learned)
    fitted = RankRLS(ties=ties, weighting=weighting, solver="primal").fit(left.X, left.y, left.qid)
    np.testing.assert_allclose(model.coef_, fitted.coef_, rtol=0, atol=1e-8)
    assert np.linalg.norm(model.coef_ - fitted.coef_) <= model.coef_error_ < 1e-3


@pytest.fixture(scope="module")
def folds(shared_data):
    """Training and test queries of each fold, scaled."""
    return [
        [load_letor(fold / f"{part}set.txt.xz").scale_per_query() for part in ("training", "test")]
        for fold in sorted((shared_data / "ohsumed_letor2").glob("Fold*"))
    ]


def test_probabilities_of_test_pairs_of_ohsumed_are_off_by_less_than_three_percent(folds):
    for train, test in folds:
        model = RankRLSCV().fit(train)
        pairs = bench_calibration.all_pairs(test.y, test.queries.query_of_row())
        found = recalibrated(model.calibration_, model.predict(test), pairs, "test")
        assert found.expected_calibration_error <= 0.03


def test_an_audit_of_ohsumed_names_falsified_labels_first(folds):
    data = RankingData.concat(test for _, test in folds)
    y, false = bench_audit.falsified(data.y, np.random.default_rng(0))
    found = audit(replace(data, y=y), n_suspects=100)
    assert false[[suspect.row for suspect in found.rows]].mean() > 0.4  # 0.05 at random
