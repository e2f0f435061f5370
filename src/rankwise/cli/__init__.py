"""The command line: one module per command, with heavy imports inside the commands."""

from rankwise.cli.app import main

__all__ = ["main"]
