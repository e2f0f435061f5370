"""Where the peers are that users build themselves, as given on the command line."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

rlscore_python: Path | None = None
treetron_train: Path | None = None
earlier_python: Path | None = None


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--with-rlscore",
        metavar="PATH",
        type=executable,
        help="for peers: the Python interpreter of an environment in which RLScore is installed, "
        "such as rlscore-env/bin/python",
    )
    parser.add_argument(
        "--with-treetron",
        metavar="PATH",
        type=executable,
        help="for peers: the program 'train' of LIBLINEAR's rankSVM extension (Lee and Lin's Tree-TRON); "
        "it is run as: train -s 8 -c C -e EPS DATA MODEL",
    )
    parser.add_argument(
        "--with-earlier",
        metavar="PATH",
        type=executable,
        help="for waits: the Python interpreter of an environment in which an earlier version of rankwise is "
        "installed, such as earlier/.venv/bin/python",
    )


def use(options: argparse.Namespace) -> None:
    global rlscore_python, treetron_train, earlier_python
    rlscore_python, treetron_train = options.with_rlscore, options.with_treetron
    earlier_python = options.with_earlier


def executable(text: str) -> Path:
    path = Path(text)
    if not path.is_file() or not os.access(path, os.X_OK):
        raise argparse.ArgumentTypeError(f"{text} is not an executable file; --help says what it has to be")
    return path.absolute()
