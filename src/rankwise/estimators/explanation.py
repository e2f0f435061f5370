"""Why one row stands above another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise.types import AnyArray, Floats


@dataclass(frozen=True)
class Explanation:
    """The difference of two rows' scores as an exact sum of contributions.

    Attributes
    ----------
    difference : float
        Score of row i minus score of row j.
    contributions : Floats, shape (p,)
        What each feature (or, for kernels, each basis vector) adds to the difference; they sum to it.
    names : array of str, shape (p,)
    """

    difference: float
    contributions: Floats
    names: AnyArray

    def top(self, k: int = 10) -> list[tuple[str, float]]:
        """The k largest contributions in size, largest first."""
        order = np.argsort(-np.abs(self.contributions), kind="stable")[:k]
        return [(str(self.names[c]), float(self.contributions[c])) for c in order]

    def __str__(self) -> str:
        lines = [f"score difference {self.difference:+.6g}"]
        top = self.top()
        width = max(len(name) for name, _ in top)
        lines += [f"  {name:<{width}}  {value:+.6g}" for name, value in top]
        rest = len(self.contributions) - len(top)
        if rest:
            others = float(self.contributions.sum()) - sum(value for _, value in top)
            lines.append(f"  {rest} others  {others:+.6g}")
        return "\n".join(lines)
