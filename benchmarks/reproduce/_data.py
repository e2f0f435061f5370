"""The folder of real data sets that a script reads from."""

import argparse
from collections.abc import Iterable
from pathlib import Path


def check_folder(parser: argparse.ArgumentParser, folder: Path, patterns: Iterable[str]) -> None:
    """End with a sentence unless the folder holds a file for each of the patterns."""
    for pattern in patterns:
        if not any(folder.glob(pattern)):
            parser.error(f"--data: there is no {pattern} in {folder}.")
