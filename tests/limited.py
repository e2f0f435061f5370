"""Do work on a full disk or with little memory, in a process of its own, and print how each attempt ended.

``python limited.py disk``: files may not grow beyond some size, the portable stand-in for a full disk.
``python limited.py tmpfs``: a file system that is really full; needs the right to mount one.
``python limited.py memory``: an address space that may grow by some megabytes only.
"""

import errno
import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np

import rankwise
from killed import exit_code, in_child
from rankwise.cli import main
from works import WORKS, command, contents, prepare

REFUSED = 3


def refused(do, error_number, place):
    """Do work that must end with a system error which names its place."""
    try:
        do("new")
    except OSError as error:
        if (error.errno, error.filename) == (error_number, str(Path(place).resolve())):
            os._exit(REFUSED)
        raise


def attempt(work, room, error_number):
    """Do the work in so many bytes; print how it ended and what is there now."""
    work.restore_old()
    room()
    code = exit_code(in_child(refused, work.do, error_number, work.place))
    print(work.place, code, work.now(), len(work.temporaries()), flush=True)


def largest_file(work):
    return max(map(len, contents(Path("expected/new", work.place)).values()))


def on_small_files(names):
    prepare(names)
    free = resource.getrlimit(resource.RLIMIT_FSIZE)
    for work in (WORKS[name] for name in names):
        for size in (10, largest_file(work) // 2, largest_file(work) - 1):
            attempt(
                work,
                lambda size=size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, free[1])),
                errno.EFBIG,
            )
            resource.setrlimit(resource.RLIMIT_FSIZE, free)


def on_a_full_disk(names):
    Path("disk").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", "disk"], check=True)
    os.chdir("disk")
    prepare(names)
    for work in (WORKS[name] for name in names):
        for size in (0, largest_file(work) // 2):
            attempt(work, lambda size=size: leave_room(size), errno.ENOSPC)


def leave_room(n_bytes):
    """Fill the disk up to so many bytes."""
    with Path("ballast").open("wb") as file:
        try:
            while file.write(bytes(1 << 16)):
                file.flush()
        except OSError:
            file.truncate(os.fstat(file.fileno()).st_size - n_bytes)


COMMANDS = [
    "train large.store model",
    "train large.store model --learner ranksvm",
    "train wide.store model --learner kernel-rankrls",
    "convert large.txt converted.store",
    "predict large.store large.safetensors --out scores",
    "evaluate wide.store kernel.safetensors",
]
MEGABYTES = [0, 4, 16]


def in_little_memory(_):
    rng = np.random.default_rng(0)
    large = rankwise.RankingData.from_arrays(
        rng.normal(size=(8_000, 100)), rng.integers(0, 3, 8_000), np.arange(8_000) // 20
    )
    wide = large.select(range(40))
    rankwise.save_store(large, "large.store")
    rankwise.save_letor(large.select(range(200)), "large.txt")
    rankwise.save_store(wide, "wide.store")
    rankwise.RankRLS().fit(large.X, large.y, large.qid).save("large.safetensors")
    rankwise.KernelRankRLS().fit(wide.X, wide.y, wide.qid).save("kernel.safetensors")
    for line in COMMANDS:
        command(line, version="")  # imports what the command imports
        for megabytes in MEGABYTES:
            code = exit_code(in_child(limited_command, line, megabytes << 20))
            said = Path("said").read_text(encoding="utf-8")
            left = len(list(Path().glob(".rankwise-*")))
            print(megabytes, code, left, said.strip() or "nothing", flush=True)


def limited_command(line, n_bytes):
    for stream, path in ((1, os.devnull), (2, "said")):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    used = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + n_bytes, resource.RLIM_INFINITY))
    os._exit(main(line.split()))


if __name__ == "__main__":
    limit, *names = sys.argv[1:]
    {"disk": on_small_files, "tmpfs": on_a_full_disk, "memory": in_little_memory}[limit](names)
