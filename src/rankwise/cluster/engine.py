"""What an engine has to offer: work on every part where it lies, and sums of the results.

A sum over parts is one fixed binary tree, so that its bits depend on the parts alone. Leaf i is part i, and
node (k, j) covers the leaves ``j 2ᵏ`` to ``(j + 1) 2ᵏ − 1``. Whoever holds both children of a node adds them,
the left one first; it does not matter who.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias, TypeVar

T = TypeVar("T")
Node: TypeAlias = tuple[int, int]


class Parts(ABC):
    """Objects that other processes hold, one per part.

    Work is a module-level function of an object and further arguments: one for this part, if `own` has one
    for each, and then those that all parts share. It may be repeated if a process is lost, so it must not
    change what the object is; it may keep what it computed, in a cache that starts empty elsewhere.
    """

    @property
    @abstractmethod
    def n_parts(self) -> int: ...

    @abstractmethod
    def total(self, work: Callable[..., T], *shared: Any, own: Sequence[Any] | None = None) -> T:
        """The sum of the results over the tree of `parts.tree`."""

    @abstractmethod
    def derived(self, work: Callable[..., Any], *shared: Any, own: Sequence[Any] | None = None) -> Self:
        """The results, which stay where the parts are."""

    def each(self, work: Callable[..., T], *shared: Any, own: Sequence[Any] | None = None) -> list[T]:
        """The results, in the order of the parts."""
        if own is None:
            return list(self.total(alone, work, *shared))
        return list(self.total(alone_with, work, *shared, own=own))


def of_part(own: Sequence[Any] | None, part: int) -> tuple[Any, ...]:
    """The arguments that belong to a part: one, or none."""
    return () if own is None else (own[part],)


def alone(one: Any, work: Callable[..., T], *shared: Any) -> tuple[T]:
    """A result as a sequence, so that adding up is putting side by side."""
    return (work(one, *shared),)


def alone_with(one: Any, own: Any, work: Callable[..., T], *shared: Any) -> tuple[T]:
    return (work(one, own, *shared),)


def joined(sums: Mapping[Node, T], n_leaves: int) -> dict[Node, T]:
    """The sums of the largest subtrees that these sums make up; of all leaves, a single one."""
    rest, done = dict(sums), {}
    for level in range((n_leaves - 1).bit_length()):
        for node in sorted(node for node in rest if node[0] == level):
            if node not in rest:
                continue  # added to its sibling
            left, right = (level, node[1] & ~1), (level, node[1] | 1)
            is_alone = right[1] << level >= n_leaves
            if left in rest and (is_alone or right in rest):
                total = rest.pop(left)
                rest[level + 1, node[1] >> 1] = total if is_alone else total + rest.pop(right)  # type: ignore[operator]
            else:
                done[node] = rest.pop(node)
    return done | rest


@dataclass(frozen=True)
class Tally:
    """A sum over parts, with a tuple of what each part has to say, in the order of the parts."""

    total: Any
    notes: tuple[Any, ...]

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.total + other.total, self.notes + other.notes)
