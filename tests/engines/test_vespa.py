"""Vespa's evaluator of ranking expressions computes the scores of `predict`."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from rankwise import RankRLS, export_model

NAMES = ["bm25(title)", "attribute(age)", "nativeRank(title,body)"]


def expression_of(profile):
    """What is between the braces of ``expression { ... }``."""
    return profile.split("expression {", maxsplit=1)[1].split("}", maxsplit=1)[0]


PIPELINES = {
    "raw": RankRLS(),
    "standard": make_pipeline(StandardScaler(), RankRLS()),
    "minmax": make_pipeline(MinMaxScaler(), RankRLS()),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_a_profile_gives_the_scores_of_predict(name, vespa, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1.0, 30.0, 400.0] + [0.0, 100.0, 5e3]
    model = PIPELINES[name].fit(X, np.round(X @ [1.0, -0.05, 0.002] + rng.normal(size=60)))
    export_model(model, tmp_path / "profile", "vespa", feature_names=NAMES)
    documents = [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]
    scores = vespa(expression_of((tmp_path / "profile").read_text()), documents)
    differences = scores - model.predict(X)
    assert differences == pytest.approx(np.full(60, differences[0]), rel=1e-9, abs=1e-12)
