"""Fuzz one target: ``python -m fuzz letor --seconds 60``. The first finding ends the run and is saved."""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import atheris


def instrumented() -> Any:
    """A block in which the modules of rankwise are imported with coverage."""
    return atheris.instrument_imports(include=["rankwise"])


with instrumented():
    from fuzz.corpus import CORPUS, FOUND, ROOT, inputs_of
    from fuzz.coverage import count_kernel_blocks
    from fuzz.mutators import MUTATORS
    from fuzz.targets import TARGETS, run


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    # Writing to a disk would take most of the time.
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        fuzz(options.target, options.seconds, Path(folder))


def fuzz(name: str, seconds: int, folder: Path) -> None:
    """Start libFuzzer, which ends the process; inputs that reach new code are kept for the next run."""
    with instrumented():  # some modules are only imported when they are first used
        for path in inputs_of(name):
            run(name, path.read_bytes(), folder)
    (FOUND / name).mkdir(parents=True, exist_ok=True)
    custom = {"custom_mutator": partial(_mutated, name)} if name in MUTATORS else {}
    atheris.Setup(
        [
            sys.argv[0],
            f"-max_total_time={seconds}",
            "-timeout=20",
            "-malloc_limit_mb=1024",
            "-rss_limit_mb=4096",
            f"-max_len={16384 if name in MUTATORS else 2048}",
            f"-dict={ROOT / 'fuzz' / 'words.dict'}",
            f"-artifact_prefix={FOUND / name}-",
            "-print_final_stats=1",
            str(FOUND / name),
            str(CORPUS / name),
        ],
        partial(_try, name, folder),
        **custom,
    )
    count_kernel_blocks()
    atheris.Fuzz()


def _try(name: str, folder: Path, content: bytes) -> None:
    """Run an input; a finding is saved here, because libFuzzer fails to if a library crashes at exit."""
    try:
        run(name, content, folder)
    except Exception:
        (FOUND / f"{name}-{hashlib.sha256(content).hexdigest()[:12]}").write_bytes(content)
        raise


def _mutated(name: str, content: bytes, size: int, seed: int) -> bytes:
    return MUTATORS[name](bytes(content), size, Random(seed), atheris.Mutate)[:size]


if __name__ == "__main__":
    main()
