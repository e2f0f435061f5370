"""Mutations that keep lengths and checksums right, so that inputs get past the headers of structured files.

`mutate(content, size)` of the engine changes bytes blindly; everything here decides which bytes it gets.
"""

from __future__ import annotations

import io
import json
import math
import struct
import zipfile
import zlib
from collections.abc import Callable
from random import Random
from typing import Any

from fuzz.packing import pack, unpack

Mutate = Callable[[bytes, int], bytes]
Mutator = Callable[[bytes, int, Random, Mutate], bytes]

ODD_VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 3, 127, 2**31 - 1, 2**31, 2**63 - 1, 2**63, 10**30, 10**400),
    *(0.5, -0.0, 1e308, 5e-324, math.nan, math.inf, -math.inf),
    *("", "x", "\0", "\ud800", "é", "../y.npy", "<f8", "<i4", "<U3", "O", "<M8[D]", "linear", "precomputed"),
    *([], {}, [0], [1, 1], {"": 0}, [[[]]]),
]
ODD_WORDS = [
    *(struct.pack("<q", n) for n in (0, 1, -1, 2, 2**31, 2**32, 2**62, -(2**63), 2**63 - 1)),
    *(struct.pack("<d", x) for x in (-0.0, 1e308, -1e308, 5e-324, math.nan, math.inf, 0.5)),
]
TYPES = {"F64": 8, "F32": 4, "I64": 8, "I32": 4, "BOOL": 1, "U8": 1, "BF16": 2}


def mutate_json(content: bytes, size: int, rng: Random, mutate: Mutate) -> bytes:
    """Replace, delete or copy a value somewhere in a JSON text."""
    try:
        tree = json.loads(content)
        places = _places(tree)
    except (ValueError, RecursionError):
        places = []
    if not places or rng.random() < 0.1:
        return mutate(content, size)
    holder, key = rng.choice(places)
    old, action = holder[key], rng.randrange(5)
    if action == 0:
        del holder[key]
    elif action == 1:
        other, place = rng.choice(places)
        holder[key] = json.loads(json.dumps(other.get(place) if isinstance(other, dict) else other[place]))
    elif isinstance(old, str) and action == 2:
        holder[key] = mutate(old.encode(errors="replace"), len(old) + 8).decode(errors="replace")
    elif isinstance(old, int | float) and action < 4:
        holder[key] = rng.choice([old + 1, old - 1, old * 2, -old])
    else:
        holder[key] = rng.choice(ODD_VALUES)
    return json.dumps(tree).encode()


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Every value in a JSON text, as what holds it and the key or index."""
    if isinstance(tree, dict | list):
        keys = list(tree) if isinstance(tree, dict) else range(len(tree))
        return [place for key in keys for place in [(tree, key), *_places(tree[key])]]
    return []


def mutate_words(content: bytes, size: int, rng: Random, mutate: Mutate, *, start: int = 0) -> bytes:
    """Put another number among the numbers of an array, or change its bytes."""
    n_words = (len(content) - start) // 8
    if n_words < 1 or rng.random() < 0.3:
        return content[:start] + mutate(content[start:], max(size - start, 1))
    at = start + 8 * rng.randrange(n_words)
    if rng.random() < 0.5:
        word = rng.choice(ODD_WORDS)
    else:
        source = start + 8 * rng.randrange(n_words)
        word = content[source : source + 8]
    return content[:at] + word + content[at + 8 :]


def mutate_store(content: bytes, size: int, rng: Random, mutate: Mutate) -> bytes:
    """Change the manifest or an array, and usually make the checksums right."""
    files = unpack(content[1:])
    if not files or rng.random() < 0.05:
        return mutate(content, size)
    name = rng.choice([*files, "manifest.json", "manifest.json"])
    if name == "manifest.json":
        files[name] = mutate_json(files.get(name, b"{}"), size, rng, mutate)
    else:
        files[name] = mutate_words(
            files[name], len(files[name]), rng, mutate, start=rng.choice([128, 128, 0])
        )
    if rng.random() < 0.8:
        files["manifest.json"] = _with_checksums(files)
    first = content[:1] if rng.random() < 0.9 else bytes([rng.randrange(4)])
    return first + pack({name: part[:0xFFFF] for name, part in files.items()})


def _with_checksums(files: dict[str, bytes]) -> bytes:
    manifest = files.get("manifest.json", b"")
    try:
        tree = json.loads(manifest)
        for entry in tree["arrays"].values():
            entry["crc32"] = zlib.crc32(files[entry["file"]][128:])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return manifest
    return json.dumps(tree).encode()


def mutate_model(content: bytes, size: int, rng: Random, mutate: Mutate) -> bytes:
    """Change the header of a model, one of its tensors, or the type and shape of one."""
    try:
        header, parts = _tensors(content)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return mutate(content, size)
    names, action = list(parts), rng.randrange(8)
    if action < 4:
        described = header.get("__metadata__", {}).get("rankwise", "{}").encode(errors="replace")
        described = mutate_json(described, len(described) + 64, rng, mutate)
        header["__metadata__"] = {"rankwise": described.decode(errors="replace")}
    elif action == 4 or not names:
        return mutate(content, size)
    else:
        name = rng.choice(names)
        entry = header[name]
        if action == 5:
            parts[name] = mutate_words(parts[name], len(parts[name]), rng, mutate)
        elif action == 6:
            del parts[name], header[name]
        else:
            entry["dtype"] = rng.choice(list(TYPES)) if rng.random() < 0.5 else entry["dtype"]
            entry["shape"] = rng.choice([[], [0], [1], [2], [3], [4], [1, 3], [3, 1], [2, 3], [0, 3]])
            parts[name] = parts[name].ljust(64, b"\0")[: math.prod(entry["shape"]) * TYPES[entry["dtype"]]]
    return _joined(header, parts)


def _tensors(content: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The header of a safetensors file and the bytes of its tensors."""
    end = 8 + int.from_bytes(content[:8], "little")
    header, body = json.loads(content[8:end]), content[end:]
    names = [name for name in header if name != "__metadata__"]
    return header, {name: body[slice(*header[name]["data_offsets"])] for name in names}


def _joined(header: dict[str, Any], parts: dict[str, bytes]) -> bytes:
    at = 0
    for name, part in parts.items():
        header[name]["data_offsets"] = [at, at + len(part)]
        at += len(part)
    described = json.dumps(header).encode()
    return len(described).to_bytes(8, "little") + described + b"".join(parts.values())


def mutate_checkpoint(content: bytes, size: int, rng: Random, mutate: Mutate) -> bytes:
    """Change, drop or rename an array in the archive, whose checksums are made right."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
    except (ValueError, EOFError, OSError, struct.error, zipfile.BadZipFile, NotImplementedError, zlib.error):
        files = {}
    if not files or rng.random() < 0.1:
        return mutate(content, size)
    name, action = rng.choice(list(files)), rng.randrange(12)
    if action == 0:
        del files[name]
    elif action == 1:
        files[rng.choice(list(files))] = files[name]
    elif action == 2:
        files[name] = mutate(files[name], len(files[name]) + 8)
    else:
        header = 10 + int.from_bytes(files[name][8:10], "little")
        files[name] = mutate_words(files[name], len(files[name]), rng, mutate, start=header)
    return archived(files)


def archived(files: dict[str, bytes]) -> bytes:
    """An uncompressed archive without times, so that equal files are equal bytes."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, part in files.items():
            archive.writestr(zipfile.ZipInfo(name), part)
    return written.getvalue()


MUTATORS: dict[str, Mutator] = {
    "stores": mutate_store,
    "models": mutate_model,
    "moments": mutate_model,
    "checkpoints": mutate_checkpoint,
    "settings": mutate_json,
}
