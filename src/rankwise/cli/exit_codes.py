"""What commands return to the shell; the table in docs/commands.md says when."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Other codes are those of signals, as of Ctrl-C."""

    SUCCESS = 0
    ERROR = 1
    USAGE = 2
    FAILED = 3
    UNDECIDED = 4
