"""Team-draft interleaving of two rankers, and the test of which of them users prefer."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from rankwise.clicks.log_checks import check_flags
from rankwise.clicks.sign_test import share_interval, sign_test_p, units_to_detect
from rankwise.errors import DataError, ParameterError, warn_caller
from rankwise.preferences.queries import group_rows, is_missing
from rankwise.rendering import counted, text_table
from rankwise.types import AnyArray, Ints, RandomSource
from rankwise.validation import check_column, check_count, check_random_state

Document = TypeVar("Document", bound=Hashable)

# A fair draft shows as unequal numbers of results this rarely.
_UNFAIR = 0.001
TEAMS_HEADER = ("team", "wins", "share of wins", "low", "high")


def team_draft(
    a: Iterable[Document],
    b: Iterable[Document],
    n: int | None = None,
    *,
    random_state: RandomSource = None,
) -> list[tuple[Document, str | None]]:
    """Interleave two rankings of a query, so that clicks tell which one users prefer.

    In each round, a coin decides which ranking goes first, and each adds its best result that is not yet in
    the list; that result then plays for its team (Radlinski, Kurup and Joachims, "How does clickthrough data
    reflect retrieval quality?", 2008). Both teams are therefore equally likely at every position, and users
    without a preference click both equally often, even if they favour the top. O(n).

    Results that cannot distinguish the rankings have no team: those above the first difference, which have
    the same rank in both, and those after the end of the shorter ranking.

    Parameters
    ----------
    a, b : iterable of hashables
        Documents by name, the best first.
    n : int, optional
        The number of results to show; by default, as many as the longer ranking has.
    random_state : int, RandomState, Generator or None, default=None
        The source of the coin tosses. Toss anew whenever a list is shown: with a fixed seed, or one list per
        query, a team could be on top for all users of a popular query.

    Returns
    -------
    list of (document, team)
        The team is "a", "b" or None. Log all of them, clicked or not, for `interleaving_test`.

    See Also
    --------
    interleaving_test : Which ranking users prefer.
    make_interleaved_log : Simulate users of two rankers.

    Examples
    --------
    >>> from rankwise.clicks import team_draft
    >>> team_draft(["d1", "d2", "d3", "d4"], ["d1", "d4", "d2", "d5"], random_state=0)
    [('d1', None), ('d4', 'b'), ('d2', 'a'), ('d5', 'b')]
    """
    n = None if n is None else check_count("n", n)
    rankings = {"a": _ranking("a", a, n), "b": _ranking("b", b, n)}
    lengths = [len(ranking) for ranking in rankings.values()]
    n_shown = min(len({*rankings["a"], *rankings["b"]}), n or max(lengths))
    rng = check_random_state("random_state", random_state)
    agreed = takewhile(lambda pair: pair[0] == pair[1], zip(*rankings.values(), strict=False))
    drafted: dict[Document, str | None] = dict.fromkeys(first for first, _ in agreed)
    # While the list is shorter than either ranking, both have a result to add, whatever the coins say.
    rest = {team: iter(ranking) for team, ranking in rankings.items()}
    while len(drafted) < n_shown:
        for team in ("ab", "ba")[int(rng.integers(2))]:
            best = next((document for document in rest[team] if document not in drafted), None)
            if best is not None and len(drafted) < n_shown:
                drafted[best] = team if len(drafted) < min(lengths) else None
    return list(drafted.items())


def _ranking(name: str, documents: Iterable[Document], n: int | None) -> list[Document]:
    """The best documents of a ranking, which are all that a list of n can show."""
    if isinstance(documents, str) or not isinstance(documents, Iterable):
        raise ParameterError(f"The '{name}' parameter must be a list of documents; got {documents!r:.80}.")
    ranking = list(islice(documents, n))
    if not all(isinstance(document, Hashable) and document is not None for document in ranking):
        raise DataError(f"{name} must hold the names of documents; it has lists or None.")
    if len({*ranking}) < len(ranking):
        twice = next(document for at, document in enumerate(ranking) if document in ranking[:at])
        raise DataError(f"{name} has the document {twice!r} more than once.")
    return ranking


@dataclass(frozen=True)
class InterleavingTest:
    """The result of `interleaving_test`.

    Attributes
    ----------
    wins : dict of str to int
        The units that each team wins, because more of its results are clicked.
    ties : int
        The units that no team wins; most of them have no clicks.
    p_value : float
        Of the two-sided sign test: how likely the wins are to differ this much if users have no preference.
        Ties do not count.
    shares, intervals : dict
        The share of the wins of each team, and its exact 95 % confidence interval (Clopper and Pearson).

    See Also
    --------
    interleaving_test : Returns it.

    Examples
    --------
    >>> from rankwise.clicks import interleaving_test
    >>> unit, team = ["u1", "u1", "u2", "u2", "u3", "u3"], ["old", "new", "new", "old", "old", "new"]
    >>> result = interleaving_test(unit, team, [0, 1, 1, 0, 0, 0])
    >>> result.wins, result.ties, result.p_value
    ({'new': 2, 'old': 0}, 1, 0.5)
    >>> result.credits
    {'new': 0.8333333333333334, 'old': 0.16666666666666666}
    """

    wins: dict[str, int]
    ties: int
    p_value: float
    shares: dict[str, float]
    intervals: dict[str, tuple[float, float]]

    @property
    def n_units(self) -> int:
        """The number of units, won or tied."""
        return self.n_won + self.ties

    @property
    def n_won(self) -> int:
        """The number of units with a winner."""
        return sum(self.wins.values())

    @property
    def credits(self) -> dict[str, float]:
        """The share of all units that each team wins, with half of the ties for each.

        Subtract .5, and it is the Δ of Chapelle, Joachims, Radlinski and Yue, "Large-scale validation and
        analysis of interleaved search evaluation" (2012).
        """
        return {team: (wins + 0.5 * self.ties) / self.n_units for team, wins in self.wins.items()}

    def n_to_detect(self, share: float, *, power: float = 0.8) -> int:
        """How many units a test needs to find a preference, if as many of them have a winner as here.

        Parameters
        ----------
        share : float
            The share of the wins of the team that users prefer, above .5.
        power : float, default=0.8
            The probability with which the test, at 5 %, is to find it.
        """
        return units_to_detect(share, self.n_won / self.n_units, power)

    @property
    def rows(self) -> list[tuple[str, int, float, float, float]]:
        """Each team with its wins, their share, and the interval of that."""
        return [(team, wins, self.shares[team], *self.intervals[team]) for team, wins in self.wins.items()]

    def __str__(self) -> str:
        said = f"{counted(self.ties, 'tie')}; sign test: p = {self.p_value:.3g}"
        return f"{text_table(TEAMS_HEADER, self.rows)}\n{said}"


def interleaving_test(unit: ArrayLike, team: ArrayLike, clicked: ArrayLike) -> InterleavingTest:
    """Test which of two interleaved rankers users prefer; each array has one entry per result shown.

    The team with more clicked results wins a unit. If users have no preference, `team_draft` gives both teams
    the same chance to win, so the wins among units with a winner are those of a fair coin. O(results shown).

    Parameters
    ----------
    unit : array-like of hashables
        The independent unit of each result: the user if the log has several lists per user, otherwise the
        session or the list.
    team : array-like of str
        The team of the result, of exactly two; None, NaN or "" for results without one.
    clicked : array-like of bool, or of 0 and 1
        Whether it was clicked.

    Returns
    -------
    InterleavingTest

    Raises
    ------
    DataError
        If there are not two teams, or no result was clicked, or only clicks are in the log.

    Warns
    -----
    UserWarning
        If one team was shown more often than a draft explains, so that the test is not meaningful.

    See Also
    --------
    team_draft : Interleaves the rankings.
    make_interleaved_log : Simulate a log, to know how many sessions a test needs.

    Examples
    --------
    >>> from rankwise import make_search_data
    >>> from rankwise.clicks import interleaving_test, make_interleaved_log
    >>> data = make_search_data(100, random_state=0)
    >>> old, new = data.X[:, 0], data.X[:, 0] + data.X[:, 1]
    >>> log = make_interleaved_log(data, old, new, n_sessions=2000)
    >>> print(interleaving_test(log.session, log.team, log.clicked))
    team  wins  share of wins     low    high
    a      251         0.3369  0.3030  0.3721
    b      494         0.6631  0.6279  0.6970
    1,255 ties; sign test: p = 3.68e-19
    """
    flags = check_flags("clicked", clicked, np.size(clicked))
    n = len(flags)
    units = group_rows(_column("unit", unit, n), n, "unit").query_of_row()
    teams, side = _sides(_column("team", team, n))
    if not flags.any() or flags.all():
        have = "only clicks; results that were shown, but not clicked, belong" if flags.any() else "no clicks"
        raise DataError(f"clicked has {have}{' in the log, too' if flags.any() else ''}.")
    n_units = int(units.max()) + 1
    _check_fair(np.bincount(units, side, n_units), teams)
    margin = np.bincount(units, side * flags, n_units)
    wins = [int((margin < 0).sum()), int((margin > 0).sum())]
    n_won = sum(wins)
    return InterleavingTest(
        wins=dict(zip(teams, wins, strict=True)),
        ties=n_units - n_won,
        p_value=sign_test_p(*wins),
        shares={team: won / n_won if n_won else float("nan") for team, won in zip(teams, wins, strict=True)},
        intervals={team: share_interval(won, n_won) for team, won in zip(teams, wins, strict=True)},
    )


def _column(name: str, values: ArrayLike, n: int) -> AnyArray:
    array = check_column(name, values)
    if len(array) != n:
        raise DataError(f"{name} must have one entry per entry of clicked: expected {n}, got {len(array)}.")
    return array


def _sides(team: AnyArray) -> tuple[list[str], Ints]:
    """The names of the teams, and of each result −1 for the first, 1 for the second and 0 for neither."""
    labels = ["" if is_missing(label) else str(label) for label in team.tolist()]
    names = sorted({*labels} - {""})
    if len(names) != 2:
        found = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
        raise DataError(f"team must name two teams; found {found or 'none'}.")
    number = {names[0]: -1, names[1]: 1}
    return names, np.array([number.get(label, 0) for label in labels])


def _check_fair(surplus: AnyArray, teams: list[str]) -> None:
    """Warn if one team was shown more often than the other in more units than coins explain."""
    more = [int((surplus < 0).sum()), int((surplus > 0).sum())]
    if sign_test_p(*more) < _UNFAIR:
        warn_caller(
            f"Team {teams[0]!r} has more results in {more[0]:,} units, {teams[1]!r} in {more[1]:,}, which is "
            "not what a draft gives: either the lists were not drafted, or results are missing from the "
            "log. The test is not valid."
        )
