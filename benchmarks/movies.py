"""Judged movies as a table of signals: text matches per field and what is known of a movie."""

from __future__ import annotations

import json
import lzma
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from benchmarks.peers.shapes import Rows

FIELDS = ("title", "overview", "tags", "genres", "director", "actors", "characters")
NUMBERS = ("year", "votes", "rating", "popularity", "budget")
# Of BM25.
SATURATION, LENGTH_SHARE = 1.2, 0.75
# Of the embedding.
N_DIMENSIONS = 100


def signals(folder: Path) -> Rows:
    """The 16 signals of every judgment whose movie is known; half a minute."""
    judged = Judged.read(folder)
    known = np.array([[movie[name] or 0 for name in NUMBERS] for movie in judged.corpus], dtype=float)
    columns = [_bm25(judged.words(name), judged.queries, judged.movies) for name in FIELDS]
    titles, movies, queries = judged.words("title"), judged.movies, judged.queries
    columns += [_shared(titles, queries, movies, of_title) for of_title in (False, True)]
    columns += [np.array([len(titles[movie]) for movie in movies], dtype=float)]
    columns += [np.array([len(_words(query)) for query in queries], dtype=float)]
    return judged.rows(np.column_stack([*columns, known[movies]]))


# What a hybrid search has: matches of words and of meanings, and what is known of a query before it ranks.
MATCHES = ("title", "overview", "people", "embedding")
CONTEXT = ("query_length", "has_digits", "lead_of_title", "lead_of_overview", "lead_of_embedding")


def hybrid_signals(folder: Path) -> Rows:
    """Columns `MATCHES`, the same from 0 to 1 within each query, their reciprocal ranks, and `CONTEXT`.

    The embedding is a truncated SVD of the overviews, to which titles and judgments are unknown. The
    lead of a signal is how far its best score in the query is ahead of the second, as a share of their range.
    """
    judged = Judged.read(folder)
    movies, queries = judged.movies, judged.queries
    people = [
        [*of_director, *of_actors, *of_characters]
        for of_director, of_actors, of_characters in zip(
            *(judged.words(name) for name in ("director", "actors", "characters")), strict=True
        )
    ]
    words = (judged.words("title"), judged.words("overview"), people)
    matches = [_bm25(of_field, queries, movies) for of_field in words]
    matches += [_similar(judged.texts("overview"), queries, movies)]
    length = [len(_words(query)) for query in queries]
    digits = [any(c.isdigit() for c in query) for query in queries]
    compared = [_compared(values, judged.qid) for values in matches]
    scaled, reciprocal, lead = zip(*compared, strict=True)
    leads = (lead[0], lead[1], lead[3])
    return judged.rows(
        np.column_stack([*matches, *scaled, *reciprocal, length, digits, *leads]).astype(float)
    )


@dataclass(frozen=True)
class Judged:
    """The movies, and for each judgment the query, the place of its movie and the grade."""

    corpus: list[dict[str, Any]]
    qid: NDArray
    queries: list[str]
    movies: NDArray
    grades: NDArray

    @classmethod
    def read(cls, folder: Path) -> Judged:
        corpus = {movie["id"]: movie for movie in map(json.loads, _lines(folder / "corpus.jsonl.xz"))}
        judged = [line.split("\t") for line in _lines(folder / "judgments.tsv.xz")[1:]]
        judged = [line for line in judged if line[2] in corpus]
        places = {number: place for place, number in enumerate(corpus)}
        _, qid = np.unique([line[0] for line in judged], return_inverse=True)
        movies = np.array([places[line[2]] for line in judged])
        grades = np.array([float(line[3]) for line in judged])
        return cls(list(corpus.values()), qid, [line[1] for line in judged], movies, grades)

    def texts(self, field: str) -> list[str | list[str]]:
        return [movie[field] for movie in self.corpus]

    def words(self, field: str) -> list[list[str]]:
        return list(map(_words, self.texts(field)))

    def rows(self, X: NDArray) -> Rows:
        """Sorted by query."""
        order = np.argsort(self.qid, kind="stable")
        return Rows(X[order], self.grades[order], self.qid[order])


def _similar(texts: list[Any], queries: list[str], movies: NDArray) -> NDArray:
    """The cosine of the query and the text of the movie in a space of few dimensions."""
    words = TfidfVectorizer(sublinear_tf=True, min_df=2, stop_words="english")
    meanings = make_pipeline(words, TruncatedSVD(N_DIMENSIONS, random_state=0), Normalizer())
    of_texts = meanings.fit_transform([text or "" for text in texts])
    distinct, places = np.unique(queries, return_inverse=True)
    of_queries = meanings.transform(distinct)
    similar: NDArray = np.einsum("ij,ij->i", of_queries[places], of_texts[movies])
    return similar


def _compared(values: NDArray, qid: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Values from 0 to 1 within each query, 1 / (60 + rank), and how far the first is ahead."""
    frame = pd.DataFrame({"value": values, "qid": qid})
    grouped = frame.groupby("qid")["value"]
    low, high = grouped.transform("min"), grouped.transform("max")
    scaled = ((frame["value"] - low) / (high - low).where(high > low, 1.0)).to_numpy()
    reciprocal = 1.0 / (60.0 + grouped.rank(ascending=False).to_numpy())
    frame["scaled"] = scaled
    first_two = frame.sort_values("scaled", ascending=False).groupby("qid")["scaled"].head(2)
    second = first_two.groupby(frame["qid"]).min()
    lead = np.where(high > low, 1.0 - second.reindex(qid).to_numpy(), 0.0)
    return scaled, reciprocal, lead


def _lines(path: Path) -> list[str]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return file.read().splitlines()


def _words(text: str | list[str]) -> list[str]:
    return _words_of(text if isinstance(text, str) else " ".join(text))


@cache
def _words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _bm25(texts: list[list[str]], queries: list[str], movies: NDArray) -> NDArray:
    """How well a field of a movie matches the words of a query, for every judgment."""
    counts = [Counter(words) for words in texts]
    holders = Counter(word for count in counts for word in count)
    rarity = {word: np.log1p((len(texts) - n + 0.5) / (n + 0.5)) for word, n in holders.items()}
    lengths = np.array([len(words) for words in texts])
    discount = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * lengths / lengths.mean())
    scores = np.zeros(len(movies))
    for row, (query, movie) in enumerate(zip(queries, movies.tolist(), strict=True)):
        for word in _words(query):
            if count := counts[movie].get(word):
                scores[row] += rarity[word] * count * (SATURATION + 1.0) / (count + discount[movie])
    return scores


def _shared(titles: list[list[str]], queries: list[str], movies: NDArray, of_title: bool) -> NDArray:
    """The share of the words of the query that are in the title, or the other way round."""
    shares = np.zeros(len(movies))
    for row, (query, movie) in enumerate(zip(queries, movies.tolist(), strict=True)):
        asked, title = set(_words(query)), set(titles[movie])
        shares[row] = len(asked & title) / max(1, len(title if of_title else asked))
    return shares
