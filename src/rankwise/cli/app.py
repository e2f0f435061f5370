"""The command-line application and its error handling.

A failure prints one sentence to standard error; ``--debug``, anywhere on the command line, adds a traceback.
Ctrl-C ends the process by its signal, after what could be kept was written.
"""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from rankwise.cli.bundles import unbundled
from rankwise.cli.card import ARGUMENTS
from rankwise.cli.completion import COMPLETION, answering_shell
from rankwise.cli.examples import epilog, group_of
from rankwise.cli.exit_codes import ExitCode
from rankwise.cli.in_options import in_options
from rankwise.cli.interrupts import end_by_interrupt, end_if_interrupted
from rankwise.cli.paths import checking_paths
from rankwise.cli.screen import prepare_streams
from rankwise.config import MAX_THREADS, config_context
from rankwise.errors import ParameterError, RankwiseError
from rankwise.files import FULL
from rankwise.rendering import printable

# In the order of the help.
COMMANDS = (
    "demo",
    "clicks",
    "raters",
    "audit",
    "split",
    "judge",
    "next",
    "train",
    "update",
    "path",
    "folds",
    "curve",
    "predict",
    "evaluate",
    "compare",
    "interleave",
    "report",
    "drift",
    "export",
    "convert",
    "info",
    "svm_rank_learn",
)
# What the help calls the value of an option that does not say it.
VALUES = {Path: "FILE", str: "NAME", int: "N", float: "X"}


def _print_version(wanted: bool) -> None:
    if wanted:
        from rankwise import __version__

        typer.echo(f"rankwise {__version__}")
        raise typer.Exit


def _use_threads(n_threads: int | None) -> int | None:
    """Set the number of threads of our kernels and of BLAS, which reads it once, when NumPy is imported."""
    if n_threads is not None:
        for variable in (
            "RANKWISE_NUM_THREADS",
            "OMP_NUM_THREADS",
            "OPENBLAS_NUM_THREADS",
            "MKL_NUM_THREADS",
        ):
            os.environ[variable] = str(n_threads)
    return n_threads


def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks for errors.")] = False,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Show the version.")
    ] = False,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MAX_THREADS,
            callback=_use_threads,
            help="Number of threads, also of BLAS; all cores by default.",
        ),
    ] = None,
) -> None:
    """Fast, exact, explainable learning to rank."""


def application(commands: Sequence[str]) -> typer.Typer:
    """The application with these commands, each the function `run` of the module of its name."""
    app = typer.Typer(
        name="rankwise",
        help="Fast, exact, explainable learning to rank.",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name in commands:
        run = checking_paths(unbundled(import_module(f"rankwise.cli.{name}").run))
        app.command(name, epilog=epilog(name), rich_help_panel=group_of(name))(run)
    return app


def command_line(commands: Sequence[str]) -> Any:
    """The application as a command; its help says what the value of an option is, in words."""
    group: Any = typer.main.get_command(application(commands))
    above = typer.Context(group, **group.context_settings)
    below = [typer.Context(command, parent=above) for command in group.commands.values()]
    for context in (above, *below):
        options: list[Any] = context.command.get_params(context)
        for option in options:
            if option.param_type_name == "argument":
                option.display_type_rich = lambda ctx: ""  # its name says it
            elif option.metavar is None:
                option.metavar = "" if option.is_flag else VALUES[option.type_descriptor.annotation]
    return group


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    prepare_streams()
    if COMPLETION in os.environ:  # the shell asks what could come next
        with answering_shell():
            return int(command_line(COMMANDS).main(prog_name="rankwise", standalone_mode=False) or 0)
    common, arguments = _common_first(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in common
    try:
        code = _run(common, arguments or ["--help"])
    except BrokenPipeError:  # the reader of our output closed the pipe
        _drop_output()
        code = 0
    except (KeyboardInterrupt, typer.Abort):
        return end_by_interrupt()
    except Exception as error:
        if debug:
            raise
        sentence, code = explain(error, arguments[:1])
        typer.echo(printable(f"rankwise: error: {sentence}"), err=True)
        if isinstance(error, OSError) and _concerns_output(error):
            _drop_output()
    return end_if_interrupted(code)


def _concerns_output(error: OSError) -> bool:
    """Whether standard output is full or closed; for files, code that writes them names the file."""
    return error.filename is None and error.errno in (*FULL, errno.EBADF)


def _drop_output() -> None:
    """Make sure that what standard output did not take is not written at exit either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _common_first(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Options of all commands, which may be anywhere on the command line, and everything else."""
    common, others, rest = [], [], iter(arguments)
    for argument in rest:
        if argument == "--threads":
            common += [argument, *islice(rest, 1)]
        elif argument == "--debug" or argument.startswith("--threads="):
            common.append(argument)
        else:
            others.append(argument)
    return common, others


def _run(common: list[str], arguments: list[str]) -> int:
    # Importing and describing them all would take longer than reading the arguments of one.
    wanted = arguments[:1] if arguments[0] in COMMANDS else COMMANDS
    command = command_line(wanted)
    ARGUMENTS.set(arguments)
    try:
        with warnings.catch_warnings(), config_context(progress=True):
            warnings.showwarning = _show_warning
            with command.make_context("rankwise", [*common, *arguments]) as context:
                command.invoke(context)
    except typer.Exit as request:
        return request.exit_code
    sys.stdout.flush()
    return 0


def explain(error: Exception, command: Sequence[str] = ()) -> tuple[str, int]:
    """Describe an error of a command in one sentence, and return its exit code."""
    if isinstance(error, typer.TyperException):
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "rankwise"
        message = _one_line(error.format_message())
        return f"{message}{'' if message.endswith(('.', '?')) else '.'} See '{path} --help'.", ExitCode.USAGE
    if isinstance(error, ParameterError):
        return _one_line(in_options(str(error), command)), ExitCode.USAGE
    if isinstance(error, RankwiseError):
        return _one_line(in_options(str(error), command)), ExitCode.ERROR
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        place = error.filename or ("standard output" if _concerns_output(error) else None)
        return (f"{place}: {reason}." if place else f"{reason}."), ExitCode.ERROR
    if isinstance(error, MemoryError):
        return f"not enough memory ({_one_line(str(error)) or 'allocation failed'}).", ExitCode.ERROR
    if isinstance(error, ValueError):  # scikit-learn's checks of X and y
        return _one_line(str(error)), ExitCode.ERROR
    shown = f"{type(error).__name__}: {_one_line(str(error))}"
    return f"{shown} (use --debug to see the traceback)", ExitCode.ERROR


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    said = in_options(str(message), ARGUMENTS.get()[:1])
    typer.echo(printable(f"rankwise: warning: {_one_line(said)}"), err=True)
