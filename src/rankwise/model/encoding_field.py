"""Storage of what the columns of a table became in a model file."""

from __future__ import annotations

from dataclasses import dataclass

from rankwise.columns.encoding import Encoding
from rankwise.columns.stored import encoding_of, plain_encoding
from rankwise.tensor_file import Content, RefusedError


@dataclass(frozen=True)
class EncodingField:
    """The encoding of columns, of models that have one; the features of the file are then its features."""

    name: str
    optional: bool = True

    def pack(self, attribute: Encoding, content: Content) -> None:
        content.values[self.name] = plain_encoding(attribute)

    def is_in(self, content: Content) -> bool:
        return self.name in content.values

    def unpack(self, content: Content) -> Encoding:
        encoding = encoding_of(content.values.pop(self.name))
        n_columns = content.sizes["features"]
        if len(encoding.columns) != n_columns:
            raise RefusedError(f"{len(encoding.columns)} columns are encoded, but the model has {n_columns}")
        content.sizes["features"] = encoding.n_features
        return encoding
