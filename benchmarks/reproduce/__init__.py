"""The papers' tables next to ours: ``python -m benchmarks.reproduce.<name> --data DIR``."""
