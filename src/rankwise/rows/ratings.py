"""Grades of documents by several raters."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from rankwise.errors import DataError, ParameterError
from rankwise.types import AnyArray, Floats, Ints
from rankwise.validation.arrays import as_floats


@dataclass(frozen=True, eq=False, repr=False)
class Ratings:
    """Grades of documents by several raters; a document may have any number of grades.

    Attributes
    ----------
    grade : Floats, shape (N,)
        The grade of each judgment.
    document, rater : Ints, shape (N,)
        The numbers of the document and of the rater of each judgment.
    qid, docs : array, shape (D,)
        The query label and the document label of each document.
    raters : array, shape (R,)
        The names of the raters, in order of first appearance.

    See Also
    --------
    load_ratings : Read them from a file.
    study_raters : Estimate agreement, bias and noise of the raters.

    Examples
    --------
    >>> from rankwise.raters import Ratings
    >>> Ratings.from_arrays(["a", "a", "a"], ["x", "x", "y"], [2, 1, 0], ["ann", "bob", "bob"])
    Ratings(3 judgments of 2 documents by 2 raters)
    """

    grade: Floats
    document: Ints
    rater: Ints
    qid: AnyArray
    docs: AnyArray
    raters: AnyArray

    @classmethod
    def from_arrays(
        cls,
        qid: Iterable[Hashable],
        docs: Iterable[Hashable],
        grades: ArrayLike,
        raters: Iterable[Hashable],
        *,
        scale: tuple[float, float] | None = None,
    ) -> Self:
        """Build ratings from arrays with one entry per judgment.

        Parameters
        ----------
        qid, docs : sequence of hashables
            The query and the document judged.
        grades : array
            Higher is better.
        raters : sequence of hashables
            The rater who judged.
        scale : (lowest, highest), optional
            Grades outside this scale raise an error.
        """
        grade, names = np.atleast_1d(as_floats("grades", grades)), list(raters)
        of_document = list(zip(list(qid), list(docs), strict=False))
        if not len(grade) == len(names) == len(of_document):
            raise DataError(
                f"qid, docs, grades and raters must have one entry per judgment; got {len(of_document)} "
                f"documents, {len(grade)} grades and {len(names)} raters."
            )
        if not len(grade):
            raise DataError("There are no judgments.")
        document, documents = _numbered(of_document)
        rater, who = _numbered(names)
        ratings = cls(
            grade,
            document,
            rater,
            _objects([q for q, _ in documents]),
            _objects([d for _, d in documents]),
            who,
        )
        ratings._check(check_scale(scale))
        return ratings

    @property
    def n_documents(self) -> int:
        return len(self.docs)

    @property
    def n_raters(self) -> int:
        return len(self.raters)

    def of_documents(self, documents: Ints) -> Ratings:
        """The ratings of some documents, by those who judged any of them."""
        place = np.full(self.n_documents, -1)
        place[documents] = np.arange(len(documents))
        kept = place[self.document] >= 0
        rater, raters = _numbered(self.raters[self.rater[kept]].tolist())
        qid, docs = self.qid[documents], self.docs[documents]
        return Ratings(self.grade[kept], place[self.document[kept]], rater, qid, docs, raters)

    def _check(self, scale: tuple[float, float] | None) -> None:
        wrong = ~np.isfinite(self.grade)
        expected = "a finite number"
        if scale is not None:
            wrong |= ~((self.grade >= scale[0]) & (self.grade <= scale[1]))
            expected = f"from {scale[0]:g} to {scale[1]:g}"
        if wrong.any():
            at = int(wrong.argmax())
            raise DataError(f"{self.names_of(at)} has the grade {self.grade[at]:g}; it must be {expected}.")
        judged = self.document * np.int64(self.n_raters) + self.rater
        _, first, counts = np.unique(judged, return_index=True, return_counts=True)
        if (counts > 1).any():
            at = int(first[(counts > 1).argmax()])
            raise DataError(f"{self.names_of(at)} occurs twice; each rater judges a document once.")

    def names_of(self, judgment: int) -> str:
        """A judgment in words."""
        document = self.document[judgment]
        return (
            f"The judgment of document {self.docs[document]!r} of query {self.qid[document]!r} by "
            f"{self.raters[self.rater[judgment]]!r}"
        )

    def __repr__(self) -> str:
        return (
            f"Ratings({len(self.grade):,} judgments of {self.n_documents:,} documents by "
            f"{self.n_raters:,} raters)"
        )


def check_scale(scale: Any) -> tuple[float, float] | None:
    """Return the lowest and the highest grade; None without."""
    if scale is None:
        return None
    numbers = np.asarray(scale, dtype=object)
    if numbers.shape == (2,) and all(isinstance(n, int | float) for n in numbers.tolist()):
        low, high = map(float, numbers.tolist())
        if low < high:
            return low, high
    raise ParameterError(f"The 'scale' parameter must be (lowest, highest), such as (0, 4); got {scale!r}.")


def _numbered(labels: list[Any]) -> tuple[Ints, AnyArray]:
    """The number of each label, in order of first appearance, and the labels."""
    numbers: dict[Any, int] = {}
    places = np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)
    return places, _objects(list(numbers))


def _objects(labels: list[Any]) -> AnyArray:
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array
