"""Sums over parts as one fixed binary tree, so that their bits depend on the parts alone.

Leaf i is part i, and node (k, j) covers the leaves ``j 2ᵏ`` to ``(j + 1) 2ᵏ − 1``. Whoever holds both
children of a node adds them, the left one first; it does not matter who.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
Node: TypeAlias = tuple[int, int]


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
