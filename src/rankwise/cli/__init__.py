"""The command line: one file per command, heavy imports inside the commands."""

from rankwise.cli.app import main

__all__ = ["main"]
