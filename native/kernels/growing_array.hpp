// An array that grows without copying where the system allows, and is handed over without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#include "kernels/compiler.hpp"

// AddressSanitizer sees the ends of blocks from malloc, but not those of maps.
#if defined(__linux__) && !defined(RANKWISE_ADDRESS_SANITIZER)
#define RANKWISE_MAP_PAGES
#include <sys/mman.h>
#endif

namespace rankwise {

// Memory in whole pages. On Linux, growing moves pages rather than bytes, unwritten memory costs nothing, and
// huge pages avoid most page faults, which take longer than filling the pages.
class Pages {
  public:
    Pages() = default;
    Pages(Pages&& other) noexcept
        : start_(std::exchange(other.start_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Pages& operator=(Pages&& other) noexcept {
        std::swap(start_, other.start_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
#ifdef RANKWISE_MAP_PAGES
    ~Pages() {
        if (start_ != nullptr) munmap(start_, bytes_);
    }
    void resize(std::size_t bytes) {
        bytes = (bytes + page_bytes - 1) / page_bytes * page_bytes;
        void* const moved = start_ == nullptr ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                              : mremap(start_, bytes_, bytes, MREMAP_MAYMOVE);
        if (moved == MAP_FAILED) throw std::bad_alloc();
        if (bytes >= huge_from_bytes) madvise(moved, bytes, MADV_HUGEPAGE);
        start_ = moved;
        bytes_ = bytes;
    }
#else
    ~Pages() { std::free(start_); }
    void resize(std::size_t bytes) {
        void* const moved = std::realloc(start_, bytes);
        if (moved == nullptr) throw std::bad_alloc();
        start_ = moved;
        bytes_ = bytes;
    }
#endif
    void* start() const { return start_; }
    std::size_t bytes() const { return bytes_; }

  private:
    static constexpr std::size_t page_bytes = 4096;
    static constexpr std::size_t huge_from_bytes = std::size_t{1} << 22;

    void* start_ = nullptr;
    std::size_t bytes_ = 0;
};

// For trivial types. Unlike in std::vector, new elements are uninitialized.
template <class T>
class GrowingArray {
  public:
    std::int64_t size() const { return size_; }
    T* data() { return static_cast<T*>(pages_.start()); }
    const T* data() const { return static_cast<const T*>(pages_.start()); }

    // Appends `n` uninitialized elements and returns the first.
    T* extend(std::int64_t n) {
        const std::int64_t before = size_;
        if (before + n > capacity()) reserve(before + n > 2 * capacity() ? before + n : 2 * capacity());
        size_ += n;
        return data() + before;
    }

    // Makes room for `n` elements, which can be accessed through `data()` but do not count in `size()`.
    void reserve(std::int64_t n) {
        if (n > capacity()) pages_.resize(static_cast<std::size_t>(n) * sizeof(T));
    }

    // Releases unused memory; an empty array keeps one page, so that it has an address.
    void shrink() { pages_.resize(static_cast<std::size_t>(size_ > 0 ? size_ : 1) * sizeof(T)); }

  private:
    std::int64_t capacity() const { return static_cast<std::int64_t>(pages_.bytes() / sizeof(T)); }

    Pages pages_;
    std::int64_t size_ = 0;
};

}  // namespace rankwise
