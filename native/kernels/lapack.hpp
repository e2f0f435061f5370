// The routines of LAPACK and BLAS that kernels call: SciPy's own, so that no second library is linked. They
// take column-major matrices; a row-major matrix is passed as its transpose.
#pragma once

namespace rankwise {

struct Lapack {
    // A := L, where A = LLᵀ.
    void (*potrf)(const char* uplo, const int* n, double* a, const int* lda, int* info);
    void (*potrs)(const char* uplo, const int* n, const int* nrhs, const double* a, const int* lda, double* b,
                  const int* ldb, int* info);
    // C := beta C + alpha A Aᵀ.
    void (*syrk)(const char* uplo, const char* trans, const int* n, const int* k, const double* alpha,
                 const double* a, const int* lda, const double* beta, double* c, const int* ldc);
    void (*gemm)(const char* transa, const char* transb, const int* m, const int* n, const int* k,
                 const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
                 const double* beta, double* c, const int* ldc);
    void (*gemv)(const char* trans, const int* m, const int* n, const double* alpha, const double* a,
                 const int* lda, const double* x, const int* incx, const double* beta, double* y,
                 const int* incy);
};

}  // namespace rankwise
