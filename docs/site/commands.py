"""The directive ``commands``: every command with its arguments and options, from the program itself."""

from collections.abc import Iterator
from textwrap import wrap

import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.core import TyperCommand, TyperOption

from rankwise.cli.app import COMMANDS, application
from rankwise.cli.examples import EXAMPLES

WIDTH = 74  # of an example, without the backslash at its end


class Commands(SphinxDirective):
    """One section per command."""

    def run(self) -> list[nodes.Node]:
        group = typer.main.get_command(application(COMMANDS))
        lines = [line for name, command in group.commands.items() for line in described(name, command)]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


def described(name: str, command: TyperCommand) -> Iterator[str]:
    """The section of a command, in Markdown."""
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    usage = " ".join(["rankwise", name, *(argument.metavar for argument in arguments), "[options]"])
    yield from (f"## rankwise {name}", "", command.help, "", "```text", usage, "```", "")
    yield from ("```shell", *map(folded, EXAMPLES[name]), "```", "")
    panels = {"Arguments": [], "Options": []}
    for parameter in command.params:
        if not parameter.hidden:
            panels.setdefault(panel_of(parameter), []).append(parameter)
    for panel, parameters in panels.items():
        if parameters:
            yield from (f"| {panel} | |", "|---|---|")
            yield from (f"| {spelled(parameter)} | {explained(parameter)} |" for parameter in parameters)
            yield ""


def folded(command: str) -> str:
    """A command as the shell reads it from several lines, if it is too wide for a page."""
    lines = wrap(command, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return " \\\n".join(lines)


def panel_of(parameter: TyperOption) -> str:
    """The heading under which ``--help`` shows a parameter."""
    return parameter.rich_help_panel or f"{parameter.param_type_name.capitalize()}s"


def spelled(parameter: TyperOption) -> str:
    """What the user types."""
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar}`"
    names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
    return names if parameter.is_flag else f"{names} {cell(parameter.metavar or kind_of(parameter))}"


def kind_of(parameter: TyperOption) -> str:
    annotation = parameter.type_descriptor.annotation
    return {int: "INTEGER", float: "NUMBER"}.get(annotation, "TEXT")


def explained(parameter: TyperOption) -> str:
    text, default = cell(parameter.help), parameter.default
    if parameter.show_default is False or default in (None, False, ""):
        return text
    return f"{text} Default: `{parameter.opts[0] if parameter.is_flag else default}`."


def cell(text: str) -> str:
    """Plain text inside a table of Markdown."""
    for character in "\\|*_<>[]$":
        text = text.replace(character, "\\" + character)
    return text


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}
