// The sum of one vector per chunk, always added in chunk order, regardless of which thread finishes first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace rankwise {

// A thread takes a zeroed buffer, fills it for its chunk and returns it. Buffers are added to `out` as soon
// as all earlier chunks have been added, and then reused: memory is about one buffer per thread.
// A buffer may keep other values beside its sums: element j of the sum is then the last of group j.
class OrderedSum {
  public:
    OrderedSum(double* out, std::int64_t size)
        : OrderedSum(out, size, std::vector<double>(static_cast<std::size_t>(size), 0.0)) {}

    // Every buffer starts as a copy of `fresh`, which holds groups of equal size whose last is zero.
    OrderedSum(double* out, std::int64_t size, std::vector<double> fresh)
        : out_(out), size_(static_cast<std::size_t>(size)), fresh_(std::move(fresh)) {
        std::fill_n(out, size_, 0.0);
    }

    std::vector<double> take() {
        {
            const std::lock_guard<std::mutex> hold(lock_);
            if (!spare_.empty()) {
                std::vector<double> buffer = std::move(spare_.back());
                spare_.pop_back();
                return buffer;
            }
        }
        return fresh_;
    }

    void give(std::int64_t chunk, std::vector<double> filled) {
        std::unique_lock<std::mutex> hold(lock_);
        waiting_.emplace(chunk, std::move(filled));
        if (adding_) return;
        adding_ = true;
        for (auto turn = waiting_.find(next_); turn != waiting_.end(); turn = waiting_.find(next_)) {
            std::vector<double> buffer = std::move(turn->second);
            waiting_.erase(turn);
            hold.unlock();
            const std::size_t group = size_ == 0 ? 1 : buffer.size() / size_;
            for (std::size_t j = 0, last = group - 1; j < size_; ++j, last += group) {
                out_[j] += buffer[last];
                buffer[last] = 0.0;
            }
            hold.lock();
            spare_.push_back(std::move(buffer));
            ++next_;
        }
        adding_ = false;
    }

  private:
    double* out_;
    std::size_t size_;
    std::vector<double> fresh_;
    std::mutex lock_;
    std::int64_t next_ = 0;
    bool adding_ = false;
    std::map<std::int64_t, std::vector<double>> waiting_;
    std::vector<std::vector<double>> spare_;
};

}  // namespace rankwise
