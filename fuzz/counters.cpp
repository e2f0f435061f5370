// Counts how often each block of the kernels runs, so that a fuzzer can tell which inputs reach new code.
//
// GCC calls __sanitizer_cov_trace_pc at the start of every block (-fsanitize-coverage=trace-pc); libFuzzer
// wants an array of counters and a table with an address for each, which fuzz/coverage.py hands to it.
#include <array>
#include <cstddef>
#include <cstdint>

namespace {

constexpr int kBits = 16;
constexpr std::size_t kCounters = std::size_t{1} << kBits;

struct Place {
    std::uintptr_t address;
    std::uintptr_t flags;
};

std::array<std::uint8_t, kCounters> counters;

// libFuzzer only asks for distinct addresses: hashed blocks have none of their own.
std::array<Place, kCounters> places = [] {
    std::array<Place, kCounters> numbered{};
    for (std::size_t i = 0; i < kCounters; ++i) numbered[i].address = i + 1;
    return numbered;
}();

}  // namespace

#define RANKWISE_EXPORT extern "C" __attribute__((visibility("default")))

RANKWISE_EXPORT std::uint8_t* rankwise_counters() {
    return counters.data();
}

RANKWISE_EXPORT Place* rankwise_places() {
    return places.data();
}

RANKWISE_EXPORT std::size_t rankwise_n_counters() {
    return kCounters;
}

extern "C" void __sanitizer_cov_trace_pc() {
    const auto block = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
    ++counters[static_cast<std::uint64_t>(block) * 0x9E3779B97F4A7C15u >> (64 - kBits)];
}
