"""Reproductions of the papers' tables: ``python -m benchmarks.reproduce.<name> --data DIR``."""
