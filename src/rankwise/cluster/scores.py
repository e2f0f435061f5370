"""Scores of rows in parts, which stay where the rows are until they are asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwise.cluster.engine import Parts
from rankwise.model.model import Model
from rankwise.types import Floats
from rankwise.validation import Problem


@dataclass(frozen=True, eq=False)
class PartedScores:
    """The scores of a model, computed part by part when they are needed.

    Attributes
    ----------
    parts : Parts of Problem
    model : Model
    """

    parts: Parts
    model: Model

    def by_part(self) -> list[Floats]:
        """The scores of each part, in the order of its rows."""
        return self.parts.each(scores_of, self.model)

    def compute(self) -> Floats:
        """The scores of all rows, in the order of the parts and of the rows in them."""
        return np.concatenate(self.by_part())

    def __repr__(self) -> str:
        return f"PartedScores({self.model.class_name}, {self.parts.n_parts:,} parts)"


def scores_of(problem: Problem, model: Model) -> Floats:
    """The scores of a part."""
    return model.predict(problem.X)
