#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/each_query.hpp"
#include "kernels/hinge.hpp"
#include "kernels/parallel.hpp"

namespace rankwise {
namespace {

// A key holds the position of a score in the range of its query, truncated to 32 bits, above the row number.
// Sorting by position, a byte at a time, does nearly all the work; rows with the same position are sorted by
// comparison at the end.
//
// Why not sort_descending: sorting by the bits of doubles takes more passes through memory and makes a value
// of the hinge 5 to 15 % slower. Why not this everywhere: measures accept arbitrary scores, and an outlier
// crowds all others into a few positions, which would make their sort two to six times slower.
using Key = std::uint64_t;

constexpr std::int64_t kSmall = 64;  // sorted by comparison up to this size
constexpr std::int64_t kRowsPerPart = 32768;
constexpr double kPlaces = 4294967040.0;  // just below 2^32

std::size_t byte_of(Key key, int shift) {
    return (key >> shift) & 255U;
}
std::int32_t row_of(Key key) {
    return static_cast<std::int32_t>(key & 0xffffffffU);
}

// Scratch memory for one query, reused for the next.
struct Workspace {
    std::vector<Key> keys;
    std::vector<Key> spare;
    std::array<std::int64_t, 257> bucket{};  // starts of the runs that share the highest byte

    void resize(std::int64_t n) {
        if (static_cast<std::int64_t>(keys.size()) >= n) return;
        keys.resize(static_cast<std::size_t>(n));
        spare.resize(static_cast<std::size_t>(n));
    }
};

std::pair<double, double> range_of(const double* scores, std::int64_t n) {
    constexpr std::size_t kLanes = 8;  // independent, so that they can be compared in parallel
    std::array<double, kLanes> low;
    std::array<double, kLanes> high;
    low.fill(scores[0]);
    high.fill(scores[0]);
    std::int64_t i = 0;
    for (; i + static_cast<std::int64_t>(kLanes) <= n; i += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const double score = scores[i + static_cast<std::int64_t>(lane)];
            low[lane] = score < low[lane] ? score : low[lane];
            high[lane] = score > high[lane] ? score : high[lane];
        }
    }
    for (; i < n; ++i) {
        low[0] = std::min(low[0], scores[i]);
        high[0] = std::max(high[0], scores[i]);
    }
    return {*std::min_element(low.begin(), low.end()), *std::max_element(high.begin(), high.end())};
}

// Leaves the keys in `spare`, in runs that share the highest byte of their position.
void partition(const double* scores, std::int64_t n, Workspace& room) {
    const auto [low, high] = range_of(scores, n);
    const double scale = kPlaces / (high - low);
    const bool usable = std::isfinite(scale) && scale > 0.0;
    std::array<std::int64_t, 256> next{};
    for (std::int64_t i = 0; i < n; ++i) {
        const Key place = usable ? static_cast<Key>((scores[i] - low) * scale) : 0U;
        room.keys[static_cast<std::size_t>(i)] = place << 32 | static_cast<Key>(i);
        ++next[place >> 24];
    }
    for (std::size_t b = 0; b < 256; ++b) {
        room.bucket[b + 1] = room.bucket[b] + next[b];
        next[b] = room.bucket[b];
    }
    const Key* keys = room.keys.data();
    Key* spare = room.spare.data();
    for (std::int64_t i = 0; i < n; ++i) spare[next[byte_of(keys[i], 56)]++] = keys[i];
}

// Sort the run by the other three bytes of the position, from `spare` to `keys`.
void sort_run(Key* keys, Key* spare, std::int64_t n) {
    if (n <= kSmall) {
        std::copy(spare, spare + n, keys);
        std::sort(keys, keys + n);
        return;
    }
    for (int shift = 32; shift < 56; shift += 8) {
        std::array<std::uint32_t, 256> next{};
        for (std::int64_t i = 0; i < n; ++i) ++next[byte_of(spare[i], shift)];
        std::uint32_t start = 0;
        for (std::uint32_t& bucket : next) start += std::exchange(bucket, start);
        for (std::int64_t i = 0; i < n; ++i) keys[next[byte_of(spare[i], shift)]++] = spare[i];
        std::swap(keys, spare);
    }
}

void order_equal_places(Key* keys, std::int64_t n, const double* scores) {
    const auto by_score = [scores](Key a, Key b) { return scores[row_of(a)] < scores[row_of(b)]; };
    for (std::int64_t first = 0; first < n;) {
        std::int64_t last = first + 1;
        while (last < n && keys[last] >> 32 == keys[first] >> 32) ++last;
        if (last - first > 1) std::sort(keys + first, keys + last, by_score);
        first = last;
    }
}

// Write rows and scores in order, for the runs with the highest bytes [first, last).
void sort_runs(const double* scores, std::size_t first, std::size_t last, Workspace& room, ScoreOrder out) {
    for (std::size_t b = first; b < last; ++b) {
        const std::int64_t start = room.bucket[b];
        const std::int64_t n = room.bucket[b + 1] - start;
        Key* keys = room.keys.data() + start;
        sort_run(keys, room.spare.data() + start, n);
        order_equal_places(keys, n, scores);
        for (std::int64_t t = 0; t < n; ++t) {
            out.row[start + t] = row_of(keys[t]);
            out.score[start + t] = scores[row_of(keys[t])];
        }
    }
}

void order_few(const double* scores, std::int64_t n, ScoreOrder out) {
    for (std::int64_t i = 0; i < n; ++i) {
        std::int64_t place = i;
        for (; place > 0 && out.score[place - 1] > scores[i]; --place) {
            out.score[place] = out.score[place - 1];
            out.row[place] = out.row[place - 1];
        }
        out.score[place] = scores[i];
        out.row[place] = static_cast<std::int32_t>(i);
    }
}

void order_query(const double* scores, std::int64_t n, ScoreOrder out, Workspace& room, int n_threads) {
    if (n <= kSmall) {
        order_few(scores, n, out);
        return;
    }
    room.resize(n);
    partition(scores, n, room);
    const std::int64_t n_parts = n / kRowsPerPart + 1;
    const auto first_run = [&](std::int64_t part) {
        const auto runs = std::lower_bound(room.bucket.begin(), room.bucket.end() - 1, n * part / n_parts);
        return part == 0 ? 0 : static_cast<std::size_t>(runs - room.bucket.begin());
    };
    for_each_chunk(n_parts, n_threads, [&](std::int64_t part) {
        const std::size_t last = part + 1 == n_parts ? 256 : first_run(part + 1);
        sort_runs(scores, first_run(part), last, room, out);
    });
}

}  // namespace

void order_scores(const std::int64_t* offsets, std::int64_t n_queries, const double* scores, ScoreOrder out,
                  int n_threads) {
    for_each_query<Workspace>(
        {offsets, n_queries}, n_threads,
        [&](std::int64_t q, Workspace& room, int threads) {
            const std::int64_t start = offsets[q];
            order_query(scores + start, offsets[q + 1] - start, {out.row + start, out.score + start}, room,
                        threads);
        },
        kRowsPerPart);
}

}  // namespace rankwise
