"""What a report compares: anything that scores the judged rows, and what is known about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwise.errors import DataError, ParameterError
from rankwise.features import Features
from rankwise.model.data_scores import must_scale_for, score_data, with_numbers
from rankwise.model.model import Model, model_of
from rankwise.operators.blocks import dense
from rankwise.preferences.queries import one_query
from rankwise.report.peers import PeerModel, arranged, peer_model
from rankwise.rows.documents import rows_by_name
from rankwise.rows.ranking import RankingData
from rankwise.rows.scaling import scale_grouped
from rankwise.scoring.additive import AdditiveFunction
from rankwise.trec import Run
from rankwise.types import Floats, Ints, Matrix
from rankwise.validation.arrays import check_scores


@dataclass(frozen=True, eq=False)
class Terms:
    """Scores as sums over columns.

    Attributes
    ----------
    columns : list of str
        The names of the terms.
    sources : list of int
        The column of the data that each term is a function of; −1 if it is none.
    of_rows : callable
        Maps all rows of a query, and the positions of h of them, to an array of shape (h, n_columns) whose
        rows differ by as much as the scores do, term by term: what they have in common may be left out.
    is_slow : bool
        Whether a row takes about a millisecond, as with trees.
    """

    columns: list[str]
    sources: list[int]
    of_rows: Callable[[Ints, Ints], Floats]
    is_slow: bool = False


@dataclass(frozen=True, eq=False)
class Entrant:
    """Scores of the judged rows, and what is known of the ranker that gave them.

    Attributes
    ----------
    name : str
    kind : str
        The class of a model, or "scores" or "run".
    scores : Floats, shape (m,)
        Masked where a row was not retrieved.
    terms : Terms or None
        None where the scores are not sums over columns.
    model : Model or None
        None for rankers that are not of rankwise.
    n_unknown : int
        The number of documents of a run that are not among the rows.
    """

    name: str
    kind: str
    scores: Floats
    terms: Terms | None = None
    model: Model | None = None
    n_unknown: int = 0


def entrant(name: str, ranker: Any, judged: RankingData) -> Entrant:
    """Score the judged rows by a ranker.

    Parameters
    ----------
    name : str
    ranker : object
        A fitted rankwise ranker or a `Model`; a model of LightGBM or XGBoost; a run as from
        `rankwise.trec.load_run`; one score per row; or any object with a method `predict`.
    judged : RankingData
    """
    try:
        return _scored(name, ranker, judged)
    except DataError as error:
        raise DataError(f"'{name}': {error}") from error


def _scored(name: str, ranker: Any, judged: RankingData) -> Entrant:
    if isinstance(ranker, Mapping):
        run, n_unknown = scores_of_run(ranker, judged)
        return Entrant(name, "run", run, n_unknown=n_unknown)
    model = model_of(ranker)
    if model is not None:
        return _of_model(name, model, judged)
    peer = peer_model(ranker)
    if peer is not None:
        return _of_peer(name, peer, _with_features(judged))
    if hasattr(ranker, "predict"):
        scores = check_scores(ranker.predict(with_numbers(_with_features(judged)).X), len(judged.y))
        return Entrant(name, type(ranker).__name__, scores)
    if np.ndim(ranker) != 1:
        raise ParameterError(
            f"'{name}' must be a fitted ranker, a run or one score per row; got {type(ranker).__name__}."
        )
    # Masked scores are rows that were not retrieved.
    if isinstance(ranker, np.ma.MaskedArray):
        return Entrant(name, "run", ranker)
    return Entrant(name, "scores", check_scores(ranker, len(judged.y)))


def _with_features(judged: RankingData) -> RankingData:
    if not judged.n_features:
        raise DataError("a model needs features, but the data has only the names of rows.")
    return judged


def _of_peer(name: str, peer: PeerModel, data: RankingData) -> Entrant:
    sources = peer.sources(data)
    X = arranged(with_numbers(data).X, sources)
    features = data.features
    columns = peer.names or [features.label(k) if k >= 0 else "none" for k in sources]
    terms = Terms(columns, sources, lambda rows, shown: peer.contributions(X[rows[shown]]), is_slow=True)
    return Entrant(name, peer.kind, peer.scores(X), terms)


def _of_model(name: str, model: Model, judged: RankingData) -> Entrant:
    data = _with_features(judged)
    if model.encoding is None:
        data = with_numbers(data, model.feature_names)
    scores = score_data(model, data)
    if scores.ndim != 1:
        raise DataError(f"the model predicts {scores.shape[1]} targets; a report needs one score per row.")
    known = model.features.numbered_from
    numbered = data.numbered_from if known is None else known
    features = Features(model.features.names or data.feature_names, numbered)
    labels = [features.label(k) for k in range(model.n_features)]
    places = {feature: k for k, feature in enumerate(judged.feature_names or ())}
    sources = [places.get(label, k) for k, label in enumerate(labels)]
    terms = _terms_of(model, data, labels, sources)
    return Entrant(name, model.class_name, scores, terms, model)


def _terms_of(model: Model, data: RankingData, labels: list[str], sources: list[int]) -> Terms | None:
    """The contributions of columns: weights times values, or functions of values; None for kernels."""
    function = model.function
    if isinstance(function, AdditiveFunction):
        table = model.table(data)
        used = [sources[labels.index(term.column)] for term in function.terms]
        used += [-1] * len(function.interactions)
        return Terms(function.names, used, lambda rows, shown: function.contributions(table[rows[shown]]))
    weights = function.weights
    if weights is None:
        return None
    scaled = must_scale_for(model, data)
    return Terms(
        labels,
        sources,
        lambda rows, shown: weights * _from_first(data.X[rows], scaled)[shown],
    )


def _from_first(X: Matrix, scaled: bool) -> Floats:
    """The rows of a query, measured from the first: far from zero, products with weights would cancel."""
    if scaled:
        X = scale_grouped(X, one_query(X.shape[0]))
    rows = dense(X)
    return rows - rows[:1]


def scores_of_run(run: Run, data: RankingData) -> tuple[np.ma.MaskedArray[Any, np.dtype[np.float64]], int]:
    """The scores of a run, masked where it did not retrieve a document, and how many others it did."""
    known, n_unknown = rows_by_name(data), 0
    scores = np.full(data.n_rows, np.nan)
    for qid, docs in run.items():
        for doc, score in docs.items():
            rows = known.get((qid, doc), [])
            scores[rows] = score
            n_unknown += not rows
    if np.isnan(scores).all():
        raise DataError("the run and the data share no document of a query.")
    return np.ma.masked_invalid(scores), n_unknown
