"""What a ranker takes as rows, as its parameters say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from rankwise.columns.inputs import Inputs, read_preferences, read_problem
from rankwise.columns.interaction_specs import wanted_interactions
from rankwise.errors import ParameterError
from rankwise.model.model import Model
from rankwise.preferences.pairs import Pairs
from rankwise.rankers.signs import columns_with_sign
from rankwise.selection.interaction_search import with_wanted_interactions
from rankwise.types import Matrix
from rankwise.validation import Problem


@dataclass(frozen=True)
class RowSettings:
    """The parameters of a ranker on which it depends how X is read; a ranker need not have all of them.

    Attributes
    ----------
    who : str
        The class of the ranker.
    parts : bool
        Whether it takes rows that other processes hold.
    columns, interactions, kernel, monotonic_cst
        Its parameters of these names.
    """

    who: str
    parts: bool
    columns: Any = None
    interactions: Any = None
    kernel: Any = "linear"
    monotonic_cst: Any = None

    @classmethod
    def of(cls, ranker: Any, parts: bool) -> Self:
        names = ("columns", "interactions", "kernel", "monotonic_cst")
        given = {name: getattr(ranker, name) for name in names if hasattr(ranker, name)}
        if given.get("columns") is None and given.get("interactions") is not None:
            given["columns"] = "spline"  # interactions need functions of each column beside them
        return cls(type(ranker).__name__, parts, **given)

    @property
    def takes_kernel_values(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def adds_columns_up(self) -> bool:
        """Whether scores are sums over columns, in which what is constant within queries cancels out."""
        return isinstance(self.kernel, str) and self.kernel == "linear" and self.interactions is None

    def read(self, X: Any, y: Any, qid: Any, sample_weight: Any, **options: Any) -> tuple[Problem, Inputs]:
        """Check the arguments of `fit`, and search for interactions if that is wanted."""
        problem, inputs = read_problem(
            X, y, qid, sample_weight, additive=self.adds_columns_up, **self._how(), **options
        )
        if inputs.encoding is None:
            return problem, inputs
        signed = columns_with_sign(self.monotonic_cst, inputs.encoding)
        return with_wanted_interactions(problem, inputs, X, wanted_interactions(self.interactions), signed)

    def read_preferences(
        self, X: Any, pairs: Any, magnitude: Any, weight: Any
    ) -> tuple[Matrix, Pairs, Inputs]:
        """Check the arguments of `fit_preferences`."""
        return read_preferences(X, pairs, magnitude, weight, **self._how())

    def inputs_of(self, model: Model) -> Inputs:
        """The rows that a model takes, which was found by a ranker with these parameters."""
        context = tuple(model.outcome.context_columns or ())
        sparse = not self.takes_kernel_values
        return Inputs(model.class_name, model.features, model.encoding, sparse, context)

    def tag(self, tags: Any) -> None:
        """Say which rows the ranker takes, as scikit-learn does in tags."""
        tags.pairwise = self.takes_kernel_values
        tags.sparse = not tags.pairwise and self.columns is None
        if self.columns is not None:
            tags.allow_nan = tags.string = tags.categorical = True

    def _how(self) -> dict[str, Any]:
        if self.takes_kernel_values and self.columns is not None:
            raise ParameterError(
                f"With kernel='precomputed', X holds kernel values, so columns must be None; "
                f"got {self.columns!r}."
            )
        return {
            "who": self.who,
            "sparse": not self.takes_kernel_values,
            "columns": self.columns,
            "interactions": self.interactions,
            "parts": self.parts,
        }
