"""SVMrank's linear model files, and the meaning of its C.

SVMrank (``svm_rank_learn -c C``, with its default loss) minimizes ``½‖w‖² + (C/n) Σ hinge`` over all pairs
with different labels in n queries. Divided by C/n times the number N of those pairs, this is our
``R(w) + alpha ‖w‖²`` with ``weighting="pair"`` at ``alpha = n / (2 C N)``. (Paper D's ``C = 1/(λN)`` is for
one query and omits the ½.)
"""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np

from rankwise.errors import FileFormatError
from rankwise.files import as_path, replacing_file
from rankwise.numerals import is_whole, read_float, read_whole
from rankwise.preferences.queries import Queries, nothing_to_learn
from rankwise.types import Floats
from rankwise.validation.csr import MAX_FEATURES

MAGIC = "SVM-light Version"
_HEADER_LINES = 11


def alpha_from_c(c: float, y: Floats, queries: Queries) -> float:
    """Return the alpha at which ``RankSVM(weighting="pair")`` is equivalent to SVMrank with ``-c c``."""
    labels = queries.grouped(y)
    query = np.repeat(np.arange(queries.n_queries), queries.sizes)
    order = np.lexsort((labels, query))
    new_level = np.ones(len(labels), dtype=bool)
    new_level[1:] = (np.diff(query[order]) != 0) | (np.diff(labels[order]) != 0)
    levels = np.diff(np.flatnonzero(np.append(new_level, True)))
    n_pairs = int((queries.sizes**2).sum() - (levels**2).sum()) // 2
    if n_pairs == 0:
        raise nothing_to_learn(queries)
    return queries.n_queries / (2.0 * c * n_pairs)


def save_svmrank(coef: Floats, path: str | os.PathLike[str], *, n_rows: int) -> None:
    """Write weights as an SVMrank linear model: one support vector with alpha 1, zeros omitted."""
    entries = " ".join(f"{index}:{float(coef[index - 1])!r}" for index in (np.flatnonzero(coef) + 1).tolist())
    header = [
        f"{MAGIC} V6.20",
        "0 # kernel type",
        "3 # kernel parameter -d",
        "1 # kernel parameter -g",
        "1 # kernel parameter -s",
        "1 # kernel parameter -r",
        "empty# kernel parameter -u",
        f"{len(coef)} # highest feature index",
        f"{n_rows} # number of training documents",
        "2 # number of support vectors plus 1",
        "0 # threshold b, each following line is a SV (starting with alpha*y)",
    ]
    with replacing_file(path) as beside:
        beside.write_text("\n".join([*header, f"1 {entries} #"]) + "\n", encoding="ascii")


def load_svmrank(path: str | os.PathLike[str]) -> Floats:
    """Read the weights of a linear SVMrank or SVM-light model: the sum of its support vectors.

    The threshold is ignored, since it shifts all scores equally.
    """
    path = as_path(path)
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    if not lines or not lines[0].startswith(MAGIC):
        raise FileFormatError(path, f"is not an SVMrank model: its first line must start with '{MAGIC}'.")
    if len(lines) < _HEADER_LINES:
        raise FileFormatError(path, f"is truncated: it has {len(lines)} lines, but the header alone has 11.")
    if _header_number(path, lines, 2, most=9) != 0:
        raise FileFormatError(path, "only linear models (kernel type 0) can be read.", line=2)
    n_vectors = _header_number(path, lines, 10) - 1
    vectors = lines[_HEADER_LINES : _HEADER_LINES + n_vectors]
    if len(vectors) != n_vectors:
        raise FileFormatError(path, f"is truncated: it has {len(vectors)} of {n_vectors} support vectors.")
    coef = np.zeros(_header_number(path, lines, 8, most=MAX_FEATURES))
    for number, line in enumerate(vectors, start=_HEADER_LINES + 1):
        try:
            _add_vector(coef, line)
        except (ValueError, IndexError):
            raise FileFormatError(
                path, f"expected a support vector 'alpha index:value ...', found {line[:40]!r}.", line=number
            ) from None
    return coef


def _header_number(path: Path, lines: list[str], number: int, most: int = 2**31) -> int:
    text = lines[number - 1].partition("#")[0].strip()
    if not (is_whole(text) and len(text) < 20 and int(text) <= most):
        expected = f"expected a whole number from 0 to {most:,}"
        raise FileFormatError(path, f"{expected}, found {text[:40]!r}.", line=number)
    return int(text)


def _add_vector(coef: Floats, line: str) -> None:
    factor, *entries = line.partition("#")[0].split()
    for entry in entries:
        index, _, value = entry.partition(":")
        if index == "qid":
            continue
        if not 1 <= read_whole(index) <= len(coef):
            raise ValueError(entry)
        place = int(index) - 1
        coef[place] += read_float(factor) * read_float(value)
        if not math.isfinite(coef[place]):
            raise ValueError(entry)
