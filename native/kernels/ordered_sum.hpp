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
class OrderedSum {
  public:
    OrderedSum(double* out, std::int64_t size) : out_(out), size_(static_cast<std::size_t>(size)) {
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
        return std::vector<double>(size_, 0.0);
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
            for (std::size_t j = 0; j < size_; ++j) {
                out_[j] += buffer[j];
                buffer[j] = 0.0;
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
    std::mutex lock_;
    std::int64_t next_ = 0;
    bool adding_ = false;
    std::map<std::int64_t, std::vector<double>> waiting_;
    std::vector<std::vector<double>> spare_;
};

}  // namespace rankwise
