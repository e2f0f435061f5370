// Fixed chunks distributed over threads. Which thread runs a chunk varies, but what a chunk computes does
// not, so a kernel that writes per chunk and reduces in chunk order is bit-identical for any number of
// threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace rankwise {

// One thread for few multiply-adds, which finish before a second thread has started. The chunks, and hence
// the bits, are the same.
inline int threads_worth(std::int64_t n_multiply_adds, int n_threads) {
    return n_multiply_adds < (1 << 16) ? 1 : n_threads;
}

template <class Body>
void for_each_chunk(std::int64_t n_chunks, int n_threads, Body&& body) {
    if (n_threads <= 1 || n_chunks <= 1) {
        for (std::int64_t chunk = 0; chunk < n_chunks; ++chunk) body(chunk);
        return;
    }
    std::atomic<std::int64_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_lock;
    auto work = [&] {
        try {
            for (std::int64_t chunk = next++; chunk < n_chunks; chunk = next++) body(chunk);
        } catch (...) {
            const std::lock_guard<std::mutex> hold(failure_lock);
            if (!failure) failure = std::current_exception();
            next = n_chunks;
        }
    };
    const auto extra = static_cast<std::size_t>(n_threads < n_chunks ? n_threads - 1 : n_chunks - 1);
    std::vector<std::thread> threads;
    // If the system has no more threads, or no memory to create them, those that exist do all the work.
    // Letting the error propagate would terminate the process, because it would destroy threads that are not
    // joined.
    try {
        threads.reserve(extra);
        for (std::size_t i = 0; i < extra; ++i) threads.emplace_back(work);
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
    work();
    for (auto& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace rankwise
