#include "kernels/path_scores.hpp"

#include <algorithm>
#include <vector>

#include "kernels/buffer.hpp"
#include "kernels/parallel.hpp"
#include "kernels/row_sums.hpp"

namespace rankwise {
namespace {

constexpr std::int64_t kRowsPerChunk = 256;

// The changes in the coefficients of the training rows caused by the multipliers of a step. Pairs share rows,
// especially in stars, so there are fewer of them than pair ends.
class CoefficientChanges {
  public:
    explicit CoefficientChanges(std::int64_t n)
        : change_(static_cast<std::size_t>(n), 0.0), seen_(static_cast<std::size_t>(n), 0) {
        rows_.resize(n + 1);
        changes_.resize(n);
    }

    void collect(const PathChanges& steps, const WeightedPairs& pairs, std::int64_t step) {
        double* change = change_.data();
        std::int32_t* rows = rows_.data();
        char* seen = seen_.data();
        std::int64_t n = 0;
        // Without a branch on whether the row is new, which would be unpredictable.
        const auto add = [&](std::int32_t row, double value) {
            rows[n] = row;
            n += 1 - seen[row];
            seen[row] = 1;
            change[row] += value;
        };
        for (std::int64_t k = steps.offsets[step]; k < steps.offsets[step + 1]; ++k) {
            add(pairs.better[steps.pairs[k]], steps.changes[k]);
            add(pairs.worse[steps.pairs[k]], -steps.changes[k]);
        }
        for (std::int64_t k = 0; k < n; ++k) {
            changes_[k] = change[rows[k]];
            change[rows[k]] = 0.0;
            seen[rows[k]] = 0;
        }
        n_ = n;
    }

    // The rows that changed, each once, and the amounts.
    std::int64_t size() const { return n_; }
    const std::int32_t* rows() const { return rows_.data(); }
    const double* values() const { return changes_.data(); }

  private:
    std::vector<double> change_;
    std::vector<char> seen_;
    Buffer<std::int32_t> rows_;
    Buffer<double> changes_;
    std::int64_t n_ = 0;
};

}  // namespace

void scores_along_path(const ScoredPath& path, std::int64_t first, std::int64_t n_steps, double* scores,
                       int n_threads) {
    const KernelColumns& kernel = path.kernel;
    const std::int64_t n_columns = kernel.n_columns;
    const std::int64_t n_chunks = (n_columns + kRowsPerChunk - 1) / kRowsPerChunk;
    const std::int64_t* offsets = path.changes.offsets + first;
    const std::int64_t work = (offsets[n_steps] - offsets[0]) * n_columns;
    for_each_chunk(n_chunks, threads_worth(work, n_threads), [&](std::int64_t chunk) {
        const std::int64_t column = chunk * kRowsPerChunk;
        const std::int64_t width = std::min(kRowsPerChunk, n_columns - column);
        CoefficientChanges changes(kernel.n_rows);
        for (std::int64_t t = 0; t < n_steps; ++t) {
            changes.collect(path.changes, path.pairs, first + t);
            double* next = scores + (t + 1) * n_columns + column;
            std::copy(next - n_columns, next - n_columns + width, next);
            add_rows({kernel.values + column, n_columns, changes.rows(), changes.values(), changes.size()},
                     width, next);
        }
    });
}

}  // namespace rankwise
