"""Why one row is above another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import Any, TypeAlias

import numpy as np

from rankwise.columns.inputs import Inputs
from rankwise.errors import DataError
from rankwise.rendering import counted, html_table
from rankwise.scoring.additive import AdditiveFunction
from rankwise.scoring.calibration import Calibration
from rankwise.scoring.functions import ExpansionOfColumns, KernelExpansion, ScoringFunction
from rankwise.types import AnyArray, Floats

# The values of columns in two rows, as text.
Values: TypeAlias = list[tuple[str, str]]


@dataclass(frozen=True, repr=False)
class Explanation:
    """The difference between the scores of two rows as an exact sum of contributions.

    Attributes
    ----------
    difference : float
        Score of row i minus score of row j.
    contributions : Floats, shape (p,)
        The contribution of each feature, each column of a table or, for kernels, each basis vector; they sum
        to the difference.
    names : array of str, shape (p,)
        The name of each feature or column.
    probability : float or None
        The probability that row i is judged above row j, given that their labels differ; None if the model
        has no calibration.
    values : list of (str, str) or None
        The values of the columns of a table in the two rows; None for features.

    See Also
    --------
    rankwise.RankRLSCV : Its method `explain`, like that of every ranker, returns explanations.
    rankwise.make_report : A page with explanations of any two rows of a query.

    Examples
    --------
    >>> import rankwise
    >>> movies = rankwise.load_movies()
    >>> model = rankwise.RankRLSCV().fit(movies)
    >>> first, second = model.rank(movies.X, movies.qid)[:2]
    >>> print(model.explain(movies.X, first, second))
    score difference +0.03272, probability 0.519 of being judged above
      rating    +0.11191
      votes     -0.06089
      year      -0.02030
      minutes   +0.00201
      3 others  +0.00000
    """

    difference: float
    contributions: Floats
    names: AnyArray
    probability: float | None = None
    values: Values | None = None

    def top(self, k: int = 10) -> list[tuple[str, float]]:
        """Return the k contributions with the largest magnitude, largest first."""
        return [(str(self.names[c]), float(self.contributions[c])) for c in self._largest(k)]

    def _largest(self, k: int = 10) -> list[int]:
        order: list[int] = np.argsort(-np.abs(self.contributions), kind="stable")[:k].tolist()
        return order

    def _label(self, c: int) -> str:
        """What contributes, with its values: ``price 19.9 vs 24.5``."""
        return str(self.names[c]) if self.values is None else f"{self.names[c]} {' vs '.join(self.values[c])}"

    def __repr__(self) -> str:
        largest = [f"{self._label(c)} ({self.contributions[c]:+.4g})" for c in self._largest(3)]
        others = ["..."] if len(self.contributions) > len(largest) else []
        return f"Explanation({self.difference:+.4g}: {', '.join(largest + others)})"

    def __str__(self) -> str:
        used, others = self._used()
        lines = [(self._label(c), float(self.contributions[c])) for c in used] + others
        width = max((len(label) for label, _ in lines), default=0)
        return "\n".join(
            [self._headline(), *(f"  {label:<{width}}  {self._number(value)}" for label, value in lines)]
        )

    def _repr_html_(self) -> str:
        used, others = self._used()
        header = ["", *(() if self.values is None else ("row i", "row j")), "contributes"]
        rows = [[str(self.names[c]), *self._values(c), self._number(self.contributions[c])] for c in used]
        rows += [[label, *([""] * (len(header) - 2)), self._number(value)] for label, value in others]
        return f"<p>{escape(self._headline())}</p>{html_table(header, rows)}"

    def _number(self, value: float) -> str:
        """A number with as many decimals as all others, so that what is shown adds up."""
        largest = max(float(np.abs(self.contributions).max(initial=0.0)), abs(self.difference))
        decimals = 4 - math.floor(math.log10(largest)) if largest > 0.0 else 4
        return f"{value:+.{max(decimals, 0)}f}"

    def _headline(self) -> str:
        headline = f"score difference {self._number(self.difference)}"
        if self.probability is None:
            return headline
        return f"{headline}, probability {self.probability:.3f} of being judged above"

    def _values(self, c: int) -> tuple[str, ...]:
        return () if self.values is None else self.values[c]

    def _used(self) -> tuple[list[int], list[tuple[str, float]]]:
        """The largest contributions, and the sum of all others; those that are 0 are only counted."""
        used = [c for c in self._largest() if self.contributions[c] != 0.0]  # few, if features were chosen
        rest = np.delete(self.contributions, used)
        return used, [(counted(len(rest), "other"), float(rest.sum()))] if len(rest) else []


def explain(
    function: ScoringFunction, inputs: Inputs, rows: Any, ij: tuple[Any, Any], calibration: Calibration | None
) -> Explanation:
    """Explain the difference between the scores of two rows, as `function` takes them."""
    for name, row in zip("ij", ij, strict=True):
        if not isinstance(row, (int, np.integer)) or not 0 <= row < rows.shape[0]:
            raise DataError(f"{name} must be a row of X, 0 to {rows.shape[0] - 1}; got {row!r}.")
    pair = rows[list(ij)]
    names, values = inputs.weight_labels, None
    if isinstance(function, AdditiveFunction):
        names = np.array(function.names, dtype=object)
        values = function.shown_values(pair)
    elif isinstance(function, KernelExpansion | ExpansionOfColumns):
        of_features = function.expansion if isinstance(function, ExpansionOfColumns) else function
        _refuse_targets(of_features.coefficients)
        names = np.array([f"training row {row}" for row in of_features.indices], dtype=object)
    else:
        _refuse_targets(function.weights)
    contributions = function.difference(pair)
    difference = contributions.sum()
    probability = None if calibration is None else float(calibration.probability(difference))
    return Explanation(float(difference), contributions, names, probability, values)


def _refuse_targets(coefficients: Floats) -> None:
    if coefficients.ndim != 1:
        raise DataError(f"explain needs one score per row; this model predicts {len(coefficients)} targets.")
