#include "kernels/letor_writer.hpp"

#include <algorithm>
#include <charconv>

#include "kernels/parallel.hpp"

namespace rankwise {

namespace {

constexpr std::int64_t rows_per_chunk = 256;

template <class Number>
void append_number(std::string& text, Number number) {
    char digits[32];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace

template <class Value>
EntryText format_entries(const std::int64_t* indptr, std::int64_t n_rows, const std::int64_t* indices,
                         const Value* values, std::int64_t first_index, int n_threads) {
    const std::int64_t n_chunks = (n_rows + rows_per_chunk - 1) / rows_per_chunk;
    std::vector<std::string> texts(static_cast<std::size_t>(n_chunks));
    EntryText result;
    result.ends.resize(static_cast<std::size_t>(n_rows));
    for_each_chunk(n_chunks, n_threads, [&](std::int64_t chunk) {
        std::string& text = texts[static_cast<std::size_t>(chunk)];
        const std::int64_t last = std::min(n_rows, (chunk + 1) * rows_per_chunk);
        for (std::int64_t row = chunk * rows_per_chunk; row < last; ++row) {
            for (std::int64_t entry = indptr[row] - indptr[0]; entry < indptr[row + 1] - indptr[0]; ++entry) {
                text.push_back(' ');
                append_number(text, indices[entry] + first_index);
                text.push_back(':');
                append_number(text, values[entry]);
            }
            result.ends[static_cast<std::size_t>(row)] = static_cast<std::int64_t>(text.size());
        }
    });
    for (std::int64_t chunk = 0; chunk < n_chunks; ++chunk) {
        const auto start = static_cast<std::int64_t>(result.text.size());
        const std::int64_t last = std::min(n_rows, (chunk + 1) * rows_per_chunk);
        for (std::int64_t row = chunk * rows_per_chunk; row < last; ++row) {
            result.ends[static_cast<std::size_t>(row)] += start;
        }
        result.text += texts[static_cast<std::size_t>(chunk)];
    }
    return result;
}

template EntryText format_entries(const std::int64_t*, std::int64_t, const std::int64_t*, const double*,
                                  std::int64_t, int);
template EntryText format_entries(const std::int64_t*, std::int64_t, const std::int64_t*, const float*,
                                  std::int64_t, int);

}  // namespace rankwise
