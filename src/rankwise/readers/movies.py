"""A small data set to try things on, with titles and queries that a person can judge."""

from __future__ import annotations

from pathlib import Path

from rankwise.readers.tables import load_table
from rankwise.rows.ranking import RankingData

PATH = Path(__file__).with_name("movies.csv")


def load_movies() -> RankingData:
    """Load a small film search for experiments: 94 queries with ten films each, graded from 0 to 4.

    The features are the matches of title and plot with the words of the query, whether the query names the
    genre, and the rating, votes, year and length of the film. The label of a query is its text, that of a
    document its title. The films are invented, and the grades are simulated (``examples/make_movies.py``).

    Returns
    -------
    RankingData

    See Also
    --------
    make_search_data : A simulated shop search of any size.

    Examples
    --------
    >>> import rankwise
    >>> movies = rankwise.load_movies()
    >>> movies
    RankingData(940 rows, 94 queries, 7 features (float64), labels 0 to 4)
    >>> print(movies.qid[0], "|", movies.docs[0], "|", movies.y[0])
    lighthouse storm | The Lighthouse Keeper's Debt | 4.0
    """
    return load_table(PATH, label="grade", qid="query", doc="title")
