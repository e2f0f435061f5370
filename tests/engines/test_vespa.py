"""Vespa's evaluator of ranking expressions computes the scores of `predict`."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from column_functions import HOSTILE, OF_CATEGORIES, WITH_INTERACTIONS, expected_scores, plain, values_of_rows
from rankwise import RankRLS, export_model
from rankwise.export.vespa import vespa_profile
from rankwise.scoring.additive import AdditiveFunction, Term

NAMES = ["bm25(title)", "attribute(age)", "nativeRank(title,body)"]


def expression_of(profile):
    """What is between the braces of ``expression { ... }``; braces in texts are escaped."""
    return profile.split("expression {", maxsplit=1)[1].split("}", maxsplit=1)[0]


PIPELINES = [
    RankRLS(),
    make_pipeline(StandardScaler(), RankRLS()),
    make_pipeline(MinMaxScaler(), RankRLS()),
]


def test_a_profile_gives_the_scores_of_predict(vespa, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1.0, 30.0, 400.0] + [0.0, 100.0, 5e3]
    y = np.round(X @ [1.0, -0.05, 0.002] + rng.normal(size=60))
    models = [pipeline.fit(X, y) for pipeline in PIPELINES]
    for place, model in enumerate(models):
        export_model(model, tmp_path / str(place), "vespa", feature_names=NAMES)
    expressions = [
        expression_of((tmp_path / str(place)).read_text(encoding="utf-8")) for place in range(len(models))
    ]
    documents = [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]
    for model, scores in zip(models, vespa(expressions, documents), strict=True):
        assert scores == pytest.approx(model.predict(X), rel=1e-9, abs=1e-9)


def test_a_profile_of_columns_gives_the_scores_of_the_model(vespa):
    values = values_of_rows()
    assert HOSTILE in values["brand"]
    seconds = {
        name: values[name].astype("datetime64[ms]").astype(float) / 1e3 for name in ("created", "updated")
    }
    for name, column in seconds.items():
        column[np.isnat(values[name])] = np.nan
    documents = [
        {f"attribute({name.replace(' ', '_')})": value for name, value in document.items()}
        for document in plain(values | seconds)
    ]
    for document in documents:
        for name in ("attribute(brand)", "attribute(color)"):
            document[name] = document[name] or ""
    attributes = {name: f"attribute({name.replace(' ', '_')})" for name in values}
    terms = [Term(attributes[term.column], term.shape) for term in WITH_INTERACTIONS.terms]
    pairs = [one.renamed(attributes) for one in WITH_INTERACTIONS.interactions]
    functions = [
        *(AdditiveFunction((term,)) for term in terms),
        *(AdditiveFunction((), interactions=(one,)) for one in pairs),
        AdditiveFunction(tuple(terms), interactions=tuple(pairs)),
    ]
    profiles = [vespa_profile("learned", function) for function in functions]
    found = vespa([expression_of(profile) for profile in profiles], documents)
    of_attributes = {attributes[name]: column for name, column in values.items()}
    expected = [expected_scores(of_attributes, function) for function in functions]
    assert found == pytest.approx(np.array(expected), rel=1e-9, abs=1e-9)


def test_thousands_of_categories_do_not_overflow_the_parser(vespa):
    (term,) = OF_CATEGORIES.terms
    texts = np.array([None, "shop 0", "shop 1500", "shop 2999", "new"], dtype=object)
    profile = vespa_profile("learned", AdditiveFunction((Term("attribute(brand)", term.shape),)))
    (found,) = vespa([expression_of(profile)], [{"attribute(brand)": text or ""} for text in texts])
    assert found == pytest.approx(term.shape(texts), rel=1e-9, abs=1e-9)
