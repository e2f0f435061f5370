"""Products with design matrices; solvers need not know if these are dense, sparse, on disk or kernels."""
