"""Whether new rows are still like those that a model was trained on."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwise.auditing.drift_findings import ColumnDrift, Drift
from rankwise.auditing.quality_over_time import quality_over_time
from rankwise.auditing.stability import BinnedColumn, binned, chance_of_shift, stability_index
from rankwise.columns.codes import CategoryCode, Code
from rankwise.columns.effects import column_effects
from rankwise.columns.profile import ColumnProfile, Profile
from rankwise.columns.unknown import unknown_to
from rankwise.errors import DataError, ParameterError
from rankwise.metrics.named_measures import MeasureLike
from rankwise.metrics.significance import holm
from rankwise.model.data_scores import scaled_like
from rankwise.model.model import Model, model_of
from rankwise.preferences.queries import Queries, group_rows
from rankwise.rows.ranking import RankingData
from rankwise.rows.table import Table
from rankwise.types import AnyArray, Matrix, Reading, is_sparse
from rankwise.validation import check_column, check_rows, taken_apart

# So many unknown categories of a column are named.
MOST_NAMED = 5


def drift(
    model: Any,
    X: Any,
    y: ArrayLike | None = None,
    qid: ArrayLike | Iterable[Hashable] | None = None,
    *,
    time: ArrayLike | None = None,
    measure: MeasureLike = "ndcg@10",
) -> Drift:
    """Compare new rows with those that a model was trained on, column by column.

    A model keeps the deciles, frequencies and shares of missing values of its columns, from up to 16,384
    rows, and what each column adds to the scores; the training rows themselves are not needed.

    Parameters
    ----------
    model : ranker or Model
        A fitted ranker, or what `load_model` returns.
    X : array, CSR matrix, table or RankingData, shape (m, n)
        New rows with the columns of the model. A `RankingData` has its own labels and queries.
    y : array, shape (m,), optional
        Labels, for the quality over time.
    qid : sequence of hashables, optional
        The query of each row. Rows of a query are alike, so without queries, chance is underestimated.
    time : array of dates, shape (m,), optional
        When each row was seen. The quality is then measured by day, week or month; queries count where they
        are first seen.
    measure : str or Measure, default="ndcg@10"
        The measure of this quality.

    Returns
    -------
    Drift

    See Also
    --------
    audit : Judgments that may be wrong.

    Examples
    --------
    >>> from rankwise import RankRLS, drift, make_search_data
    >>> data = make_search_data(400, random_state=0)
    >>> old, new = data.split(0.5, random_state=0)
    >>> model = RankRLS().fit(old)
    >>> drift(model, new).shifted()
    []
    >>> X = new.X.copy()
    >>> X[:, 3] *= 100.0
    >>> drift(model, X, qid=new.qid).shifted() == [data.feature_names[3]]
    True
    """
    known = model_of(model)
    if known is None:
        raise ParameterError(f"drift needs a fitted ranker of rankwise; got {type(model).__name__}.")
    profile = _profile_of(known)
    if isinstance(X, RankingData):
        X = scaled_like(X, known.features)
    labels, qid, _ = taken_apart(X, y, qid)
    rows = _rows(known, X, qid)
    queries = group_rows(qid, rows.shape[0])
    columns = _compared(known, profile, rows, queries)
    quality = None
    if time is not None:
        if labels is None:
            raise DataError("The quality over time needs labels; got time without y.")
        judged = check_column("y", labels, rows.shape[0])
        quality = quality_over_time(judged, known.function.scores(rows), queries, time, measure)
    n_queries = None if qid is None else queries.n_queries
    return Drift(columns, rows.shape[0], n_queries, profile.n_rows, quality)


def _profile_of(model: Model) -> Profile:
    if model.profile is None:
        raise DataError(
            "The model does not say what its training rows were like: precomputed kernels, more than 4,096 "
            "columns, rows on a cluster, and versions before 0.2 leave no record. Fit and save it again."
        )
    return model.profile


def _rows(model: Model, X: Any, qid: Any) -> Any:
    """A matrix or a `Table`, as the function of the model takes it."""
    if model.encoding is None:
        return check_rows(X, who=model.class_name, like=model.features)
    return model.table(X, None if isinstance(X, RankingData) else qid)


def _compared(
    model: Model, profile: Profile, rows: Matrix | Table, queries: Queries
) -> dict[str, ColumnDrift]:
    codes = {} if model.encoding is None else model.encoding.codes
    added = _added(model, profile, rows, queries)
    by_column: Any = rows
    if model.encoding is not None:
        by_column = by_column.matched(list(codes), model.encoding.labels)
    elif is_sparse(rows):
        by_column = by_column.tocsc()
    found: dict[str, tuple[BinnedColumn, dict[str, float]]] = {}
    for place, (name, column) in enumerate(profile.columns.items()):
        code = codes.get(name)
        values = _values(by_column, name if isinstance(rows, Table) else place, column)
        found[name] = binned(column, values, code), _unknown(column, values, code)
    chances = holm([chance_of_shift(one, profile.n_rows, queries) for one, _ in found.values()])
    return {
        name: ColumnDrift(
            reading=str(column.reading),
            stability_index=stability_index(own),
            p_value=chance,
            missing=(column.missing, float(own.observed[-1])),
            new=own.share_of_new,
            unknown=unknown,
            **added.get(name, {}),
        )
        for (name, column), (own, unknown), chance in zip(
            profile.columns.items(), found.values(), chances, strict=True
        )
    }


def _values(rows: Any, column: Any, known: ColumnProfile) -> AnyArray:
    """The values of a column of a table by its name, or of a matrix by its place."""
    if isinstance(rows, Table):
        return rows.read(column, known.reading)
    if is_sparse(rows):
        return np.asarray(rows[:, [column]].toarray(), dtype=np.float64).ravel()
    return np.asarray(rows[:, column], dtype=np.float64)


def _unknown(known: ColumnProfile, values: AnyArray, code: Code | None) -> dict[str, float]:
    """The most frequent categories that the model does not know, with their shares of the rows."""
    if known.reading is not Reading.TEXT:
        return {}
    assert isinstance(code, CategoryCode)
    return {name: count / len(values) for name, count in unknown_to(code, values).most_common(MOST_NAMED)}


def _added(model: Model, profile: Profile, rows: Any, queries: Queries) -> dict[str, dict[str, Any]]:
    """What is known of what each column adds to the scores, before and now; nothing unless both are known."""
    weights = model.of_features.weights
    before = {name: (column.contribution, column.effect) for name, column in profile.columns.items()}
    if weights is None or weights.ndim != 1 or any(None in own for own in before.values()):
        return {}
    encoding = model.encoding
    X, shares, names = rows, None, model.features.labels
    if encoding is not None:
        X, shares, names = encoding.encode(rows), encoding.shares(), encoding.columns
    means, spreads = column_effects(X, queries.sizes, queries.order, weights, shares)
    now = dict(zip(names, zip(means.tolist(), spreads.tolist(), strict=True), strict=True))
    old, new = (np.array([of[name] for name in before], dtype=np.float64) for of in (before, now))
    spread = float(np.sqrt((old[:, 1] ** 2).sum()))
    totals = old[:, 1].sum(), new[:, 1].sum()
    if not (spread and all(totals)):
        return {}
    shifts = (new[:, 0] - old[:, 0]) / spread
    effects = zip((old[:, 1] / totals[0]).tolist(), (new[:, 1] / totals[1]).tolist(), strict=True)
    return {
        name: {"effect": effect, "score_shift": shift}
        for name, effect, shift in zip(before, effects, shifts.tolist(), strict=True)
    }
