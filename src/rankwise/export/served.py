"""The function that a fitted ranker, alone or at the end of a pipeline, computes from raw features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankwise.errors import DataError, ParameterError, did_you_mean
from rankwise.export.engine_scores import ROUNDING, Values
from rankwise.export.pipeline_steps import affine, is_marked, passes_through
from rankwise.features import JudgedRows
from rankwise.model.model import Model, model_of
from rankwise.rows.scaling import scale_per_query
from rankwise.scoring.additive import AdditiveFunction, Term
from rankwise.scoring.functions import ExpansionOfColumns, KernelExpansion, LinearFunction
from rankwise.scoring.shapes import Line
from rankwise.types import Bools, Floats, Matrix
from rankwise.validation import check_kind, check_matrix, check_read_rows

# Formats that see all rows of a query.
COMPARING = ("sql", "sqlite")


@dataclass(frozen=True)
class ScaledModel:
    """A model f behind the scalers of a pipeline, if any: ``f(factor * x + shift)``.

    The features x are raw, or scaled to [0, 1] within their query.

    Attributes
    ----------
    model : Model
        The model f.
    coef : Floats or None, shape (n,) or (k, n)
        Its weights; None if it is not linear.
    factor, shift : Floats, shape (n,)
    scaled_per_query : bool
    n_features : int
    feature_names : list of str or None
        The names before any pipeline step.
    """

    model: Model
    coef: Floats | None
    factor: Floats
    shift: Floats
    scaled_per_query: bool
    n_features: int
    feature_names: list[str] | None

    def weights(self, form: str) -> Floats:
        """The weight of each raw feature in the one score of a row; refused for models that have none."""
        coef, function = self.coef, self.model.function
        if isinstance(function, AdditiveFunction):
            pairs = [f"the interaction {one.name}" for one in function.interactions]
            raise ParameterError(
                f"The '{form}' format holds weights of numbered features, but this model has "
                f"{[*pairs, 'functions of columns'][0]}; export it to 'onnx', 'sql', 'sqlite', 'vespa', "
                "'elasticsearch-script' or 'solr-function'."
            )
        if isinstance(function, KernelExpansion) and coef is None:
            raise ParameterError(
                f"The '{form}' format supports only linear models, but this {self.model.class_name} has "
                f"kernel={function.kernel_parameter!r}; export it to 'onnx' or train a linear model."
            )
        assert coef is not None
        if coef.ndim != 1:
            raise DataError(
                f"The '{form}' format supports one score per row, but this model predicts {len(coef)} "
                "targets."
            )
        if self.scaled_per_query:
            raise DataError(
                f"The model was trained on features scaled within each query, which the '{form}' format does "
                "not support; export it to 'onnx' or train on raw features."
            )
        return coef * self.factor

    def as_columns(self, form: str) -> AdditiveFunction:
        """The score as a sum over named columns; in a model of features, each is a straight line."""
        function = self.model.function
        if isinstance(function, AdditiveFunction):
            if self.model.compares_rows and form not in COMPARING:
                name = next(term.name for term in function.terms if term.shape.reading.is_relative)
                raise ParameterError(
                    f"The '{form}' format scores documents one by one, but the {name} depends on the other "
                    f"documents of the query; export to {' or '.join(map(repr, COMPARING))}, or score with "
                    f"rankwise."
                )
            encoding, weights = self.model.encoding, self.model.of_features.weights
            assert encoding is not None
            assert weights is not None
            return self._renamed(encoding.function(_above_rounding(weights)))
        slopes = np.where(self._is_rounding(), 0.0, self.weights(form)).tolist()
        lines = zip(self._names(), zero_of(self.factor, self.shift).tolist(), slopes, strict=True)
        return AdditiveFunction(tuple(Term(name, Line(at, 0.0, slope, np.nan)) for name, at, slope in lines))

    def _is_rounding(self) -> Bools:
        """Which features add nothing but rounding errors: those that were constant in training.

        The profile is that of a sample, in which a rare value may be missing. Then the weight is larger, or
        the feature is 0 in the whole sample.
        """
        known = set(self.model.outcome.context_columns or ())
        found: Bools = np.array([self.model.features.label(c) in known for c in range(self.n_features)])
        profiles = [] if self.model.profile is None else list(self.model.profile.columns.values())
        effects = [one.effect for one in profiles if one.effect is not None]
        if self.coef is None or len(effects) < self.n_features:
            return found
        largest = np.array([np.abs(one.quantiles).max(initial=0.0) for one in profiles])
        size = np.abs(self.coef) * largest
        found |= (size > 0.0) & (size <= ROUNDING * max(effects))
        return found

    def _renamed(self, function: AdditiveFunction) -> AdditiveFunction:
        renamed = dict(zip(_columns_of(self.model), self._names(), strict=True))
        return AdditiveFunction(
            tuple(Term(renamed[term.column], term.shape) for term in function.terms),
            interactions=tuple(one.renamed(renamed) for one in function.interactions),
        )

    def _names(self) -> list[str]:
        if self.feature_names is None:
            raise ParameterError(
                "The model has no feature names; export the whole pipeline if it is the last step of one, or "
                "pass feature_names (--features)."
            )
        return self.feature_names

    def rows(self, X: Any) -> Matrix:
        """Raw features, checked."""
        rows = check_read_rows(X.X) if isinstance(X, JudgedRows) else check_matrix(X)
        if rows.shape[1] != self.n_features:
            raise DataError(f"X has {rows.shape[1]} features, but the model has {self.n_features}.")
        return rows

    def scores(self, raw: Floats) -> Floats:
        """The scores of rows, of one query if they are scaled within it, as `predict` computes them."""
        function = self.model.function
        assert isinstance(function, LinearFunction | KernelExpansion)
        rows = dense_rows(scale_per_query(raw)) if self.scaled_per_query else raw
        return function.scores(self.factor * rows + self.shift)

    def values(self, X: Any, qid: Any = None) -> Values:
        """The values of the columns in rows."""
        function = self.model.function
        if isinstance(function, AdditiveFunction):
            table = self.model.table(X, None if isinstance(X, JudgedRows) else qid)
            table = table.matched([term.column for term in function.terms], function.labels)
            pairs = zip(function.terms, self._renamed(function).terms, strict=True)
            return {named.column: table.read(term.column, term.shape.reading) for term, named in pairs}
        rows = self.rows(X)
        columns = (dense_rows(rows[:, [c]]).ravel() for c in range(self.n_features))
        return dict(zip(self._names(), columns, strict=True))


def dense_rows(rows: Matrix) -> Floats:
    """Rows as a dense array of float64."""
    return np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray(), dtype=np.float64)


def _above_rounding(weights: Floats) -> Floats:
    """Weights of encoded columns, whose features are all on one scale, without those that are rounding."""
    size = np.abs(weights)
    return np.where(size > ROUNDING * size.max(initial=0.0), weights, 0.0)


def _columns_of(model: Model) -> Sequence[str]:
    """What a model calls the columns of a table, in their order."""
    assert isinstance(model.function, AdditiveFunction)
    return model.function.labels or model.feature_names or []


def as_served(model: Any, feature_names: Sequence[str] | Mapping[str, str] | None = None) -> ScaledModel:
    """Decompose a ranker, or a pipeline of scalers ending in one; `feature_names` renames its features."""
    steps = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    *scalers, ranker = [step for step in steps[:-1] if not passes_through(step)] + steps[-1:]
    learned = model_of(ranker)
    if learned is None:
        raise ParameterError(f"Only rankwise rankers can be exported; got {type(ranker).__name__}.")
    if isinstance(learned.function, ExpansionOfColumns):
        raise ParameterError(
            f"This {learned.class_name} mixes the columns that it encodes by kernel="
            f"{learned.function.expansion.kernel_parameter!r}, which no format can express; export a "
            "linear ranker with columns or, to 'onnx', a kernel ranker of the features that a "
            "ColumnEncoder makes."
        )
    known = learned.feature_names if model is ranker else getattr(model, "feature_names_in_", None)
    if scalers and is_marked(scalers[0], "_encodes_columns"):
        encoder, *scalers = scalers
        learned = _of_columns(encoder, scalers, learned)
    if isinstance(feature_names, Mapping):
        feature_names = _renamed(known, feature_names)
    return _decomposed(scalers, learned, known if feature_names is None else feature_names)


def _renamed(known: Iterable[str] | None, names: Mapping[str, str]) -> list[str]:
    own = [] if known is None else list(known)
    for name in names:
        if name not in own:
            raise ParameterError(f"The model has no feature {name!r} to rename{did_you_mean(name, own)}")
    return [names.get(name, name) for name in own]


def _of_columns(encoder: Any, between: Sequence[Any], model: Model) -> Model:
    """The model of features that a `ColumnEncoder` makes, as a function of its columns."""
    weights = model.function.weights
    if between or weights is None or weights.ndim != 1:
        raise ParameterError(
            "A ColumnEncoder can be exported only with a linear ranker of one target right behind it."
        )
    encoding = encoder.encoding_
    return replace(model, of_features=LinearFunction(weights), features=encoding.features, encoding=encoding)


def _decomposed(scalers: Sequence[Any], model: Model, names: Sequence[str] | None) -> ScaledModel:
    n_features = model.n_features
    factor, shift = np.ones(n_features), np.zeros(n_features)
    scaled = bool(model.scaled_per_query)
    if scalers and isinstance(model.function, AdditiveFunction):
        raise ParameterError(
            f"The step {type(scalers[0]).__name__} before a ranker with columns cannot be exported; such a "
            "ranker standardizes its columns itself."
        )
    for step in scalers:
        if is_marked(step, "_scales_inside_queries"):
            # This undoes any previous factors and shifts.
            scaled, factor, shift = True, np.ones(n_features), np.zeros(n_features)
        else:
            by, to = affine(step)
            factor, shift = factor * by, shift * by + to
    weights = model.function.weights
    return ScaledModel(
        model=model,
        coef=None if weights is None else np.asarray(weights, dtype=np.float64),
        factor=factor,
        shift=shift,
        scaled_per_query=scaled,
        n_features=n_features,
        feature_names=_checked_names(names, n_features),
    )


def _checked_names(known: Sequence[str] | None, n_features: int) -> list[str] | None:
    if known is None:
        return None
    names = [str(name) for name in check_kind("feature_names", known, Iterable)]
    if len(names) != n_features:
        raise ParameterError(f"feature_names must hold {n_features} names; got {len(names)}.")
    if len(set(names)) != len(names):
        raise ParameterError("feature_names must be distinct.")
    return names


def zero_of(factor: Floats, shift: Floats) -> Floats:
    """Where ``factor * x + shift`` is 0; 0 where it is constant."""
    return np.divide(-shift, factor, out=np.zeros_like(shift), where=factor != 0.0)
