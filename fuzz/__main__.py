"""Fuzz one target: ``python -m fuzz letor --seconds 60``. The first finding ends the run and is saved."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from random import Random

import atheris

ROOT = Path(__file__).parent.parent

# Everything that a target imports, some of it only when it first runs, is instrumented.
with atheris.instrument_imports(include=["rankwise"]):
    from fuzz.corpus import inputs_of
    from fuzz.coverage import count_kernel_blocks
    from fuzz.mutators import MUTATORS
    from fuzz.targets import TARGETS, run

    def _warm_up(name: str, folder: Path) -> None:
        for path in inputs_of(name):
            run(name, path.read_bytes(), folder)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--found", type=Path, default=ROOT / "build-sanitize" / "fuzz")
    options = parser.parse_args()
    name, found = options.target, options.found / options.target
    found.mkdir(parents=True, exist_ok=True)
    # Writing to a disk would take most of the time.
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as place:
        folder = Path(place)
        os.chdir(folder)
        with atheris.instrument_imports(include=["rankwise"]):
            _warm_up(name, folder)
        mutator = MUTATORS.get(name)
        custom = {}
        if mutator is not None:
            custom["custom_mutator"] = lambda content, size, seed: mutator(
                bytes(content), size, Random(seed), atheris.Mutate
            )[:size]
        atheris.Setup(
            [
                sys.argv[0],
                f"-max_total_time={options.seconds}",
                "-timeout=20",
                "-rss_limit_mb=2048",
                f"-max_len={16384 if mutator else 2048}",
                f"-dict={ROOT / 'fuzz' / 'words.dict'}",
                f"-artifact_prefix={found.parent / f'{name}-'}",
                "-print_final_stats=1",
                str(found),
                str(ROOT / "tests" / "corpus" / name),
            ],
            lambda content: run(name, content, folder),
            **custom,
        )
        count_kernel_blocks()
        atheris.Fuzz()


if __name__ == "__main__":
    main()
