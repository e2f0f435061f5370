"""What a session begins with: nothing but rows, or a model and the queries that it learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankwise.columns.choosing_codes import fit_encoding
from rankwise.columns.encoding import Encoding
from rankwise.columns.specs import compares_rows
from rankwise.errors import DataError
from rankwise.features import Features
from rankwise.judging.collection import Collection
from rankwise.judging.live_model import LiveModel, Loss
from rankwise.model.data_scores import must_scale_for
from rankwise.model.history import Origin
from rankwise.model.model import Model
from rankwise.model.outcome import Outcome
from rankwise.ridge.moments.forming import digests_of
from rankwise.ridge.moments.learned import NeverLearnedError
from rankwise.ridge.moments.moments import Moments
from rankwise.ridge.moments.quadratic import Quadratic
from rankwise.ridge.moments.updating import forgotten
from rankwise.ridge.teaching import wanted_differences
from rankwise.rows.documents import names_of
from rankwise.rows.ranking import RankingData
from rankwise.rows.table import Table
from rankwise.scoring.functions import LinearFunction
from rankwise.types import AnyArray, Matrix, Solver
from rankwise.validation import Problem, check_read_rows


@dataclass(frozen=True, eq=False)
class Start:
    """Rows to judge, the model before the first judgment, and what it learned of these rows.

    Attributes
    ----------
    collection : Collection
    model : LiveModel
    features : Features
    encoding : Encoding or None
        As in `Model`.
    columns, interactions
        The parameters of `RankRLS` that led to the encoding.
    grades : dict of int to float
        The grade of each row that was learned before.
    """

    collection: Collection
    model: LiveModel
    features: Features
    encoding: Encoding | None = None
    columns: Any = None
    interactions: Any = None
    grades: Mapping[int, float] = field(default_factory=dict)

    def fitted(self, live: LiveModel) -> Model:
        """The live model as one that can be saved, and used like any other."""
        from rankwise.rankers.rankrls import RankRLS  # with scikit-learn, which nothing else here needs

        ties, weighting = str(live.loss.ties), str(live.loss.weighting)
        ranker = RankRLS(
            live.alpha,
            solver=str(Solver.PRIMAL),
            ties=ties,
            weighting=weighting,
            columns=self.columns,
            interactions=self.interactions,
        )
        return Model(
            "RankRLS",
            LinearFunction(live.coef),
            self.features,
            self.encoding,
            parameters=ranker.get_params(deep=False),
            outcome=Outcome(solver=str(Solver.PRIMAL)),
            origin=Origin.now(len(live.said), None, method="judge"),
        )


def start_without_model(
    data: RankingData, columns: Any = None, alpha: float | None = None, *, shown: Mapping[str, Sequence[str]]
) -> Start:
    """Begin with rows alone: the first preferences make the first model.

    Parameters
    ----------
    data : RankingData
        With query and document labels. Its own labels are not looked at.
    columns : optional
        What the columns of a table become, as in `RankRLS`.
    alpha : float, optional
        By default the variance of all features within queries, added up: as if features were expected to
        explain half of the variance of grades, before anything is known of them.
    shown : dict of str to sequence of str
        What raters see of each row.
    """
    names_of(data)  # raises
    encoding = None
    if isinstance(data.X, Table):
        queries = data.queries if compares_rows(columns) else None
        encoding = fit_encoding(data.X, columns, queries)
    X = _features(data, encoding)
    if alpha is None:
        alpha = float(np.trace(wanted_differences(X, data.queries))) / data.n_rows
        if not alpha > 0.0:
            raise DataError("No two documents of a query differ in any feature, so nothing can be learned.")
    features = data.features if encoding is None else encoding.features
    collection = Collection(X, data, shown, _columns_of(features, encoding))
    chosen = None if encoding is None else columns
    return Start(collection, LiveModel(Loss(X), alpha), features, encoding, columns=chosen)


def start_with_model(data: RankingData, model: Model, *, shown: Mapping[str, Sequence[str]]) -> Start:
    """Begin with a model that has moments.

    If it learned queries of these rows, their labels are judgments like those to come, which replace them.
    """
    names_of(data)
    moments = model.moments
    if moments is None:
        raise DataError(
            "The model has no moments to learn more from; train it with --learner rankrls "
            "--set solver=primal."
        )
    if moments.b.ndim > 1:
        raise DataError("The model has several targets, but judgments have one.")
    if model.parameters.get("monotonic_cst") is not None:
        raise DataError("The model has monotonic_cst, which judging does not support.")
    if must_scale_for(model, data):
        data = data.scale_per_query()
    X = _features(data, model.encoding)
    base, learned = _apart(moments, Problem(X, data.y, data.queries, data.sample_weight))
    collection = Collection(X, data, shown, _columns_of(model.features, model.encoding))
    live = LiveModel(Loss(X, moments.ties, moments.weighting), model.alpha, base)
    grades = {int(row): float(data.y[row]) for row in np.flatnonzero(learned)}
    encoded = {name: model.parameters.get(name) for name in ("columns", "interactions")}
    return Start(collection, live, model.features, model.encoding, **encoded, grades=grades)


def _features(data: RankingData, encoding: Encoding | None) -> Matrix:
    if encoding is not None:
        return encoding.encode(encoding.table(data.X, data.qid))
    return check_read_rows(data.X, finite=True)


def _columns_of(features: Features, encoding: Encoding | None) -> AnyArray:
    """The column, or the pair of columns, that each feature comes from."""
    if encoding is None:
        return np.array(features.labels, dtype=object)
    names = [name for name, code in encoding.codes.items() for _ in range(code.width)]
    names += [code.name for code in encoding.interactions for _ in range(code.width)]
    return np.array(names, dtype=object)


def _apart(moments: Moments, problem: Problem) -> tuple[Quadratic | None, AnyArray]:
    """What was learned from other queries, None if nothing was, and which of these rows were learned."""
    labels, contents = digests_of(problem, moments.learned.places)
    known = np.isin(labels, moments.learned.labels)
    learned = known[problem.queries.query_of_row()]
    if not known.any():
        return moments.quadratic, learned
    try:
        positions = moments.learned.find(labels[known], contents[known])
    except NeverLearnedError as error:
        assert problem.queries.labels is not None
        name = problem.queries.labels[known][error.at]
        raise DataError(
            f"The model learned the query {name} with other rows, labels or weights, so these cannot be "
            f"judged again; judge other queries, or train the model again."
        ) from None
    if len(positions) == len(moments.learned):
        return None, learned
    own = problem.select(np.flatnonzero(learned))
    return forgotten(moments, own).quadratic, learned
