"""Linear RankRLS rankers that learn and forget queries exactly."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from rankwise.columns.unknown import unknown_categories, with_categories
from rankwise.errors import DataError, ParameterError, warn_caller
from rankwise.model.history import Origin
from rankwise.model.model import FormMoments, FormProfile, given
from rankwise.model.models import save_model
from rankwise.model.outcome import Outcome
from rankwise.rankers.base import Ranker
from rankwise.rankers.rows_of_fit import SampledRows
from rankwise.rankers.signs import certificate_of_signs, signs_of_weights
from rankwise.ridge.closed_form import PrimalFamily
from rankwise.ridge.moments.forming import moments_of
from rankwise.ridge.moments.moment_family import MomentFamily
from rankwise.ridge.moments.moments import Moments
from rankwise.ridge.moments.quadratic import Quadratic
from rankwise.ridge.moments.updating import forgotten, with_features
from rankwise.ridge.signed import moment_family
from rankwise.scoring.functions import LinearFunction
from rankwise.types import Floats, Ints, Solver, Ties, Weighting
from rankwise.validation import Problem, check_fitted, check_flag


def has_primal_solver(ranker: Updatable) -> bool:
    """Whether the parameters allow updates; as in scikit-learn, there are no methods for them otherwise."""
    if ranker.solver in (Solver.DUAL, Solver.CG):
        raise AttributeError(f"Updates need solver='primal', 'closed' or 'auto'; got {ranker.solver!r}.")
    return True


class Updatable(Ranker):
    """A linear RankRLS ranker with moments, to which queries can be added, and from which removed."""

    solver: str
    monotonic_cst: Any

    __metadata_request__partial_fit = {"qid": True, "sample_weight": True}  # noqa: RUF012

    @property
    def moments_(self) -> Moments:
        """The sufficient statistics of the data, for updates; computed when first needed."""
        moments = self.model_.moments
        if moments is None:
            raise AttributeError(f"This {type(self).__name__} has no moments.")
        return moments

    @available_if(has_primal_solver)  # type: ignore[untyped-decorator]
    def forget(
        self,
        X: Any,
        y: Any = None,
        qid: ArrayLike | Iterable[Hashable] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Forget whole queries: the model is then that of a fit to the others, up to `coef_error_`.

        Give rows, labels and weights as they were learned, in any order. What was never learned is refused,
        as is forgetting so much that rounding errors would be as large as what is left.
        """
        check_fitted(self)
        moments = self._moments_to_update()
        assert moments is not None
        problem, _ = self._check_batch(X, y, qid, sample_weight, multi_output=moments.b.ndim == 2)
        self._adopt(forgotten(moments, problem), self._kept_outcome(), refuse_noise=True)
        return self

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        moments: bool = True,
        note: str | None = None,
        results: Any = None,
        data: Any = None,
        date: bool = True,
    ) -> None:
        """Save the fitted model to a file, which `rankwise.load_model` reads, with its model card.

        Parameters
        ----------
        path : path
            Written under a temporary name and moved into place.
        moments : bool, default=True
            Whether the file holds the moments, half a matrix of n × n features. Without them, the loaded
            model cannot be updated.
        note, results, data, date : optional
            For the card, as in the other rankers: text; an `Evaluation` on test data, or several by part of
            the data; the files that were learned; False to leave out when.
        """
        check_fitted(self)
        known = {"note": note, "results": results, "data": data, "date": date}
        model = self.model_ if check_flag("moments", moments) else self.model_.without_moments()
        save_model(model, path, model.documented(**known))

    @abstractmethod
    def _alpha_to_use(self) -> float:
        """The alpha of the model after an update."""

    def _kept_outcome(self) -> Outcome:
        """What an update leaves as it is of what is known of the model."""
        return Outcome()

    def _moments_to_update(self) -> Moments | None:
        """The moments of a fitted model; None before the first fit."""
        if self._row_settings.beta > 0.0:
            raise ParameterError(
                "Updates need across_queries=0: moments hold sums within queries; fit all rows again."
            )
        if not self.__sklearn_is_fitted__():
            return None
        moments = self.model_.moments
        if moments is None:
            raise DataError(
                f"This model has no moments to update: fits with the solver '{self.solver_}', to pairs or to "
                f"several targets with ties dropped keep none; fit it to labels with solver='primal'."
            )
        return moments

    def _check_batch(
        self, X: Any, y: Any, qid: Any, sample_weight: Any, **options: Any
    ) -> tuple[Problem, SampledRows | None]:
        """Check rows to learn or forget, which must have the features of those learned before, if any.

        Some of the rows are what describes the columns of a batch, unless it is the first.
        """
        if not self.__sklearn_is_fitted__():
            return self._read(X, y, qid, sample_weight, **options), None
        # What was constant within queries may vary in others.
        self._rows = replace(self._rows, inputs=replace(self._inputs, context=()))
        problem, table = self._inputs.problem(X, y, qid, sample_weight, **options)
        return problem, SampledRows.of(problem.X, problem.y, problem.queries, table, batch=True)

    @contextmanager
    def _knowing_categories(self, X: Any, add: bool) -> Iterator[None]:
        """Give categories of X that the model does not know a feature each, and take it back by an error."""
        if not check_flag("add_categories", add) or not self.__sklearn_is_fitted__():
            yield
            return
        encoding, moments = self._inputs.encoding, self._moments_to_update()
        if encoding is None or moments is None:
            raise ParameterError("add_categories=True needs a ranker with columns; this one takes features.")
        table = encoding.table(X).matched(list(encoding.codes), encoding.labels)
        unknown = unknown_categories(encoding, table)
        wider, at = with_categories(encoding, unknown)
        before = self._rows, self.model_
        weights = np.zeros(wider.n_features)
        weights[at] = self.model_.of_features.weights  # of one target, as columns have
        learned = with_features(moments, at, tuple(wider.feature_names))
        self._rows = replace(self._rows, inputs=replace(self._inputs, encoding=wider))
        self._set_model(
            replace(
                self.model_,
                of_features=LinearFunction(weights),
                encoding=wider,
                form_moments=partial(given, learned),
            )
        )
        try:
            yield
        except BaseException:
            self._rows, self.model_ = before
            raise

    def _form_profile_with(
        self, batch: SampledRows | None, share: float, function: LinearFunction
    ) -> FormProfile | None:
        """What describes the columns of all rows, of which the batch has this share."""
        form = self.model_.form_profile if self.__sklearn_is_fitted__() else self._rows.form_profile(function)
        if batch is None or form is None:
            return form
        known, new = form(), batch.profile(self._inputs, function)
        return None if known is None or new is None else partial(given, known.mixed(new, share))

    def _adopt(
        self,
        moments: Moments,
        known: Outcome,
        batch: SampledRows | None = None,
        *,
        refuse_noise: bool = False,
        method: str = "partial_fit",
    ) -> None:
        """Set the model that the moments give; `known` is what they do not say, `method` made the first."""
        alpha = self._alpha_to_use() if known.best is None else float(known.best["alpha"])
        if moments.open_queries:
            raise DataError(
                f"Query {moments.open_queries.names()} is still open; add its remaining rows, "
                "then call close() on the moments."
            )
        family = self._family_of(moments)
        found = family.solve(np.array([alpha]))
        (coef,) = found.coef
        error = family.error_bound(alpha, coef)
        if refuse_noise and not np.isfinite(error):
            raise DataError(
                "The rounding errors of all updates would be as large as what is left to learn from; "
                "fit the model to the remaining queries, or choose a larger alpha."
            )
        if not found.is_resolved.all():
            warn_caller(
                f"XᵀLX is so ill-conditioned that a model from moments loses digits at alpha = {alpha:g} "
                f"that a fit to all rows keeps; choose a larger alpha, or fit to all rows."
            )
        self.__dict__.pop("_families", None)
        outcome = replace(known, solver=str(Solver.PRIMAL), coef_error=error)
        outcome = self._certified(outcome, moments.quadratic, alpha, coef)
        seen = moments.n_rows, moments.n_queries if moments.has_qid else None
        is_update = self.__sklearn_is_fitted__()
        origin = self._rows.origin.updated(*seen) if is_update else Origin.now(*seen, method=method)
        self._rows = replace(self._rows, origin=origin)
        share = 1.0 if batch is None else batch.of_rows / moments.n_rows
        function = LinearFunction(coef)
        profile = self._form_profile_with(batch, share, function)
        formed = partial(given, moments)
        self._become(self._rows.model(function, outcome, form_moments=formed, form_profile=profile))

    def _moments_formed_later(
        self, problem: Problem, family: Any, loss: tuple[Ties, Weighting]
    ) -> FormMoments | None:
        """Forms what updates of a model need; None if it cannot be updated."""
        if not isinstance(family, PrimalFamily) or problem.across_queries > 0.0:
            return None
        inputs, quadratic = self._inputs, family.quadratic
        return lambda: moments_of(problem, *loss, inputs.weight_names, quadratic=quadratic)

    def _family_of(self, moments: Moments) -> MomentFamily:
        """The models that moments give."""
        quadratic = moments.quadratic
        return moment_family(quadratic, self._signs(quadratic.constant.size))

    def _signs(self, n_targets: int = 1) -> Ints | None:
        """The sign of each weight; None if weights may have any."""
        if self.monotonic_cst is None:
            return None
        if n_targets > 1:
            raise ParameterError(f"monotonic_cst supports one target; y has {n_targets}.")
        return signs_of_weights(self.monotonic_cst, self._inputs)

    def _certified(self, outcome: Outcome, quadratic: Quadratic, alpha: float, coef: Floats) -> Outcome:
        """What is known of a model, and what its signs led to."""
        signs = self._signs()
        if signs is None:
            return outcome
        return replace(outcome, **certificate_of_signs(signs, self._inputs, quadratic, alpha, coef))
