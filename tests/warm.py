"""Run scripts in processes that have imported what most of them need.

Importing takes longer than most of what these scripts do. A process that only imports forks one for each
script; they share nothing with the tests but files.
"""

import atexit
import gc
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

IMPORTED = (
    "matplotlib.pyplot",
    "pandas",
    "rankwise.cli",
    "rankwise.rankers.base",
    "scipy.stats",
    "sklearn.model_selection",
    "sklearn.pipeline",
)


def run_warm(script, *arguments, cwd=".", stdout=None, imported=IMPORTED):
    """Run a script as ``python -c`` would; what it writes is returned, or written to a given file."""
    with TemporaryDirectory() as folder:
        out, err = Path(stdout or f"{folder}/out"), Path(folder, "err")
        request = [script, *map(str, (Path(cwd).resolve(), out, err, *arguments))]
        process = _forking_process(imported)
        print(json.dumps(request), file=process.stdin, flush=True)
        code = int(process.stdout.readline())
        return subprocess.CompletedProcess(
            request,
            code,
            None if stdout else out.read_text(encoding="utf-8"),
            err.read_text(encoding="utf-8"),
        )


@cache
def _forking_process(imported):
    command = [sys.executable, __file__, *imported]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},  # what scripts write is read as UTF-8
    )
    atexit.register(process.communicate)  # it ends when there are no more requests
    return process


def next_script():
    """Fork for each request; only the children return, with their script."""
    for request in sys.stdin:
        child = os.fork()
        if not child:
            script, cwd, out, err, *arguments = json.loads(request)
            for stream, path in enumerate((os.devnull, out, err)):
                os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), stream)
            os.chdir(cwd)
            signal.alarm(600)  # one that hangs is ended
            sys.path[0] = ""
            sys.argv[:] = ["-c", *arguments]
            return script
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    return ""


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with suppress(ImportError):  # whether a test needs it is up to the test
            import_module(name)
    gc.freeze()  # collecting what was imported would copy its pages
    SCRIPT = next_script()
    sys.modules["__main__"] = ModuleType("__main__")
    exec(compile(SCRIPT, "<script>", "exec"), vars(sys.modules["__main__"]))
