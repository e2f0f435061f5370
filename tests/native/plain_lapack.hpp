// The routines of `Lapack` as plain loops, for programs without SciPy. Column-major, as in LAPACK.
#pragma once

#include <cmath>
#include <cstddef>

#include "kernels/lapack.hpp"

namespace rankwise {

inline double& entry(double* a, int lda, int i, int j) {
    return a[static_cast<std::ptrdiff_t>(j) * lda + i];
}

inline double entry(const double* a, int lda, int i, int j, char transposed = 'N') {
    return transposed == 'N' ? a[static_cast<std::ptrdiff_t>(j) * lda + i]
                             : a[static_cast<std::ptrdiff_t>(i) * lda + j];
}

inline void plain_gemm(const char* ta, const char* tb, const int* m, const int* n, const int* k,
                       const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
                       const double* beta, double* c, const int* ldc) {
    for (int i = 0; i < *m; ++i) {
        for (int j = 0; j < *n; ++j) {
            double sum = 0.0;
            for (int l = 0; l < *k; ++l) sum += entry(a, *lda, i, l, *ta) * entry(b, *ldb, l, j, *tb);
            double& to = entry(c, *ldc, i, j);
            to = *alpha * sum + (*beta == 0.0 ? 0.0 : *beta * to);
        }
    }
}

inline void plain_gemv(const char* t, const int* m, const int* n, const double* alpha, const double* a,
                       const int* lda, const double* x, const int*, const double* beta, double* y,
                       const int*) {
    const int one = 1;
    plain_gemm(t, "N", m, &one, n, alpha, a, lda, x, n, beta, y, m);
}

inline void plain_syrk(const char*, const char*, const int* n, const int* k, const double* alpha,
                       const double* a, const int* lda, const double* beta, double* c, const int* ldc) {
    plain_gemm("N", "T", n, n, k, alpha, a, lda, a, lda, beta, c, ldc);
}

inline void plain_potrf(const char*, const int* n, double* a, const int* lda, int* info) {
    for (int j = 0; j < *n; ++j) {
        for (int i = j; i < *n; ++i) {
            double rest = entry(a, *lda, i, j);
            for (int k = 0; k < j; ++k) rest -= entry(a, *lda, i, k) * entry(a, *lda, j, k);
            if (i == j && rest <= 0.0) {
                *info = j + 1;
                return;
            }
            entry(a, *lda, i, j) = i == j ? std::sqrt(rest) : rest / entry(a, *lda, j, j);
        }
    }
}

inline void plain_potrs(const char*, const int* n, const int*, const double* a, const int* lda, double* b,
                        const int*, int*) {
    for (int i = 0; i < *n; ++i) {
        for (int k = 0; k < i; ++k) b[i] -= entry(a, *lda, i, k) * b[k];
        b[i] /= entry(a, *lda, i, i);
    }
    for (int i = *n - 1; i >= 0; --i) {
        for (int k = i + 1; k < *n; ++k) b[i] -= entry(a, *lda, k, i) * b[k];
        b[i] /= entry(a, *lda, i, i);
    }
}

constexpr Lapack plain_lapack{plain_potrf, plain_potrs, plain_syrk, plain_gemm, plain_gemv};

}  // namespace rankwise
