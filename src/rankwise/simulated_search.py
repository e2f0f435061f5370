"""A simulated search engine, whose judged rows have the strengths and flaws of real ones."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, TypeVar, overload

import numpy as np

from rankwise.clicks.log import ClickLog
from rankwise.clicks.simulation import make_click_log
from rankwise.rows.ranking import RankingData
from rankwise.types import Floats, Ints, RandomSource
from rankwise.validation import check_count, check_flag, check_number, check_random_state

# The share of rows with each grade, 0 to 4, over all queries.
_GRADE_SHARES = (0.52, 0.22, 0.14, 0.08, 0.04)
_N_CATEGORIES = 12
# Each is indexed separately, and a word that is rare in one need not be rare in another.
_FIELDS = ("title", "body", "anchor", "embedding")


@dataclass(frozen=True)
class _Queries:
    """Properties of queries; one entry per query along the last axis."""

    size: Ints
    category: Ints
    n_words: Ints
    rarity: Floats  # of its words in each of _FIELDS, standardized; the long tail has rare words
    intent: Floats  # how much its users want to buy, from 0 to 1
    supply: Floats  # how good the documents are that it retrieves


@dataclass(frozen=True)
class _Documents:
    """Properties of documents, independent of the query; one entry per document."""

    category: Ints
    authority: Floats
    log_price: Floats  # standardized within the category
    age_days: Floats
    inlinks: Ints
    rating: Floats
    spam: Floats
    length: Floats
    title_length: Ints
    url_depth: Ints
    in_stock: Ints


Table = TypeVar("Table", _Queries, _Documents)


def _take(table: Table, entries: Ints) -> Table:
    return type(table)(**{field.name: getattr(table, field.name)[..., entries] for field in fields(table)})


@overload
def make_search_data(
    n_queries: int = ...,
    *,
    mean_rows: float = ...,
    noise: float = ...,
    habits: float = ...,
    random_state: RandomSource = ...,
    clicks: Literal[False] = False,
) -> RankingData: ...


@overload
def make_search_data(
    n_queries: int = ...,
    *,
    mean_rows: float = ...,
    noise: float = ...,
    habits: float = ...,
    random_state: RandomSource = ...,
    clicks: Literal[True],
) -> tuple[RankingData, ClickLog]: ...


def make_search_data(
    n_queries: int = 200,
    *,
    mean_rows: float = 20.0,
    noise: float = 1.0,
    habits: float = 0.0,
    random_state: RandomSource = 0,
    clicks: bool = False,
) -> RankingData | tuple[RankingData, ClickLog]:
    """Simulate the judgment list of a shop's search engine.

    Users in different categories issue head and tail queries, the engine retrieves documents of the query's
    category from one catalogue, and judges grade them from 0 to 4. As in real judgment lists,

    - features are skewed, correlated, partly redundant and partly irrelevant, and some are constant within a
      query;
    - the level of a feature depends on the query as much as on the document: rare words raise every BM25
      score of a query, an expensive category raises every price, and judges find fewer good results in the
      long tail. What is better *within* a query may thus look worse *across* queries, which is why rankers
      learn from differences within queries;
    - queries differ in size, a few have only one row, and a few have no relevant rows.

    Parameters
    ----------
    n_queries : int, default=200
        The number of queries.
    mean_rows : float, default=20
        The mean number of rows per query.
    noise : float, default=1
        How much the judges disagree; with 0, grades are a function of document and query.
    habits : float, default=0
        How much users avoid unusual documents: prices far from those of the category, and titles and texts
        that are long or short. A linear function of the features cannot express that.
    random_state : int, RandomState, Generator or None, default=0
        The same integer gives bit-identical data.
    clicks : bool, default=False
        Whether to also return a click log of the simulated engine (`rankwise.clicks.make_click_log`, 20
        sessions per query on average, with an engine that ranks by ``title_bm25 + body_bm25``).

    Returns
    -------
    RankingData, or (RankingData, ClickLog) if `clicks`
        ``qid`` counts from 1, ``docs`` are strings, and ``feature_names`` describe the columns.

    Examples
    --------
    >>> from rankwise import make_search_data
    >>> data = make_search_data(50, random_state=0)
    >>> data
    RankingData(995 rows, 50 queries, 22 features (float64), labels 0 to 4)
    >>> data.feature_names[:3]
    ('title_bm25', 'body_bm25', 'anchor_bm25')
    """
    n_queries = check_count("n_queries", n_queries)
    mean_rows = check_number("mean_rows", mean_rows, minimum=1.0)
    noise = check_number("noise", noise, minimum=0.0)
    habits = check_number("habits", habits, minimum=0.0)
    rng = check_random_state("random_state", random_state)
    queries = _draw_queries(rng, n_queries, mean_rows)
    documents = _draw_documents(
        rng, int(max(4 * _N_CATEGORIES * queries.size.max(), queries.size.sum() // 4))
    )
    query = np.repeat(np.arange(n_queries), queries.size)
    doc = _retrieve(rng, queries, documents)
    asked, shown = _take(queries, query), _take(documents, doc)
    match = rng.normal(size=len(query))
    features = _features(rng, asked, shown, match)
    y = _judge(rng, asked, shown, match - habits * _unusual(shown), noise)
    data = RankingData.from_arrays(
        np.column_stack(list(features.values())).round(4),
        y,
        qid=query + 1,
        docs=np.char.add("doc", np.char.zfill(doc.astype(str), 6)),
        feature_names=tuple(features),
    )
    if not check_flag("clicks", clicks):
        return data
    in_production = features["title_bm25"] + features["body_bm25"]
    return data, make_click_log(data, in_production, n_sessions=20 * n_queries, random_state=random_state)


def _draw_queries(rng: np.random.Generator, n: int, mean_rows: float) -> _Queries:
    spread = 0.8
    size = np.round(rng.lognormal(np.log(mean_rows) - spread**2 / 2, spread, n))
    size[rng.random(n) < 0.03] = 1
    category = rng.integers(_N_CATEGORIES, size=n)
    rarity = 0.5 * rng.normal(size=(1, n)) + np.sqrt(0.75) * rng.normal(size=(len(_FIELDS), n))
    # Tail queries retrieve fewer good documents, and expensive categories have better ones.
    supply = -1.2 * rarity.mean(axis=0) + 0.12 * category + rng.normal(0.0, 0.6, n)
    return _Queries(
        size=np.clip(size, 1, 8 * mean_rows).astype(np.int64),
        category=category,
        n_words=1 + rng.poisson(1.6, n),
        rarity=rarity,
        intent=rng.beta(2.0, 2.0, n),
        supply=supply,
    )


def _draw_documents(rng: np.random.Generator, n: int) -> _Documents:
    authority = rng.normal(size=n)
    return _Documents(
        category=np.arange(n) * _N_CATEGORIES // n,
        authority=authority,
        log_price=rng.normal(size=n),
        age_days=rng.gamma(0.7, 400.0, n),
        inlinks=np.exp(2.5 + 1.3 * authority + 0.4 * rng.normal(size=n)).astype(np.int64),
        rating=np.clip(4.1 + 0.3 * authority + rng.normal(0.0, 0.6, n), 1.0, 5.0),
        spam=rng.beta(1.0, 9.0, n),
        length=rng.lognormal(6.0, 0.8, n),
        title_length=3 + rng.poisson(6.0, n),
        url_depth=1 + rng.poisson(1.5, n),
        in_stock=(rng.random(n) < 0.85).astype(np.int64),
    )


def _retrieve(rng: np.random.Generator, queries: _Queries, documents: _Documents) -> Ints:
    """Retrieve a window of the query's category: distinct documents, shared with other queries."""
    first = np.searchsorted(documents.category, np.arange(_N_CATEGORIES + 1))
    n_in_category = np.diff(first)[queries.category]
    start = rng.integers(n_in_category)
    in_query = np.arange(queries.size.sum()) - np.repeat(np.cumsum(queries.size) - queries.size, queries.size)
    within = (np.repeat(start, queries.size) + in_query) % np.repeat(n_in_category, queries.size)
    doc: Ints = np.repeat(first[queries.category], queries.size) + within
    return doc


def _features(
    rng: np.random.Generator, asked: _Queries, shown: _Documents, match: Floats
) -> dict[str, Floats | Ints]:
    """The features of each row, given how well its document matches its query."""
    m = len(match)

    def blurred(v: Floats, by: float) -> Floats:
        return v + rng.normal(0.0, by, m)

    def words_matched(probability: Floats) -> Floats:
        return rng.binomial(asked.n_words, probability) / asked.n_words

    # Rare words weigh more in every document that contains them, whether it is good or not.
    rarity = dict(zip(_FIELDS, asked.rarity, strict=True))
    idf = {field: np.exp(0.5 * rarity[field]) * np.sqrt(asked.n_words) for field in _FIELDS}
    title = np.maximum(0.0, blurred(match, 0.9) + 0.3)
    body = np.logaddexp(0.0, blurred(match, 0.8) + 1.0)
    anchor = np.maximum(0.0, blurred(match + 0.6 * shown.authority, 1.2) - 0.8)
    is_new = rng.random(m) < np.exp(-shown.age_days / 60.0)  # too new to have clicks
    click_level = 0.05 * np.exp(0.8 * (asked.intent - 0.5) + 0.5 * rarity["title"])
    click_through = click_level * np.exp(0.5 * blurred(match + 0.3 * shown.authority, 1.0))
    return {
        "title_bm25": 4.0 * idf["title"] * (title + 0.6),
        "body_bm25": 3.0 * idf["body"] * body,
        "anchor_bm25": 2.0 * idf["anchor"] * anchor,
        "body_lm": -asked.n_words * (5.0 + rarity["body"]) + 1.5 * blurred(body, 0.8),
        "title_coverage": words_matched(1 / (1 + np.exp(-blurred(match, 0.7)))),
        "url_match": words_matched(np.clip(0.15 + 0.15 * match, 0.02, 0.9)),
        "exact_phrase": (rng.random(m) < np.clip(0.1 + 0.15 * match, 0.0, 1.0) / asked.n_words).astype(float),
        "embedding_cosine": np.tanh(0.35 + 0.2 * blurred(match, 0.7) + 0.2 * rarity["embedding"]),
        "click_through": np.where(is_new, 0.0, np.minimum(click_through, 1.0)),
        "popularity": np.exp(1.1 * shown.authority),
        "log_inlinks": np.log1p(shown.inlinks),
        "rating": shown.rating,
        "age_days": shown.age_days,
        "freshness": np.exp(-shown.age_days / 180.0),
        "price": np.exp(1.0 + 0.45 * asked.category + 0.5 * shown.log_price),
        "in_stock": shown.in_stock,
        "spam_score": shown.spam,
        "url_depth": shown.url_depth,
        "doc_length": shown.length,
        "title_length": shown.title_length,
        "query_words": asked.n_words,
        "random": rng.random(m),
    }


def _unusual(shown: _Documents) -> Floats:
    """How many standard deviations price, text and title of each document are away from their means."""
    length, title_length = (np.log(shown.length) - 6.0) / 0.8, (shown.title_length - 9.0) / np.sqrt(6.0)
    away: Floats = np.abs(shown.log_price) + np.abs(length) + np.abs(title_length)
    return away


def _judge(
    rng: np.random.Generator, asked: _Queries, shown: _Documents, match: Floats, noise: float
) -> Floats:
    """Grades from thresholds on a document's worth plus the query's supply of good documents."""
    m = len(match)
    worth = (
        match
        + 0.45 * shown.authority
        + 0.35 * (shown.rating - 4.1)
        + 0.5 * np.exp(-shown.age_days / 180.0)
        + 0.5 * asked.intent * shown.in_stock
        - 0.6 * asked.intent * shown.log_price
        - 2.0 * shown.spam
        - 0.1 * shown.url_depth
    )
    utility = worth + asked.supply + rng.normal(0.0, 0.6 * noise, m)
    grade = np.digitize(utility, np.quantile(utility, np.cumsum(_GRADE_SHARES)[:-1]))
    slip = rng.choice([-1, 1], size=m) * (rng.random(m) < 0.05 * noise)
    graded: Floats = np.clip(grade + slip, 0.0, 4.0)
    return graded
