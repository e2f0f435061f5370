"""Options that belong together, as one parameter of a command: its type is a dataclass of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints


def unbundled(run: Callable[..., None]) -> Callable[..., None]:
    """A command with the options of its bundles as parameters of its own, which is what typer understands."""
    hints = get_type_hints(run, include_extras=True)
    bundles: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}

    @wraps(run)
    def command(**values: Any) -> None:
        for name, bundle in bundles.items():
            values[name] = bundle(**{option.name: values.pop(option.name) for option in fields(bundle)})
        run(**values)

    parameters = [
        option
        for parameter in signature(run).parameters.values()
        for option in _options(parameter.replace(annotation=hints[parameter.name]))
    ]
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {option.name: option.annotation for option in parameters}
    return command


def _options(parameter: Parameter) -> Iterator[Parameter]:
    """The options that a parameter stands for: itself, or the fields of a bundle."""
    if not is_dataclass(parameter.annotation):
        yield parameter.replace(kind=Parameter.KEYWORD_ONLY)
        return
    hints = get_type_hints(parameter.annotation, include_extras=True)
    for option in fields(parameter.annotation):
        yield Parameter(
            option.name, Parameter.KEYWORD_ONLY, default=option.default, annotation=hints[option.name]
        )
