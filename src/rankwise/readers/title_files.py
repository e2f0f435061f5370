"""Files of titles: lines of ``label, title`` below a header, for the pages of reports."""

from __future__ import annotations

from pathlib import Path

from rankwise.errors import DataError
from rankwise.readers.delimited import open_delimited


def load_titles(path: Path) -> dict[str, str]:
    """The texts of queries and the titles of documents, by their labels."""
    with open_delimited(path) as lines:
        if not lines.take_header(["label", "title"]):
            raise DataError("expected the header label,title.")
        return {fields["label"]: fields["title"] for fields in lines}
