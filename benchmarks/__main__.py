"""Run all benchmarks, or those named: ``python -m benchmarks [name ...]``."""

import importlib
import sys
from pathlib import Path


def main() -> int:
    available = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))
    unknown = [name for name in sys.argv[1:] if name not in available]
    if unknown:
        print(f"No benchmark named {', '.join(unknown)}; there are: {', '.join(available)}.", file=sys.stderr)
        return 2
    for name in sys.argv[1:] or available:
        importlib.import_module(f"benchmarks.bench_{name}").run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
