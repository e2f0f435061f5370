// The free pairs of a ranking SVM and the Cholesky factor of their Gram matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/growing_cholesky.hpp"

namespace rankwise {

// Kernel values between rows: symmetric, positive semi-definite, n x n.
struct KernelMatrix {
    const double* data;
    std::int64_t n;

    const double* row(std::int64_t i) const { return data + i * n; }
};

// Pair p requires row better[p] above row worse[p]; its multiplier lies between 0 and weight[p].
struct WeightedPairs {
    const std::int32_t* better;
    const std::int32_t* worse;
    const double* weight;
    std::int64_t count;

    double difference(const double* rows, std::int64_t p) const { return rows[better[p]] - rows[worse[p]]; }
};

// Linearly independent pairs I and the factor of P_I K P_Iᵀ. P K Pᵀ is never formed: the inner products of a
// pair with the free pairs cost O(|I|) from two rows of K.
class Elbow {
  public:
    Elbow(KernelMatrix kernel, WeightedPairs pairs) : kernel_(kernel), all_(pairs) {}

    std::size_t size() const { return free_.size(); }
    const std::vector<std::int64_t>& pairs() const { return free_; }

    // Add a pair, unless it depends linearly on the free ones.
    bool append(std::int64_t pair);

    // Remove the pair at a position.
    void remove(std::size_t position);

    // x = (P_I K P_Iᵀ)⁻¹ x.
    void solve(std::vector<double>& x) const { factor_.solve(x); }

    // The combination of the free pairs nearest to a pair.
    std::vector<double> coordinates(std::int64_t pair) const;

    // Recompute the factor, which removes the rounding errors of many updates; O(|I|³).
    void refactor();

  private:
    std::vector<double> gram_column(std::int64_t pair) const;
    double squared_length(std::int64_t pair) const;

    KernelMatrix kernel_;
    WeightedPairs all_;
    std::vector<std::int64_t> free_;
    GrowingCholesky factor_;
};

}  // namespace rankwise
