"""Coverage of the kernels for libFuzzer, from the block counters of a build for fuzzing (`counters.cpp`)."""

from __future__ import annotations

import ctypes

from rankwise import _native


def count_kernel_blocks() -> None:
    """Hand the block counters of the kernels to the libFuzzer in this process."""
    kernels, fuzzer = ctypes.CDLL(_native.__file__), ctypes.CDLL(None)
    for function in ("rankwise_counters", "rankwise_places", "rankwise_n_counters"):
        getattr(kernels, function).restype = ctypes.c_size_t
    n_counters = kernels.rankwise_n_counters()
    for register, begin, width in (
        (fuzzer.__sanitizer_cov_8bit_counters_init, kernels.rankwise_counters(), 1),
        (fuzzer.__sanitizer_cov_pcs_init, kernels.rankwise_places(), 16),
    ):
        register(ctypes.c_void_p(begin), ctypes.c_void_p(begin + width * n_counters))
