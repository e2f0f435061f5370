// Memory that is reused at different lengths and never cleared.
#pragma once

#include <cstdint>
#include <memory>

namespace rankwise {

template <class T>
class Buffer {
  public:
    // Make room for n elements; previous contents may be lost.
    T* resize(std::int64_t n) {
        if (n > capacity_) {
            data_.reset(new T[static_cast<std::size_t>(n)]);
            capacity_ = n;
        }
        return data_.get();
    }
    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    T& operator[](std::int64_t i) { return data_[static_cast<std::size_t>(i)]; }
    const T& operator[](std::int64_t i) const { return data_[static_cast<std::size_t>(i)]; }

  private:
    std::unique_ptr<T[]> data_;
    std::int64_t capacity_ = 0;
};

}  // namespace rankwise
