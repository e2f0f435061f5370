"""What an input reaches: blocks of the kernels, counted by `counters.cpp`, and lines of rankwise."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from rankwise import _native

_kernels = ctypes.CDLL(_native.__file__)


def _address(function: str) -> int:
    """What a function of `counters.cpp` returns."""
    call = getattr(_kernels, function)
    call.restype = ctypes.c_size_t
    return int(call())


def count_kernel_blocks() -> None:
    """Hand the block counters of the kernels to the libFuzzer in this process."""
    fuzzer, n_counters = ctypes.CDLL(None), _address("rankwise_n_counters")
    for register, begin, width in (
        (fuzzer.__sanitizer_cov_8bit_counters_init, _address("rankwise_counters"), 1),
        (fuzzer.__sanitizer_cov_pcs_init, _address("rankwise_places"), 16),
    ):
        register(ctypes.c_void_p(begin), ctypes.c_void_p(begin + width * n_counters))


def reached(use: Callable[[], None]) -> set[Any]:
    """The kernel blocks and the lines of rankwise that a call executes."""
    places: set[Any] = set()

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if "/rankwise/" not in frame.f_code.co_filename:
            return None
        places.add((frame.f_code.co_filename, frame.f_lineno))
        return trace

    size, begin = _address("rankwise_n_counters"), _address("rankwise_counters")
    counters = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(begin))
    counters[:] = 0
    sys.settrace(trace)
    try:
        use()
    finally:
        sys.settrace(None)
    return places.union(np.flatnonzero(counters).tolist())
