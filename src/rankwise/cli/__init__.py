"""The command line: one module per command, with heavy imports inside the commands."""

import signal


def main(arguments: list[str] | None = None) -> int:
    """Run one command, by default that of this process, and return its exit code."""
    of_process = arguments is None and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if of_process:
        # Until there is something to keep, Ctrl-C ends the process at once, and so it does in the end.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from rankwise.cli import app

    if of_process:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return app.main(arguments)
    finally:
        if of_process:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
