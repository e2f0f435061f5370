"""Several files in one input, such as the folder of a store."""

from __future__ import annotations

import struct
from collections.abc import Mapping

_SIZES = struct.Struct("<BH")


def pack(files: Mapping[str, bytes]) -> bytes:
    """Each file is the length of its name, the length of its content, the name and the content."""
    return b"".join(
        _SIZES.pack(len(name), len(content)) + name.encode() + content for name, content in files.items()
    )


def unpack(packed: bytes) -> dict[str, bytes]:
    """The files; any bytes are some files, whose names are those of a folder's own entries."""
    files = {}
    while len(packed) >= _SIZES.size:
        n_name, n_content = _SIZES.unpack_from(packed)
        body = packed[_SIZES.size :]
        name = body[:n_name].decode("ascii", errors="replace")
        name = "".join(letter if letter.isalnum() or letter in "._" else "_" for letter in name)
        files[f"{name.lstrip('.')}"[:40] or "_"] = body[n_name : n_name + n_content]
        packed = body[n_name + n_content :]
    return files
