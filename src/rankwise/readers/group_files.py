"""Files of query sizes next to text without qid, one per line: ``.query`` as in LightGBM, or ``.group``."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from rankwise.errors import FileFormatError
from rankwise.readers.text import COMPRESSED, numbered_lines, open_text

#: What the names of query sizes end in, and those of other files that belong to a file of rows.
GROUP_ENDINGS = (".query", ".group")
ENDINGS_BESIDE = (*GROUP_ENDINGS, ".weight")


def find_group_sizes(path: Path) -> Path | None:
    """The file of query sizes that belongs to a text file; either may be compressed.

    Those of ``rank.train.xz`` are in ``rank.train.query``, ``rank.train.query.gz``, ``rank.train.xz.query``
    or the like.
    """
    names = dict.fromkeys((path, uncompressed(path)))
    candidates = product(names, GROUP_ENDINGS, ("", *COMPRESSED))
    return next(filter(Path.is_file, (Path(f"{name}{end}{how}") for name, end, how in candidates)), None)


def is_beside(path: Path) -> bool:
    """Whether a file belongs to a file of rows, by its name."""
    return uncompressed(path).suffix.lower() in ENDINGS_BESIDE


def uncompressed(path: Path) -> Path:
    """The name of a file without the ending of its compression, if it has one."""
    return path.with_suffix("") if path.suffix.lower() in COMPRESSED else path


def read_group_sizes(path: Path, text: Path, n_rows: int) -> list[int]:
    """Read the number of rows of each query; together, they must be the rows of the text."""
    sizes = []
    with open_text(path) as file:
        for number, line in numbered_lines(file, path):
            digits = line.strip()
            if not digits.isdigit() or len(digits) > 18 or int(digits) == 0:
                shown = line.rstrip(b"\r\n")[:40].decode(errors="replace")
                message = f"expected the number of rows of a query, at least 1; found {shown!r}."
                raise FileFormatError(path, message, number)
            sizes.append(int(digits))
    if sum(sizes) != n_rows:
        raise FileFormatError(path, f"the query sizes sum to {sum(sizes)}, but {text} has {n_rows} rows.")
    return sizes
