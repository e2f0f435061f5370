"""Simulated users of a search engine, who look mostly at the top of the list and click what they like."""

from __future__ import annotations

import numpy as np

from rankwise.errors import DataError
from rankwise.rows.ranking import RankingData
from rankwise.types import Bools, Floats, Ints
from rankwise.validation import check_kind, check_number


class Users:
    """The position-based click model, with a click probability of an examined row that grows with its grade.

    Position k is examined with probability ``k ** -position_bias``; an examined row of grade g is clicked
    with probability ``click_noise + (1 - click_noise) (2^g - 1) / (2^g_max - 1)``.
    """

    def __init__(self, data: RankingData, position_bias: float, click_noise: float) -> None:
        self.position_bias = check_number("position_bias", position_bias, minimum=0.0)
        noise = check_number("click_noise", click_noise, minimum=0.0, maximum=1.0)
        grades = check_kind("data", data, RankingData).y
        if grades.min() < 0:
            raise DataError(
                "Simulating clicks requires non-negative grades, but the data has negative labels."
            )
        self.n_queries = data.queries.n_queries
        gain = np.exp2(grades) - 1
        self._attraction: Floats = noise + (1 - noise) * (gain / max(gain.max(), 1.0))

    def queries(self, n_sessions: int, rng: np.random.Generator) -> Ints:
        """The query of each session, by number; some are far more frequent than others."""
        fame = 1.0 / (1.0 + rng.permutation(self.n_queries))
        return rng.choice(self.n_queries, size=n_sessions, p=fame / fame.sum())

    def look(self, position: Ints) -> Floats:
        """The probability that a position is examined."""
        return position.astype(np.float64) ** -self.position_bias

    def click(self, row: Ints, position: Ints, rng: np.random.Generator) -> Bools:
        """Which of these rows are clicked at these positions."""
        clicked: Bools = rng.random(len(row)) < self.look(position) * self._attraction[row]
        return clicked
