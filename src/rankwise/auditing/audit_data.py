"""Judgments to check again, and other things that may be wrong with judged data."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import clone

from rankwise.auditing.checks import (
    constant_features,
    contradictory_duplicates,
    fractions_ordered,
    queries_without_pairs,
)
from rankwise.auditing.findings import Audit, Describer, RevealingFeature
from rankwise.auditing.suspects import (
    contradicted_pairs,
    label_probabilities,
    suspect_judgments,
)
from rankwise.errors import ContextWarning, DataError, ParameterError
from rankwise.preferences.queries import Queries, group_rows
from rankwise.rankers.rankrls_cv import RankRLSCV
from rankwise.rankers.search_ranker import SearchRanker
from rankwise.raters.joining import pooled_rows
from rankwise.rows.ranking import RankingData
from rankwise.rows.ratings import Ratings
from rankwise.rows.table import Table, table_of
from rankwise.selection.folding import draw_folds
from rankwise.validation import check_count, check_number, taken_apart


def audit(
    X: Any,
    y: ArrayLike | None = None,
    qid: ArrayLike | Iterable[Hashable] | None = None,
    *,
    ranker: SearchRanker | None = None,
    n_suspects: int = 20,
    reveals: float = 0.99,
    ratings: Ratings | None = None,
) -> Audit:
    """Find judgments worth a second look, and suspicious features and queries.

    Scores every query with a model trained on the others, and lists the rows and pairs whose labels these
    scores make improbable. They are not necessarily wrong: the judge may have known something that the model
    does not.

    Parameters
    ----------
    X : array or CSR matrix, shape (m, n), table or RankingData
        A `RankingData` has its own labels, queries and names of documents and features, and may have weights,
        which count in training. Tables with columns of any kind need a ranker with `columns`; the search for
        features that reveal the label then examines the encoded features.
    y : array, shape (m,)
        Labels of any real value; higher is better.
    qid : sequence of hashables, optional
        The query of each row, in any order; None means one global ranking, from which folds of rows are left
        out.
    ranker : RankRLSCV, KernelRankRLSCV or RankSVMCV, optional
        The ranker that scores left-out queries, `RankRLSCV` by default. It is cloned.
    n_suspects : int, default=20
        The largest number of rows, and of pairs, to list.
    reveals : float, default=0.99
        A feature is listed if it orders at least this fraction of the pairs with different labels on its own.
    ratings : Ratings, optional
        Judgments by several raters of documents in X, which must then be a `RankingData` with document names.
        Labels are pooled from them, and single judgments are audited as well; rows without a judgment are
        dropped.

    Returns
    -------
    Audit

    Examples
    --------
    >>> import numpy as np
    >>> from rankwise import audit, make_search_data
    >>> data = make_search_data(60, random_state=0).scale_per_query()
    >>> y = data.y.copy()
    >>> worst = np.flatnonzero(y == 0)[17]
    >>> y[worst] = 4
    >>> found = audit(data.X, y, data.qid)
    >>> bool(worst in [suspect.row for suspect in found.rows])
    True
    """
    columns, (y, qid, _) = getattr(ranker, "columns", None), taken_apart(X, y, qid)
    if not isinstance(X, RankingData):
        if y is None:
            raise DataError("audit needs the labels y, unless X is a RankingData.")
        X = RankingData.from_arrays(X if columns is None else table_of(X), y, qid)
    if ranker is None:
        ranker = RankRLSCV()
    elif not isinstance(ranker, SearchRanker):
        raise ParameterError(
            f"The 'ranker' parameter must be a ranker that leaves out queries, such as RankRLSCV; "
            f"got {ranker!r}."
        )
    ranker = clone(ranker)
    if isinstance(X.X, Table) and columns is None:
        ranker.set_params(columns="auto")
    if ratings is not None:
        X, ratings = pooled_rows(X, ratings)
    return _audit(X, ranker, n_suspects, reveals, ratings)


def _audit(
    data: RankingData, ranker: SearchRanker, n_suspects: int, reveals: float, ratings: Ratings | None
) -> Audit:
    n_suspects = check_count("n_suspects", n_suspects)
    reveals = check_number("reveals", reveals, minimum=0.5, maximum=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContextWarning)  # the audit lists them
        model, compared = _left_out(ranker, data)
    constant = constant_features(data)
    if isinstance(data.X, Table):
        X = model.encoding_.encode(model.model_.table(data))
        features = replace(data.features, names=tuple(model.encoding_.feature_names))
        data = replace(data, X=X, features=features)
    calibration = getattr(model, "calibration_", None)
    scores = model.left_out_scores_
    log_odds = scores * (0.0 if calibration is None else calibration.slope)
    name = data.features.label
    describe = Describer(data, scores)
    probability, too_high = label_probabilities(log_odds, data.y, compared)
    least = [] if calibration is None else np.argsort(probability, kind="stable")[:n_suspects].tolist()
    pairs = contradicted_pairs(log_odds, data.y, compared, n_suspects)
    return Audit(
        rows=tuple(
            describe.row(row, too_high[row], probability[row]) for row in least if probability[row] < 0.5
        ),
        pairs=tuple(describe.pair(*pair, expit(log_odds[pair[0]] - log_odds[pair[1]])) for pair in pairs),
        duplicates=tuple(map(describe.duplicate, *contradictory_duplicates(data))),
        empty_queries=tuple(map(describe.empty_query, queries_without_pairs(data))),
        constant_features=tuple(constant),
        context_features=tuple(feature for feature, is_context in constant.items() if is_context),
        revealing_features=tuple(
            RevealingFeature(
                name(feature), "higher is better" if share > 0.0 else "lower is better", abs(share)
            )
            for feature, share in fractions_ordered(data, reveals).items()
        ),
        n_rows=data.n_rows,
        n_queries=data.n_queries,
        calibration=calibration,
        judgments=()
        if ratings is None
        else suspect_judgments(ratings, scores, data.queries.query_of_row(), n_suspects),
    )


def _left_out(ranker: SearchRanker, data: RankingData) -> tuple[SearchRanker, Queries]:
    """A ranker fitted to the data, and which of its left-out scores can be compared: those of one model."""
    if data.n_queries > 1:
        return ranker.fit(data), data.queries
    folds = draw_folds(ranker.cv, data.y, data.queries)
    everything = np.arange(data.n_rows)
    ranker.cv = [(np.setdiff1d(everything, held), held) for held in folds.held]
    return ranker.fit(data), group_rows(folds.compared, data.n_rows)
