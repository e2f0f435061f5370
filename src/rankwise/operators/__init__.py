"""Design matrices (dense, sparse, on disk, kernel) as products; solvers never ask what is behind them."""
