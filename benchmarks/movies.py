"""Judged movies as a table of signals: text matches per field and what is known of a movie."""

from __future__ import annotations

import json
import lzma
import re
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.shapes import Rows

FIELDS = ("title", "overview", "tags", "genres", "director", "actors", "characters")
NUMBERS = ("year", "votes", "rating", "popularity", "budget")
# Of BM25.
SATURATION, LENGTH_SHARE = 1.2, 0.75


def signals(folder: Path) -> Rows:
    """The 16 signals of every judgment whose movie is known; half a minute."""
    corpus = {movie["id"]: movie for movie in map(json.loads, _lines(folder / "corpus.jsonl.xz"))}
    judged = [line.split("\t") for line in _lines(folder / "judgments.tsv.xz")[1:]]
    judged = [line for line in judged if line[2] in corpus]
    places = {number: place for place, number in enumerate(corpus)}
    movies = np.array([places[line[2]] for line in judged])
    queries = [line[1] for line in judged]
    known = np.array([[movie[name] or 0 for name in NUMBERS] for movie in corpus.values()], dtype=float)
    columns = [_bm25([_words(movie[name]) for movie in corpus.values()], queries, movies) for name in FIELDS]
    titles = [_words(movie["title"]) for movie in corpus.values()]
    columns += [_shared(titles, queries, movies, of_title) for of_title in (False, True)]
    columns += [np.array([len(titles[movie]) for movie in movies], dtype=float)]
    columns += [np.array([len(_words(query)) for query in queries], dtype=float)]
    X = np.column_stack([*columns, known[movies]])
    _, qid = np.unique([line[0] for line in judged], return_inverse=True)
    order = np.argsort(qid, kind="stable")
    return Rows(X[order], np.array([float(line[3]) for line in judged])[order], qid[order])


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
