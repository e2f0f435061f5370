"""Warnings point at the user's own line, whichever part of rankwise issues them."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from rankwise import (
    KernelRankRLS,
    KernelRankRLSCV,
    RankRLS,
    RankRLSCV,
    RankSVM,
    RankSVMCV,
    RankSVMPath,
    load_pairs,
)

SAYING = {
    "rows far apart": KernelRankRLS(gamma=1e9),
    "rows far apart, chosen": KernelRankRLSCV(gamma=1e9),
    "nothing regularizes": RankRLS(alpha=0.0, solver="cg"),
    "iterations": RankRLS(solver="cg", max_iter=1),
    "iterations, chosen": RankRLSCV(solver="cg", max_iter=1, cv=3),
    "certificate": RankSVM(max_iter=1),
    "certificate, chosen": RankSVMCV(max_iter=1),
    "path": RankSVMPath(max_events=2),
}


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    return X, X[:, 0] + rng.normal(size=40), np.repeat(np.arange(8), 5)


@pytest.mark.parametrize("ranker", SAYING.values(), ids=SAYING)
def test_a_warning_of_fit_points_at_the_line_that_fits(ranker, rows):
    with pytest.warns() as caught:
        ranker.fit(*rows)
    assert {warning.filename for warning in caught} == {__file__}


def test_a_warning_inside_a_pipeline_points_at_the_pipeline(rows):
    with pytest.warns(UserWarning, match="below 1e-06") as caught:
        make_pipeline(KernelRankRLS(gamma=1e9)).fit(*rows[:2])
    assert caught[0].filename.endswith("pipeline.py")


def test_a_warning_of_a_file_points_at_the_line_that_reads_it(tmp_path):
    (tmp_path / "pairs").write_text("1 1\n2 1\n", encoding="utf-8")
    with pytest.warns(UserWarning, match="compare a row with itself") as caught:
        load_pairs(tmp_path / "pairs")
    assert caught[0].filename == __file__
