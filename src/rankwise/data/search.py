"""A simulated search engine: judged rows with the habits, good and bad, of real ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np

from rankwise.data.clicks import ClickLog, make_click_log
from rankwise.data.ranking import RankingData
from rankwise.types import Floats, Ints
from rankwise.validation import check_count, check_number

# The share of rows with each grade, 0 to 4, over all queries.
_GRADE_SHARES = (0.52, 0.22, 0.14, 0.08, 0.04)
_N_CATEGORIES = 12
# Each is indexed by itself, and a word that is rare in one need not be so in another.
_FIELDS = ("title", "body", "anchor", "embedding")


@dataclass(frozen=True)
class _Queries:
    """What a query brings with it; every array has one entry per query."""

    size: Ints
    category: Ints
    n_words: Ints
    rarity: Floats  # of its words in each field of _FIELDS, standardized; the long tail has rare words
    intent: Floats  # how much its users want to buy, 0 to 1


@dataclass(frozen=True)
class _Documents:
    """What a document is whatever was asked; every array has one entry per document."""

    category: Ints
    authority: Floats
    log_price: Floats  # standardized inside the category
    age_days: Floats
    rating: Floats
    spam: Floats
    length: Floats
    url_depth: Ints
    in_stock: Ints


@overload
def make_search_data(
    n_queries: int = ...,
    *,
    mean_rows: float = ...,
    noise: float = ...,
    seed: int = ...,
    clicks: Literal[False] = False,
) -> RankingData: ...


@overload
def make_search_data(
    n_queries: int = ...,
    *,
    mean_rows: float = ...,
    noise: float = ...,
    seed: int = ...,
    clicks: Literal[True],
) -> tuple[RankingData, ClickLog]: ...


def make_search_data(
    n_queries: int = 200,
    *,
    mean_rows: float = 20.0,
    noise: float = 1.0,
    seed: int = 0,
    clicks: bool = False,
) -> RankingData | tuple[RankingData, ClickLog]:
    """Simulate the judgment list of a shop's search engine.

    Users of different categories ask head and tail queries; the engine retrieves documents of the query's
    category from one catalogue; judges grade them from 0 to 4. As in real lists,

    - features are skewed, correlated, partly redundant, partly irrelevant, some constant inside a query;
    - the level of a feature belongs to the query as much as to the document: rare words raise every BM25
      of a query, an expensive category raises every price, and judges find less in the long tail, so that
      what is better *inside* a query may look worse *across* queries (this is why one learns from
      differences inside queries);
    - queries differ in size, a few have one row only, and a few have nothing relevant.

    Parameters
    ----------
    n_queries : int, default=200
    mean_rows : float, default=20
        Mean number of rows of a query.
    noise : float, default=1
        How much the judges disagree; 0 makes the grades a function of document and query.
    seed : int, default=0
        The same seed gives the same bits.
    clicks : bool, default=False
        Whether to return a click log of the simulated engine as well (`rankwise.make_click_log`, 20
        sessions a query on average, with an engine that ranks by ``title_bm25 + body_bm25``).

    Returns
    -------
    RankingData, or (RankingData, ClickLog) if `clicks`
        ``qid`` counts from 1, ``docs`` are strings, and ``feature_names`` say what the columns mean.
    """
    n_queries = check_count("n_queries", n_queries)
    mean_rows = check_number("mean_rows", mean_rows, minimum=1.0)
    noise = check_number("noise", noise, minimum=0.0)
    rng = np.random.default_rng(seed)
    queries = _draw_queries(rng, n_queries, mean_rows)
    documents = _draw_documents(
        rng, max(4 * int(queries.size.max()) * _N_CATEGORIES, int(queries.size.sum()) // 4)
    )
    query = np.repeat(np.arange(n_queries), queries.size)
    doc = _retrieve(rng, queries, documents, query)
    match, features = _features(rng, queries, documents, query, doc)
    y = _judge(rng, queries, documents, query, doc, match, noise)
    data = RankingData.from_arrays(
        np.column_stack(list(features.values())).round(4),
        y,
        qid=query + 1,
        docs=np.char.add("doc", np.char.zfill(doc.astype(str), 6)),
        feature_names=tuple(features),
    )
    if not clicks:
        return data
    in_production = features["title_bm25"] + features["body_bm25"]
    return data, make_click_log(data, in_production, n_sessions=20 * n_queries, seed=seed)


def _draw_queries(rng: np.random.Generator, n: int, mean_rows: float) -> _Queries:
    spread = 0.8
    size = np.round(rng.lognormal(np.log(mean_rows) - spread**2 / 2, spread, n))
    size[rng.random(n) < 0.03] = 1
    category = rng.integers(_N_CATEGORIES, size=n)
    return _Queries(
        size=np.clip(size, 1, 8 * mean_rows).astype(np.int64),
        category=category,
        n_words=1 + rng.poisson(1.6, n),
        rarity=0.5 * rng.normal(size=(1, n)) + np.sqrt(0.75) * rng.normal(size=(len(_FIELDS), n)),
        intent=rng.beta(2.0, 2.0, n),
    )


def _draw_documents(rng: np.random.Generator, n: int) -> _Documents:
    authority = rng.normal(size=n)
    return _Documents(
        category=np.sort(rng.integers(_N_CATEGORIES, size=n)),
        authority=authority,
        log_price=rng.normal(size=n),
        age_days=rng.gamma(0.7, 400.0, n),
        rating=np.clip(4.1 + 0.3 * authority + rng.normal(0.0, 0.6, n), 1.0, 5.0),
        spam=rng.beta(1.0, 9.0, n),
        length=rng.lognormal(6.0, 0.8, n),
        url_depth=1 + rng.poisson(1.5, n),
        in_stock=(rng.random(n) < 0.85).astype(np.int64),
    )


def _retrieve(rng: np.random.Generator, queries: _Queries, documents: _Documents, query: Ints) -> Ints:
    """A window of the query's category, so that its documents are distinct and shared with other queries."""
    first = np.searchsorted(documents.category, np.arange(_N_CATEGORIES + 1))
    n_in_category = np.diff(first)[queries.category]
    start = rng.integers(n_in_category)
    row_in_query = np.arange(len(query)) - np.repeat(np.cumsum(queries.size) - queries.size, queries.size)
    within = (start[query] + row_in_query) % n_in_category[query]
    return first[queries.category][query] + within


def _features(
    rng: np.random.Generator, queries: _Queries, documents: _Documents, query: Ints, doc: Ints
) -> tuple[Floats, dict[str, Any]]:
    """The latent match of each row with its query, and what the engine measures of it."""
    m = len(query)

    def blurred(v: Floats, by: float) -> Floats:
        return v + rng.normal(0.0, by, m)

    match = rng.normal(size=m)
    n_words = queries.n_words[query]
    # Rare words weigh more in every document that has them, whether it is good or not.
    rarity = dict(zip(_FIELDS, queries.rarity[:, query], strict=True))
    idf = {field: np.exp(0.5 * rarity[field]) * np.sqrt(n_words) for field in _FIELDS}
    authority = documents.authority[doc]
    age = documents.age_days[doc]
    coverage = rng.binomial(n_words, 1 / (1 + np.exp(-blurred(match, 0.7)))) / n_words
    title = np.maximum(0.0, blurred(match, 0.9) + 0.3)
    body = np.logaddexp(0.0, blurred(match, 0.8) + 1.0)
    ctr_level = 0.05 * np.exp(0.8 * (queries.intent[query] - 0.5) + 0.5 * rarity["title"])
    return match, {
        "title_bm25": 4.0 * idf["title"] * (title + 0.6),
        "body_bm25": 3.0 * idf["body"] * body,
        "anchor_bm25": 2.0 * idf["anchor"] * np.maximum(0.0, blurred(match + 0.6 * authority, 1.2) - 0.8),
        "body_lm": -n_words * (5.0 + rarity["body"]) + 1.5 * blurred(body, 0.8),
        "title_coverage": coverage,
        "url_match": rng.binomial(n_words, np.clip(0.15 + 0.15 * match, 0.02, 0.9)) / n_words,
        "exact_phrase": (rng.random(m) < np.clip(0.1 + 0.15 * match, 0.0, 1.0) / n_words).astype(float),
        "embedding_cosine": np.tanh(0.35 + 0.2 * blurred(match, 0.7) + 0.2 * rarity["embedding"]),
        "click_through": np.where(
            rng.random(m) < np.exp(-age / 60.0),  # too new to have been shown
            0.0,
            np.clip(ctr_level * np.exp(0.5 * blurred(match + 0.3 * authority, 1.0)), 0.0, 1.0),
        ),
        "popularity": np.exp(1.1 * authority),
        "log_inlinks": np.log1p(np.round(np.exp(2.5 + 1.3 * authority + 0.4 * rng.normal(size=m)))),
        "rating": documents.rating[doc],
        "age_days": age,
        "freshness": np.exp(-age / 180.0),
        "price": np.exp(1.0 + 0.45 * queries.category[query] + 0.5 * documents.log_price[doc]),
        "in_stock": documents.in_stock[doc].astype(float),
        "spam_score": documents.spam[doc],
        "url_depth": documents.url_depth[doc].astype(float),
        "doc_length": documents.length[doc],
        "query_words": n_words.astype(float),
        "title_length": 3.0 + rng.poisson(6.0, m),
        "doc_hash": rng.random(m),
    }


def _judge(
    rng: np.random.Generator,
    queries: _Queries,
    documents: _Documents,
    query: Ints,
    doc: Ints,
    match: Floats,
    noise: float,
) -> Floats:
    """Grades: thresholds on a utility that falls with the query's rarity and rises with its category."""
    m = len(query)
    intent = queries.intent[query]
    worth = (
        1.0 * match
        + 0.45 * documents.authority[doc]
        + 0.5 * np.exp(-documents.age_days[doc] / 180.0)
        - 0.6 * intent * documents.log_price[doc]
        + 0.35 * (documents.rating[doc] - 4.1)
        + 0.5 * intent * documents.in_stock[doc]
        - 2.0 * documents.spam[doc]
        - 0.1 * documents.url_depth[doc]
    )
    level = -1.2 * queries.rarity.mean(axis=0) + 0.12 * (queries.category - (_N_CATEGORIES - 1) / 2)
    level += rng.normal(0.0, 0.6, len(level))
    utility = worth + level[query] + rng.normal(0.0, 0.6 * noise, m)
    thresholds = np.quantile(utility, np.cumsum(_GRADE_SHARES)[:-1])
    grade = np.digitize(utility, thresholds)
    slip = rng.choice([-1, 1], size=m) * (rng.random(m) < 0.05 * noise)
    graded: Floats = np.clip(grade + slip, 0.0, 4.0)
    return graded
