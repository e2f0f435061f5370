#include "kernels/letor.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "kernels/parallel.hpp"

namespace rankwise {

namespace {

constexpr std::int64_t chunk_size = 1 << 17;
constexpr std::int64_t max_32 = std::numeric_limits<std::int32_t>::max();

template <class To, class From>
void copy_cast(const From* from, std::int64_t n, To* to) {
    for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<To>(from[i]);
}

// Starts of lines about chunk_size apart, and the end.
std::vector<std::int64_t> line_starts(const char* text, std::int64_t size) {
    std::vector<std::int64_t> starts{0};
    while (starts.back() < size) {
        const std::int64_t aim = std::min(starts.back() + chunk_size, size) - 1;
        const void* const newline = std::memchr(text + aim, '\n', static_cast<std::size_t>(size - aim));
        starts.push_back(static_cast<const char*>(newline) - text + 1);
    }
    return starts;
}

std::string mixed_queries(bool before) {
    return before ? "the row has no qid, but earlier rows do."
                  : "the row has a qid, but earlier rows do not.";
}

}  // namespace

// Whole lines read by one thread. Line numbers and row ends count from the start of the chunk.
struct LetorReader::Chunk {
    struct Run {
        std::string_view query;
        std::int64_t n_rows;
    };

    const char* begin;
    const char* end;
    std::int64_t* indices;
    double* values;

    std::vector<double> labels;
    std::vector<std::int64_t> row_ends;
    std::vector<Run> runs;
    TextColumn docs;
    TextColumn comments;
    std::int64_t first_row_line = 0;
    std::int64_t n_lines = 0;
    std::int64_t n_entries = 0;
    std::int64_t lowest = INT64_MAX;
    std::int64_t highest = -1;
    std::optional<LineError> error;

    bool has_queries() const { return !runs.empty(); }
    void add(const LetorLine& line);
};

void LetorReader::Chunk::add(const LetorLine& line) {
    const auto row = static_cast<std::int64_t>(labels.size());
    if (row == 0) first_row_line = n_lines;
    if (row > 0 && line.query.empty() == has_queries()) {
        error = LineError{n_lines, mixed_queries(has_queries())};
        return;
    }
    if (!line.query.empty()) {
        if (runs.empty() || runs.back().query != line.query) runs.push_back({line.query, 0});
        ++runs.back().n_rows;
    }
    if (line.n_entries > 0) {
        lowest = std::min(lowest, indices[n_entries]);
        highest = std::max(highest, indices[n_entries + line.n_entries - 1]);
    }
    n_entries += line.n_entries;
    labels.push_back(line.label);
    row_ends.push_back(n_entries);
    if (!line.comment.empty()) {
        comments.set(row, line.comment);
        if (const std::string_view doc = docid_of(line.comment); !doc.empty()) docs.set(row, doc);
    }
}

LetorReader::LetorReader(LetorRules rules, bool single_precision)
    : rules_(rules), single_precision_(single_precision) {
    take();  // starts with rows of the right type
}

void LetorReader::read_chunk(Chunk& chunk) const {
    LetorLine line;
    for (const char* at = chunk.begin; at < chunk.end && !chunk.error; at = line.newline + 1) {
        ++chunk.n_lines;
        std::string message = read_letor_line(at, chunk.end, rules_, chunk.indices + chunk.n_entries,
                                              chunk.values + chunk.n_entries, line);
        if (!message.empty()) {
            chunk.error = LineError{chunk.n_lines, std::move(message)};
            return;
        }
        if (line.is_row) chunk.add(line);
    }
}

std::int64_t LetorReader::number_of_query(std::string_view label) {
    const auto [found, is_new] =
        query_numbers_.try_emplace(std::string(label), static_cast<std::int64_t>(query_labels_.size()));
    if (is_new) query_labels_.emplace_back(label);
    return found->second;
}

std::optional<LineError> LetorReader::merge(Chunk& chunk) {
    if (!chunk.labels.empty()) {
        if (has_queries_ && *has_queries_ != chunk.has_queries()) {
            return LineError{n_lines_ + chunk.first_row_line, mixed_queries(*has_queries_)};
        }
        has_queries_ = chunk.has_queries();
    }
    if (chunk.error) return LineError{n_lines_ + chunk.error->line, std::move(chunk.error->message)};

    const std::int64_t first_row = rows_.labels.size();
    const std::int64_t first_entry = first_row > 0 ? rows_.row_ends.data()[first_row - 1] : 0;
    const auto n_rows = static_cast<std::int64_t>(chunk.labels.size());
    copy_cast(chunk.labels.data(), n_rows, rows_.labels.extend(n_rows));
    std::int64_t* const row_ends = rows_.row_ends.extend(n_rows);
    for (std::int64_t i = 0; i < n_rows; ++i) {
        row_ends[i] = first_entry + chunk.row_ends[static_cast<std::size_t>(i)];
    }
    for (const Chunk::Run& run : chunk.runs) {
        std::fill_n(rows_.queries.extend(run.n_rows), run.n_rows, number_of_query(run.query));
    }
    rows_.docs.append(first_row, chunk.docs);
    rows_.comments.append(first_row, chunk.comments);
    n_lines_ += chunk.n_lines;
    n_rows_ += n_rows;
    lowest_ = std::min(lowest_, chunk.lowest);
    highest_ = std::max(highest_, chunk.highest);
    return std::nullopt;
}

void LetorReader::copy_entries(const std::vector<Chunk>& chunks, int n_threads) {
    std::vector<std::int64_t> starts;
    std::int64_t total = std::visit([](auto& values) { return values.size(); }, rows_.values);
    const std::int64_t before = total;
    for (const Chunk& chunk : chunks) {
        starts.push_back(total - before);
        total += chunk.n_entries;
    }
    if (auto* narrow = std::get_if<GrowingArray<std::int32_t>>(&rows_.indices);
        narrow != nullptr && (highest_ > max_32 || total > max_32)) {
        GrowingArray<std::int64_t> wide;
        copy_cast(narrow->data(), before, wide.extend(before));
        rows_.indices = std::move(wide);
    }
    std::visit(
        [&](auto& indices, auto& values) {
            auto* const to_indices = indices.extend(total - before);
            auto* const to_values = values.extend(total - before);
            for_each_chunk(static_cast<std::int64_t>(chunks.size()), n_threads, [&](std::int64_t i) {
                const Chunk& chunk = chunks[static_cast<std::size_t>(i)];
                const std::int64_t start = starts[static_cast<std::size_t>(i)];
                copy_cast(chunk.indices, chunk.n_entries, to_indices + start);
                copy_cast(chunk.values, chunk.n_entries, to_values + start);
            });
        },
        rows_.indices, rows_.values);
}

std::optional<LineError> LetorReader::feed(const char* text, std::int64_t size, int n_threads) {
    block_indices_.reserve(size / 4 + 1);
    block_values_.reserve(size / 4 + 1);
    const std::vector<std::int64_t> starts = line_starts(text, size);
    std::vector<Chunk> chunks(starts.size() - 1);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        chunks[i].begin = text + starts[i];
        chunks[i].end = text + starts[i + 1];
        chunks[i].indices = block_indices_.data() + starts[i] / 4;
        chunks[i].values = block_values_.data() + starts[i] / 4;
    }
    for_each_chunk(static_cast<std::int64_t>(chunks.size()), n_threads,
                   [&](std::int64_t i) { read_chunk(chunks[static_cast<std::size_t>(i)]); });
    for (Chunk& chunk : chunks) {
        if (auto error = merge(chunk)) return error;
    }
    copy_entries(chunks, n_threads);
    return std::nullopt;
}

LetorRows LetorReader::take() {
    LetorRows fresh;
    if (single_precision_) fresh.values = GrowingArray<float>();
    LetorRows taken = std::exchange(rows_, std::move(fresh));
    const std::int64_t n_rows = taken.labels.size();
    if (!taken.docs.empty()) taken.docs.fill(n_rows);
    if (!taken.comments.empty()) taken.comments.fill(n_rows);
    return taken;
}

}  // namespace rankwise
