"""RankSVMPath: the exact regularization path of the hinge with kernels."""
