#include "kernels/path_scores.hpp"

#include <algorithm>
#include <vector>

#include "kernels/multiversion.hpp"
#include "kernels/parallel.hpp"

namespace rankwise {
namespace {

constexpr std::int64_t kRowsPerChunk = 256;

// What a few multipliers change in the coefficients of the training rows. Pairs share rows, above all in
// stars, so that these are fewer than the pairs' ends.
class CoefficientChanges {
  public:
    explicit CoefficientChanges(std::int64_t n) : change_(static_cast<std::size_t>(n), 0.0) {}

    void add(std::int32_t row, double change) {
        double& sum = change_[static_cast<std::size_t>(row)];
        if (sum == 0.0) rows_.push_back(row);
        sum += change;
    }

    // Call use(rows, changes, n) with the rows that changed, each once, and forget them.
    template <class Use>
    void take(Use use) {
        changes_.clear();
        std::size_t kept = 0;
        // A row whose sum was zero on the way is listed twice; the second time its change is 0.
        for (const std::int32_t row : rows_) {
            double& sum = change_[static_cast<std::size_t>(row)];
            if (sum == 0.0) continue;
            rows_[kept++] = row;
            changes_.push_back(sum);
            sum = 0.0;
        }
        use(rows_.data(), changes_.data(), static_cast<std::int64_t>(kept));
        rows_.clear();
    }

  private:
    std::vector<double> change_;
    std::vector<std::int32_t> rows_;
    std::vector<double> changes_;
};

// Add a combination of rows of the kernel to `out`, four of them in a pass.
RANKWISE_MULTIVERSION
void add_rows(KernelColumns kernel, const std::int32_t* rows, const double* scale, std::int64_t n,
              std::int64_t first, std::int64_t width, double* out) {
    const auto row = [&](std::int64_t k) { return kernel.values + rows[k] * kernel.n_columns + first; };
    std::int64_t k = 0;
    for (; k + 4 <= n; k += 4) {
        const double* a = row(k);
        const double* b = row(k + 1);
        const double* c = row(k + 2);
        const double* d = row(k + 3);
        const double s0 = scale[k], s1 = scale[k + 1], s2 = scale[k + 2], s3 = scale[k + 3];
        for (std::int64_t i = 0; i < width; ++i) {
            out[i] += (s0 * a[i] + s1 * b[i]) + (s2 * c[i] + s3 * d[i]);
        }
    }
    for (; k < n; ++k) {
        const double* a = row(k);
        for (std::int64_t i = 0; i < width; ++i) out[i] += scale[k] * a[i];
    }
}

}  // namespace

void scores_along_path(PathChanges path, WeightedPairs pairs, KernelColumns kernel, double* scores,
                       int n_threads) {
    const std::int64_t n_rows = kernel.n_columns;
    const std::int64_t n_chunks = (n_rows + kRowsPerChunk - 1) / kRowsPerChunk;
    for_each_chunk(n_chunks, n_threads, [&](std::int64_t chunk) {
        const std::int64_t first = chunk * kRowsPerChunk;
        const std::int64_t width = std::min(kRowsPerChunk, n_rows - first);
        CoefficientChanges changes(kernel.n_rows);
        for (std::int64_t t = 0; t < path.n_steps; ++t) {
            for (std::int64_t k = path.offsets[t]; k < path.offsets[t + 1]; ++k) {
                changes.add(pairs.better[path.pairs[k]], path.changes[k]);
                changes.add(pairs.worse[path.pairs[k]], -path.changes[k]);
            }
            double* next = scores + (t + 1) * n_rows + first;
            std::copy(next - n_rows, next - n_rows + width, next);
            changes.take([&](const std::int32_t* rows, const double* change, std::int64_t n) {
                add_rows(kernel, rows, change, n, first, width, next);
            });
        }
    });
}

}  // namespace rankwise
