"""What an engine has to offer: work on every part where it lies, and sums of the results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar

T = TypeVar("T")


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
