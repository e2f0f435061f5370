"""Why one row is above another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise.types import AnyArray, Floats


@dataclass(frozen=True, repr=False)
class Explanation:
    """The difference between the scores of two rows as an exact sum of contributions.

    Attributes
    ----------
    difference : float
        Score of row i minus score of row j.
    contributions : Floats, shape (p,)
        The contribution of each feature (or, for kernels, of each basis vector); they sum to the difference.
    names : array of str, shape (p,)
    probability : float or None
        The probability that row i is judged above row j, given that their labels differ; None if the model
        has no calibration.
    """

    difference: float
    contributions: Floats
    names: AnyArray
    probability: float | None = None

    def top(self, k: int = 10) -> list[tuple[str, float]]:
        """Return the k contributions with the largest magnitude, largest first."""
        order = np.argsort(-np.abs(self.contributions), kind="stable")[:k]
        return [(str(self.names[c]), float(self.contributions[c])) for c in order]

    def __repr__(self) -> str:
        largest = [f"{name} {value:+.4g}" for name, value in self.top(3)]
        others = ["..."] if len(self.contributions) > len(largest) else []
        return f"Explanation({self.difference:+.4g}: {', '.join(largest + others)})"

    def __str__(self) -> str:
        lines = [f"score difference {self.difference:+.6g}"]
        if self.probability is not None:
            lines[0] += f", probability {self.probability:.3f} of being judged above"
        top = self.top()
        width = max(len(name) for name, _ in top)
        lines += [f"  {name:<{width}}  {value:+.6g}" for name, value in top]
        rest = len(self.contributions) - len(top)
        if rest:
            others = float(self.contributions.sum()) - sum(value for _, value in top)
            lines.append(f"  {rest} others  {others:+.6g}")
        return "\n".join(lines)
