"""Types of the compiled kernels (native/bindings)."""

from rankwise.types import AnyArray, Floats, Ints

compiler: str

def complete_laplacian(
    offsets: Ints,
    row_weight: Floats | None,
    query_weight: Floats,
    v: Floats,
    out: Floats,
    n_threads: int,
) -> None: ...
def rank_rows(offsets: Ints, scores: Floats, row: Ints, first: Ints, end: Ints, n_threads: int) -> None: ...
def cascade(
    offsets: Ints, first: Ints, end: Ints, stop: Floats, cutoff: int, values: Floats, n_threads: int
) -> None: ...
def count_pairs(
    offsets: Ints,
    level: Ints,
    scores: Floats,
    discordant: Ints,
    tied_scores: Ints,
    tied_both: Ints,
    n_threads: int,
) -> None: ...
def count_weighted_pairs(
    offsets: Ints,
    level: Ints,
    scores: Floats,
    row_weight: Floats,
    discordant: Floats,
    tied_scores: Floats,
    tied_both: Floats,
    n_threads: int,
) -> None: ...

class LetorReader:
    def __init__(self, min_index: int, max_index: int, single_precision: bool) -> None: ...
    def feed(self, text: memoryview, n_threads: int) -> tuple[int, str] | None: ...
    def take(
        self,
    ) -> tuple[Floats, Ints | None, Ints, AnyArray, AnyArray, bytes | None, bytes | None]: ...
    def query_labels(self) -> list[bytes]: ...
    @property
    def n_lines(self) -> int: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def lowest_index(self) -> int: ...
    @property
    def highest_index(self) -> int: ...
