// Compile a function for several instruction sets and let the loader choose: wide vectors and a popcount
// instruction are not in the baseline that distributed binaries are built for.
//
// What such a function calls must be inlined into it, or it stays compiled for the baseline.
//
// The other one is for loops over rows of doubles that begin anywhere: registers of 64 bytes would meet the
// end of a cache line with every load, and are slower there than those of 32.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)
#define RANKWISE_MULTIVERSION __attribute__((target_clones("avx512f", "avx2", "default")))
#define RANKWISE_MULTIVERSION_UNALIGNED __attribute__((target_clones("avx2", "default")))
#else
#define RANKWISE_MULTIVERSION
#define RANKWISE_MULTIVERSION_UNALIGNED
#endif

#if defined(__GNUC__)
#define RANKWISE_INLINE inline __attribute__((always_inline))
#else
#define RANKWISE_INLINE inline
#endif
