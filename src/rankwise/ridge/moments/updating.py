"""Learning and forgetting whole queries, with messages that name them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankwise.errors import DataError
from rankwise.ridge.moments.combining import AlreadyLearnedError
from rankwise.ridge.moments.forming import digests_of, moments_of
from rankwise.ridge.moments.learned import NeverLearnedError
from rankwise.ridge.moments.moments import Moments
from rankwise.ridge.moments.open_queries import OpenQueries
from rankwise.types import Ints, Ties, Weighting
from rankwise.validation import Problem


def learned_too(
    moments: Moments | None,
    problem: Problem,
    ties: Ties,
    weighting: Weighting,
    feature_names: tuple[str, ...] | None,
) -> Moments:
    """The moments with those of more queries."""
    places = None if moments is None else moments.learned.places
    batch = moments_of(problem, ties, weighting, feature_names, places=places)
    if moments is None:
        return batch
    try:
        return moments + batch
    except AlreadyLearnedError as error:
        labels, _ = digests_of(problem)
        name = _label(problem, int(np.isin(labels, error.labels).argmax()))
        raise DataError(
            f"Query {name} was learned before, so it would count twice; forget its old rows first, or give "
            f"it another label."
        ) from None


def forgotten(moments: Moments, problem: Problem) -> Moments:
    """The moments without those of some queries, which count as much as they do now."""
    try:
        positions = moments.learned.find(*digests_of(problem, moments.learned.places))
    except NeverLearnedError as error:
        raise DataError(
            f"Query {_label(problem, error.at)} {error.reason}, so it cannot be forgotten."
        ) from None
    if len(positions) == len(moments.learned):
        raise DataError("These are all queries that the model has learned, so nothing would be left.")
    counted = replace(problem, query_weight=moments.learned.weights[positions])
    known = moments.ties, moments.weighting, moments.feature_names
    return moments - moments_of(counted, *known, places=moments.learned.places)


def with_features(moments: Moments, at: Ints, feature_names: tuple[str, ...]) -> Moments:
    """The moments of the same rows with more features, all of which are 0 in them; O(n²).

    Parameters
    ----------
    moments : Moments
        Without open queries.
    at : Ints
        Where the features are among all.
    feature_names : tuple of str
        The names of all features.
    """
    assert not moments.open_queries
    return replace(
        moments,
        quadratic=moments.quadratic.with_features(at, len(feature_names)),
        learned=moments.learned.with_features(at, len(feature_names)),
        feature_names=feature_names,
        open_queries=OpenQueries.none(),
    )


def _label(problem: Problem, query: int) -> str:
    labels = problem.queries.labels
    return "without a qid" if labels is None else str(labels[query])
