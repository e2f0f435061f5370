"""A fitted model: all that a ranker has learned, without scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Self, TypeAlias, TypeVar

from rankwise.columns.encoding import Encoding
from rankwise.columns.profile import Profile
from rankwise.errors import DataError
from rankwise.features import Features, matrix_of
from rankwise.model.history import History, Origin, documented
from rankwise.model.outcome import Outcome
from rankwise.ridge.moments.moments import Moments
from rankwise.rows.table import Table
from rankwise.scoring.calibration import Calibration
from rankwise.scoring.functions import (
    ExpansionOfColumns,
    FeatureFunction,
    KernelExpansion,
    ScoringFunction,
    checked_scores,
)
from rankwise.types import Floats, is_sparse
from rankwise.validation import check_fitted, check_read_rows

_Formed = TypeVar("_Formed")
FormMoments: TypeAlias = Callable[[], Moments]
FormProfile: TypeAlias = Callable[[], Profile | None]


@dataclass(frozen=True, eq=False)
class Model:
    """A function, the features that it takes, how sure it is, and how it was made.

    Rankers have one as ``model_``, and files hold one; exports, reports and commands take nothing else.

    Attributes
    ----------
    class_name : str
        The class of the ranker that made it.
    of_features : LinearFunction or KernelExpansion
        The function that was learned, of the matrix that solvers see.
    features : Features
        The columns of the rows that it takes.
    encoding : Encoding or None
        What the columns of a table become; None if they are features already.
    calibration : Calibration or None
        How sure differences of scores are; None if that is not known.
    parameters : mapping
        The parameters of the ranker, by name.
    outcome : Outcome
        What else fitting found out.
    origin : Origin
        The version of rankwise that made it, and how much data it was made of.
    form_moments : callable or None
        Returns the moments that the model can be updated from; None if it cannot.
    form_profile : callable or None
        Returns how the columns of the training rows are distributed; None if that is not known.
    """

    class_name: str
    of_features: FeatureFunction
    features: Features
    encoding: Encoding | None = None
    calibration: Calibration | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    outcome: Outcome = field(default_factory=Outcome)
    origin: Origin = field(default_factory=Origin)
    form_moments: FormMoments | None = None
    form_profile: FormProfile | None = None

    @cached_property
    def function(self) -> ScoringFunction:
        """The function that scores rows: of features or, if they are encoded from columns, of these."""
        if self.encoding is None:
            return self.of_features
        weights = self.of_features.weights
        if weights is not None:
            return self.encoding.function(weights)
        assert isinstance(self.of_features, KernelExpansion)
        return ExpansionOfColumns(self.encoding.encode, self.of_features)

    @cached_property
    def moments(self) -> Moments | None:
        """Formed when first needed: the digests of all rows take a tenth of the time of a fit."""
        return None if self.form_moments is None else self.form_moments()

    @cached_property
    def profile(self) -> Profile | None:
        """Formed when first needed: sorting columns takes as long as a small fit."""
        return None if self.form_profile is None else self.form_profile()

    def without_moments(self) -> Self:
        return replace(self, form_moments=None)

    def documented(self, **known: Any) -> History:
        """The history of the model with a note, results and files of data, or without dates."""
        return documented(self.origin.history, **known)

    @property
    def n_features(self) -> int:
        assert self.features.count is not None
        return self.features.count

    @property
    def feature_names(self) -> list[str] | None:
        return None if self.features.names is None else list(self.features.names)

    @property
    def scaled_per_query(self) -> bool | None:
        """Whether it was trained on features scaled within each query; None if that is not known."""
        return self.features.scaled_per_query

    @property
    def choice(self) -> Mapping[str, Any]:
        """The parameters, with the values that a search chose."""
        return {**self.parameters, **(self.outcome.best or {})}

    @property
    def alpha(self) -> float:
        """The alpha of the model, given or chosen."""
        chosen = self.outcome.alpha
        return float(self.choice["alpha"] if chosen is None else chosen)

    @property
    def takes_interactions(self) -> bool:
        """Whether it has interactions of columns, or such were searched for."""
        encoding = self.encoding
        return encoding is not None and (encoding.search is not None or bool(encoding.interactions))

    @property
    def compares_rows(self) -> bool:
        """Whether the score of a row depends on the other rows of its query."""
        return self.encoding is not None and self.encoding.compares_rows

    def table(self, X: Any, qid: Any = None) -> Table:
        """Rows as the function of a model with an encoding takes them; a data set stands for qid as well."""
        assert self.encoding is not None
        return self.encoding.table(X, qid)

    def predict(self, X: Any, qid: Any = None) -> Floats:
        """Return the scores of rows as `rankwise.readers` reads them, bit for bit those of the ranker.

        X may be a data set, which is scored as it is; `score_data` checks its features as well. Only a model
        that compares rows needs qid.
        """
        if self.encoding is not None:
            return checked_scores(self.function, lambda _: self.table(X, qid))
        X = matrix_of(X)
        if is_sparse(X) and not self.of_features.takes_sparse:
            # In scikit-learn's words, which the rankers pass on.
            raise DataError(
                "Sparse data was passed for X, but dense data is required. Use '.toarray()' to convert to a "
                "dense numpy array."
            )
        return checked_scores(self.of_features, partial(check_read_rows, X))

    def __getstate__(self) -> dict[str, Any]:
        """With moments and profile themselves: the rows that they are formed from stay in this process."""
        state = dict(vars(self))
        if self.moments is not None:
            state["form_moments"] = partial(given, self.moments)
        return state | {"form_profile": partial(given, self.profile)}


def given(formed: _Formed) -> _Formed:
    return formed


def model_of(ranker: Any) -> Model | None:
    """The model of a fitted ranker, or a model itself; None for anything else."""
    if isinstance(ranker, Model):
        return ranker
    if hasattr(type(ranker), "_schema"):  # of a ranker, which this slice cannot import
        check_fitted(ranker)
    found = getattr(ranker, "model_", None)
    return found if isinstance(found, Model) else None
