// Everything in which compilers differ; the other files are standard C++17 (and __restrict, which all of them
// know). GCC and clang share their vector types and built-in functions.
#pragma once

#include <cstdint>

// The numbers of a word are taken from its low bits on.
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "The kernels need a little-endian processor."
#endif

// clang has a feature for it, GCC a definition.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RANKWISE_ADDRESS_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define RANKWISE_ADDRESS_SANITIZER
#endif

// RANKWISE_MULTIVERSION compiles a function for several instruction sets and lets the loader choose: wide
// vectors and a popcount instruction are not in the baseline for which distributed binaries are built.
//
// Whatever such a function calls must be inlined into it; otherwise it is compiled for the baseline.
//
// RANKWISE_MULTIVERSION_UNALIGNED is for loops over unaligned rows of doubles: every load into a 64-byte
// register would cross a cache line, which makes them slower than 32-byte registers.
//
// Only GCC: clang 14 compiles a function that a header declares without the attribute for the first
// instruction set of the list alone, which other processors do not have. The loader chooses before
// ThreadSanitizer can run, so a build with it has a single version.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__)
#define RANKWISE_MULTIVERSION __attribute__((target_clones("avx512f", "avx2", "default")))
#define RANKWISE_MULTIVERSION_UNALIGNED __attribute__((target_clones("avx2", "default")))
#else
#define RANKWISE_MULTIVERSION
#define RANKWISE_MULTIVERSION_UNALIGNED
#endif

#define RANKWISE_INLINE inline __attribute__((always_inline))
#define RANKWISE_INLINE_LAMBDA __attribute__((always_inline))

namespace rankwise {

// Vectors with the operators of numbers. Double4 may be anywhere in an array of doubles.
typedef double Double2 __attribute__((vector_size(16)));
typedef double Double4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef float Float2 __attribute__((vector_size(8)));

RANKWISE_INLINE Double2 widened(Float2 both) {
    return __builtin_convertvector(both, Double2);
}

// Load the cache line at an address that will be read, or written, a little later.
RANKWISE_INLINE void fetch_to_read(const void* address) {
    __builtin_prefetch(address);
}
RANKWISE_INLINE void fetch_to_write(const void* address) {
    __builtin_prefetch(address, 1);
}

RANKWISE_INLINE int count_ones(std::uint64_t word) {
    return __builtin_popcountll(word);
}

// For words other than 0.
RANKWISE_INLINE int count_trailing_zeros(std::uint64_t word) {
    return __builtin_ctzll(word);
}

}  // namespace rankwise
