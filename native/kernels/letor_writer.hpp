// Formats arrays as the entries of LETOR/SVMlight lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rankwise {

// The text " index:value index:value ..." of each row of a CSR matrix, one after another: row i is
// text[ends[i - 1] .. ends[i]]. Values are written with the fewest digits that round-trip exactly.
struct EntryText {
    std::string text;
    std::vector<std::int64_t> ends;
};

template <class Value>
EntryText format_entries(const std::int64_t* indptr, std::int64_t n_rows, const std::int64_t* indices,
                         const Value* values, std::int64_t first_index, int n_threads);

}  // namespace rankwise
