"""The papers' tables beside ours: ``python -m benchmarks.reproduce.<name> --data DIR``."""
