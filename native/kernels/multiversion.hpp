// RANKWISE_MULTIVERSION compiles a function for several instruction sets and lets the loader choose: wide
// vectors and a popcount instruction are not in the baseline for which distributed binaries are built.
//
// Whatever such a function calls must be inlined into it; otherwise it is compiled for the baseline.
//
// RANKWISE_MULTIVERSION_UNALIGNED is for loops over unaligned rows of doubles: every load into a 64-byte
// register would cross a cache line, which makes them slower than 32-byte registers.
#pragma once

// The loader chooses before ThreadSanitizer can run, so a build with it has a single version.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__SANITIZE_THREAD__)
#define RANKWISE_MULTIVERSION __attribute__((target_clones("avx512f", "avx2", "default")))
#define RANKWISE_MULTIVERSION_UNALIGNED __attribute__((target_clones("avx2", "default")))
#else
#define RANKWISE_MULTIVERSION
#define RANKWISE_MULTIVERSION_UNALIGNED
#endif

#if defined(__GNUC__)
#define RANKWISE_INLINE inline __attribute__((always_inline))
#define RANKWISE_INLINE_LAMBDA __attribute__((always_inline))
#else
#define RANKWISE_INLINE inline
#define RANKWISE_INLINE_LAMBDA
#endif
