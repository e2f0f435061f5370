// The Cholesky factor of a matrix that gains and loses rows and columns.
#pragma once

#include <cstddef>
#include <vector>

namespace rankwise {

// RᵀR = A, where R is updated and downdated in O(n²).
class GrowingCholesky {
  public:
    std::size_t size() const { return size_; }

    // Append a column to A: its entries above the diagonal, which this overwrites, and the diagonal entry.
    // Returns false, and changes nothing, if the part of `square` outside the other columns is less than
    // `independence` times it.
    bool append(std::vector<double>& column, double square, double independence);

    // Remove a row and column: the columns of R to its right move left, and Givens rotations of adjacent rows
    // make R triangular again.
    void remove(std::size_t position);

    // x = A⁻¹ x.
    void solve(std::vector<double>& x) const;

    void reserve(std::size_t size);

  private:
    double* row(std::size_t r) { return factor_.data() + r * capacity_; }
    const double* row(std::size_t r) const { return factor_.data() + r * capacity_; }
    void solve_transposed(std::vector<double>& x) const;

    // The upper triangle of R, `capacity_` doubles per row.
    std::vector<double> factor_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace rankwise
