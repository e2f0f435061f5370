"""Speed against other tools: ``python -m benchmarks [--quick] [name ...]``; ``--list`` lists them.

Tables that the documentation shows are written into its pages, except with ``--quick`` and ``--keep-pages``.
"""

import argparse
import ast
import importlib
import sys
import time
from pathlib import Path

from benchmarks import tables, timing
from benchmarks.peers import built_peers
from rankwise import config_context

FOLDER = Path(__file__).parent


def main() -> int:
    parts = {path.stem.removeprefix("bench_"): path for path in sorted(FOLDER.glob("bench_*.py"))}
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help="the benchmarks to run; all by default")
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"data up to {timing.QUICK_SHARE} times smaller: a few minutes, to check that everything runs",
    )
    parser.add_argument("--keep-pages", action="store_true", help="only print the tables")
    parser.add_argument("--list", action="store_true", help="list the benchmarks and exit")
    built_peers.add_options(parser)
    options = parser.parse_args()
    if options.list:
        print("\n".join(f"{name:18}{first_line(path)}" for name, path in parts.items()))
        print(
            "\nThe papers' tables, with python -m benchmarks.reproduce.NAME (--help shows the data required):"
        )
        for path in sorted(FOLDER.glob("reproduce/[!_]*.py")):
            print(f"{path.stem:18}{first_line(path)}")
        return 0
    unknown = [name for name in options.names if name not in parts]
    if unknown:
        parser.error(f"unknown benchmark {', '.join(unknown)}; must be one of {', '.join(parts)}")
    timing.quick = options.quick
    built_peers.use(options)
    for name in options.names or parts:
        start = time.perf_counter()
        # Imported only now, because a benchmark sets its sizes on import. Some rank all rows at once.
        with config_context(one_ranking=True):
            importlib.import_module(f"benchmarks.bench_{name}").run()
        print(f"({name}: {time.perf_counter() - start:.0f} s in total)", flush=True)
        if not (options.quick or options.keep_pages):
            tables.write(f"python -m benchmarks {name}")
    return 0


def first_line(path: Path) -> str:
    return str(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))).splitlines()[0]


if __name__ == "__main__":
    sys.exit(main())
