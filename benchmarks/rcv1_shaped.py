"""Generated RCV1-shaped text: 47,152 words, about 75 per row, Zipf columns, cosine-normalised tf-idf.

Documents mix two of 40 topics; each topic reweights the Zipf distribution of words. The order is planted:
half of the topics raise a document's utility and half lower it, in proportion to the mixture, plus noise.
The binary label (membership in a category, as for 47 % of RCV1 in CCAT) is whether the utility is high.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

N_FEATURES = 47_152
WORDS_PER_ROW = 75
N_TOPICS = 40
TABLE = 1 << 18
BLOCK = 1 << 13


@dataclass(frozen=True)
class Text:
    """Rows of text with their planted labels and utilities."""

    X: sparse.csr_array
    label: NDArray[np.float64]
    utility: NDArray[np.float64]


def generate(
    n_rows: int,
    *,
    n_features: int = N_FEATURES,
    dtype: type = np.float64,
    noise: float = 0.15,
    seed: int = 0,
    first_block: int = 0,
) -> Text:
    """Generate `n_rows` rows in memory, at about 20 µs per row and core.

    Texts with the same seed share their topics; a different `first_block` gives different documents on them.
    """
    blocks = list(
        generate_blocks(
            n_rows, n_features=n_features, dtype=dtype, noise=noise, seed=seed, first_block=first_block
        )
    )
    return Text(
        sparse.vstack([block.X for block in blocks], format="csr"),
        np.concatenate([block.label for block in blocks]),
        np.concatenate([block.utility for block in blocks]),
    )


def generate_blocks(
    n_rows: int,
    *,
    n_features: int = N_FEATURES,
    dtype: type = np.float64,
    noise: float = 0.15,
    seed: int = 0,
    first_block: int = 0,
) -> Iterator[Text]:
    """Generate the same rows in blocks of 8,192, for files larger than memory."""
    vocabulary = _Vocabulary(n_features, np.random.default_rng(seed))
    for number, start in enumerate(range(0, n_rows, BLOCK)):
        rng = np.random.default_rng([seed, first_block + number])
        yield vocabulary.write(min(BLOCK, n_rows - start), rng, dtype, noise)


class _Vocabulary:
    def __init__(self, n_features: int, rng: np.random.Generator) -> None:
        zipf = 1.0 / (np.arange(n_features) + 20.0)
        zipf /= zipf.sum()
        self.n_features = n_features
        self.words = np.empty((N_TOPICS, TABLE), dtype=np.int32)
        # Column numbers are shuffled: a real vocabulary is not sorted by frequency.
        names = rng.permutation(n_features).astype(np.int32)
        for topic in range(N_TOPICS):
            frequency = zipf * rng.lognormal(0.0, 1.5, n_features)
            cumulative = np.cumsum(frequency) / frequency.sum()
            quantiles = (np.arange(TABLE) + 0.5) / TABLE
            self.words[topic] = names[np.minimum(np.searchsorted(cumulative, quantiles), n_features - 1)]
        self.idf = np.empty(n_features)
        self.idf[names] = -np.log1p(-np.exp(-WORDS_PER_ROW * zipf)) + 0.1
        self.pull = np.where(np.arange(N_TOPICS) % 2, 1.0, -1.0)

    def write(self, n_rows: int, rng: np.random.Generator, dtype: type, noise: float) -> Text:
        topics = rng.integers(0, N_TOPICS, (n_rows, 2), dtype=np.int32)
        mixture = rng.uniform(0.0, 0.5, n_rows)
        pull = self.pull[topics]
        utility = (1.0 - mixture) * pull[:, 0] + mixture * pull[:, 1] + noise * rng.standard_normal(n_rows)

        # Draws with repetition; the repetitions are the term frequencies.
        lengths = np.clip(rng.lognormal(np.log(0.99 * WORDS_PER_ROW), 0.5, n_rows), 8, 320).astype(np.int64)
        width = int(lengths.max())
        second = rng.random((n_rows, width), dtype=np.float32) < mixture[:, None].astype(np.float32)
        topic = np.where(second, topics[:, 1:], topics[:, :1]) * np.int32(TABLE)
        columns = self.words.ravel()[topic + rng.integers(0, TABLE, (n_rows, width), dtype=np.int32)]
        columns[np.arange(width) >= lengths[:, None]] = self.n_features
        columns.sort(axis=1)
        first = np.ones(columns.shape, dtype=bool)
        np.not_equal(columns[:, 1:], columns[:, :-1], out=first[:, 1:])
        position = np.flatnonzero(first.ravel())
        kept = columns.ravel()[position]
        frequency = np.diff(np.append(position, columns.size))
        inside = kept < self.n_features
        indices = kept[inside]
        indptr = np.concatenate([[0], np.cumsum((first & (columns < self.n_features)).sum(axis=1))])
        values = (1.0 + np.log(frequency[inside])) * self.idf[indices]
        norms = np.sqrt(np.add.reduceat(values**2, indptr[:-1]))
        values /= np.repeat(norms, np.diff(indptr))
        X = sparse.csr_array(
            (values.astype(dtype), indices, indptr.astype(np.int32)), shape=(n_rows, self.n_features)
        )
        return Text(X, (utility > 0.05).astype(np.float64), utility)
