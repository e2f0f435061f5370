// Parses LETOR/SVMlight text into arrays, block by block and in parallel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "kernels/growing_array.hpp"
#include "kernels/letor_line.hpp"

namespace rankwise {

struct LineError {
    std::int64_t line;  // counted from 1
    std::string message;
};

// One short text per row, terminated by a newline; empty for rows without one. Costs nothing until the first.
class TextColumn {
  public:
    void set(std::int64_t row, std::string_view text) {
        fill(row);
        text_.append(text).push_back('\n');
        ++n_rows_;
    }
    void append(std::int64_t row, const TextColumn& other) {
        if (other.n_rows_ == 0) return;
        fill(row);
        text_.append(other.text_);
        n_rows_ += other.n_rows_;
    }
    void fill(std::int64_t n_rows) {
        text_.append(static_cast<std::size_t>(n_rows - n_rows_), '\n');
        n_rows_ = n_rows;
    }
    bool empty() const { return n_rows_ == 0; }
    std::string release() {
        n_rows_ = 0;
        return std::exchange(text_, {});
    }

  private:
    std::string text_;
    std::int64_t n_rows_ = 0;
};

// Rows in CSR form: row i holds the entries row_ends[i - 1] .. row_ends[i]. Indices stay 32-bit as long as
// every index and the number of entries fit.
struct LetorRows {
    GrowingArray<double> labels;
    GrowingArray<std::int64_t> queries;  // numbered by first appearance; empty if the text has no qid
    GrowingArray<std::int64_t> row_ends;
    std::variant<GrowingArray<std::int32_t>, GrowingArray<std::int64_t>> indices;
    std::variant<GrowingArray<double>, GrowingArray<float>> values;
    TextColumn docs;
    TextColumn comments;
};

class LetorReader {
  public:
    LetorReader(LetorRules rules, bool single_precision);

    // Reads whole lines (the last character is a newline) and appends their rows. After an error, the reader
    // must not be used again.
    std::optional<LineError> feed(const char* text, std::int64_t size, int n_threads);

    // Returns the rows read since the last call; queries keep their numbers.
    LetorRows take();

    const std::vector<std::string>& query_labels() const { return query_labels_; }
    std::int64_t n_lines() const { return n_lines_; }
    std::int64_t n_rows() const { return n_rows_; }
    std::int64_t lowest_index() const { return lowest_; }    // 2^63 - 1 if no entry was read
    std::int64_t highest_index() const { return highest_; }  // -1 if no entry was read

  private:
    struct Chunk;
    void read_chunk(Chunk& chunk) const;
    std::optional<LineError> merge(Chunk& chunk);
    void copy_entries(const std::vector<Chunk>& chunks, int n_threads);
    std::int64_t number_of_query(std::string_view label);

    LetorRules rules_;
    bool single_precision_;
    LetorRows rows_;
    std::unordered_map<std::string, std::int64_t> query_numbers_;
    std::vector<std::string> query_labels_;
    std::optional<bool> has_queries_;
    std::int64_t n_lines_ = 0;
    std::int64_t n_rows_ = 0;
    std::int64_t lowest_ = INT64_MAX;
    std::int64_t highest_ = -1;
    // Entries of the block being read; the chunk that starts at character c writes from element c / 4.
    GrowingArray<std::int64_t> block_indices_;
    GrowingArray<double> block_values_;
};

}  // namespace rankwise
