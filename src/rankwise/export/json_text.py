"""JSON as it is written to files."""

from __future__ import annotations

import json


def as_json(content: object) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
