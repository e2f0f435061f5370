"""Types of the compiled kernels (native/bindings)."""

from rankwise.types import Floats, Ints

def complete_laplacian(
    offsets: Ints,
    row_weight: Floats | None,
    query_weight: Floats,
    v: Floats,
    out: Floats,
    n_threads: int,
) -> None: ...
