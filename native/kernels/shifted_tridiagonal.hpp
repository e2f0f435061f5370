// Systems (T + sI) x = b with one symmetric tridiagonal matrix T and many shifts s, O(n) each.
//
// T + sI = CCᵀ with a bidiagonal C. A matrix of n rows holds one column per shift, which is a lane: loops
// over lanes vectorize, and the recursion along the rows does not.
#pragma once

#include <cstdint>
#include <vector>

namespace rankwise {

// The shifts, repeating the last until their number is a multiple of `multiple`: loops over whole registers
// are faster.
std::vector<double> padded_shifts(const double* shifts, std::int64_t count, std::int64_t multiple);

struct Tridiagonal {
    const double* diagonal;      // n
    const double* off_diagonal;  // n - 1
    std::int64_t n;
};

// The inverse diagonal of C, and its off-diagonal: n × n_lanes each. A pivot that is not positive counts as
// infinite, so that x is 0 there: where T is a truncated spectrum, s = 0 gives the minimum-norm solution.
void factorize_shifted(const Tridiagonal& T, const double* shifts, std::int64_t n_lanes, double* inverse,
                       double* off);

// x = C⁻¹ x and x = C⁻ᵀ x, in place.
void solve_forward(const double* inverse, const double* off, std::int64_t n, std::int64_t n_lanes, double* x);
void solve_backward(const double* inverse, const double* off, std::int64_t n, std::int64_t n_lanes,
                    double* x);

// x = C⁻¹ b for one shift and n_lanes right-hand sides; `inverse` and `off` have one lane. If these rows are
// not the first of T, `before` is the row of x above them.
void solve_half(const double* inverse, const double* off, const double* b, std::int64_t n,
                std::int64_t n_lanes, double* x, const double* before = nullptr);

// Whether all eigenvalues of T exceed -shift.
bool is_positive_definite(const Tridiagonal& T, double shift);

}  // namespace rankwise
