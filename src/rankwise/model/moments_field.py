"""Storage of moments in a model file."""

from __future__ import annotations

from dataclasses import dataclass

from rankwise.ridge.moments.file import PREFIX, pack_moments, unpack_moments
from rankwise.ridge.moments.moments import Moments
from rankwise.tensor_file import Content


@dataclass(frozen=True)
class MomentsField:
    """The moments that a model can be updated from; a file may omit them."""

    name: str
    optional: bool = True

    def pack(self, attribute: Moments, content: Content) -> None:
        pack_moments(attribute, content)

    def is_in(self, content: Content) -> bool:
        return any(name.startswith(PREFIX) for name in content.tensors)

    def unpack(self, content: Content) -> Moments:
        return unpack_moments(content)
