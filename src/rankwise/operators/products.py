"""Products of many rows with a small matrix, in company."""

from __future__ import annotations

import numpy as np

from rankwise.operators.blocks import block_rows, pieces
from rankwise.threads import map_on_threads, one_blas_thread
from rankwise.types import Floats


def product_on_threads(rows: Floats, matrix: Floats) -> Floats:
    """``rows @ matrix``, block by block, on our threads.

    BLAS threads share a product in equal parts and wait for each other without giving way to the processes
    that keep one of them waiting. Blocks depend on the shape only: the bits are the same for any number of
    threads.
    """
    product = np.empty((len(rows), matrix.shape[1]))
    blocks = list(pieces(0, len(rows), block_rows(rows)))

    def multiply(place: slice) -> None:
        np.matmul(rows[place], matrix, out=product[place])

    with one_blas_thread():
        for _ in map_on_threads(multiply, blocks) if len(blocks) > 1 else map(multiply, blocks):
            pass
    return product
