"""JSON as it is written to files."""

from __future__ import annotations

import json


def as_json(content: object) -> str:
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    # Half of a surrogate pair, which cannot be encoded, stays an escape.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
