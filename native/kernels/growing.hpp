// An array that grows in place where the system can, and is handed over without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

namespace rankwise {

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};

// For trivial types. Unlike std::vector it leaves new elements unset, and growing a large array moves pages
// rather than bytes (realloc), so that it costs neither time nor resident memory.
template <class T>
class Growing {
  public:
    std::int64_t size() const { return size_; }
    T* data() { return memory_.get(); }
    const T* data() const { return memory_.get(); }

    // Adds `n` unset elements and returns the first.
    T* extend(std::int64_t n) {
        if (size_ + n > capacity_) reserve(size_ + n > capacity_ * 2 ? size_ + n : capacity_ * 2);
        T* const added = memory_.get() + size_;
        size_ += n;
        return added;
    }

    void push(T value) { *extend(1) = value; }
    void clear() { size_ = 0; }

    // Makes room for `n` elements, which `data()` may then be used for without counting in `size()`.
    void reserve(std::int64_t n) {
        if (n > capacity_) reallocate(n);
    }

    // Gives the memory away, cut to size (never null, so that it can back an empty array).
    std::unique_ptr<T, Free> release() {
        reallocate(size_ > 0 ? size_ : 1);
        size_ = capacity_ = 0;
        return std::move(memory_);
    }

  private:
    void reallocate(std::int64_t capacity) {
        void* const moved = std::realloc(memory_.get(), static_cast<std::size_t>(capacity) * sizeof(T));
        if (moved == nullptr) throw std::bad_alloc();
        static_cast<void>(memory_.release());
        memory_.reset(static_cast<T*>(moved));
        capacity_ = capacity;
    }

    std::unique_ptr<T, Free> memory_;
    std::int64_t size_ = 0;
    std::int64_t capacity_ = 0;
};

}  // namespace rankwise
