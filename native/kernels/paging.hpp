// Reading files larger than memory: pages are released once a pass has read them.
#pragma once

#include <cstdint>

namespace rankwise {

// Tells the system that the whole pages in [begin, end) of a read-only file mapping are not needed for now.
// They may stay in the system's cache, but no longer count as memory of this process.
void give_back_pages(const void* begin, const void* end);

// Follows a pass over rows of a mapped matrix, and releases pages after every few megabytes.
// Does nothing for a matrix in memory.
template <class M>
class PageSweep {
  public:
    explicit PageSweep(const M& rows) : rows_(rows) {}
    PageSweep(const PageSweep&) = delete;
    PageSweep& operator=(const PageSweep&) = delete;
    ~PageSweep() { flush(); }

    // Rows first .. last have been read and will not be needed again soon.
    void passed(std::int64_t first, std::int64_t last) {
        if (!rows_.mapped) return;
        first_ = first_ < first ? first_ : first;
        last_ = last_ > last ? last_ : last;
        bytes_ += rows_.n_bytes(first, last);
        if (bytes_ > kBytes) flush();
    }

  private:
    static constexpr std::int64_t kBytes = std::int64_t{1} << 22;

    void flush() {
        if (first_ < last_) rows_.give_back(first_, last_);
        first_ = INT64_MAX;
        last_ = 0;
        bytes_ = 0;
    }

    const M& rows_;
    std::int64_t first_ = INT64_MAX;
    std::int64_t last_ = 0;
    std::int64_t bytes_ = 0;
};

}  // namespace rankwise
