"""Inherited methods under the name of the class that has them."""

from __future__ import annotations

from functools import update_wrapper
from types import FunctionType


def name_after_class(cls: type, *names: str) -> None:
    """Give inherited methods the name of the class, which Python's messages about arguments begin with."""
    for name in names:
        method = getattr(cls, name, None)
        if isinstance(method, FunctionType) and name not in vars(cls):
            own = FunctionType(
                method.__code__, method.__globals__, name, method.__defaults__, method.__closure__
            )
            setattr(cls, name, update_wrapper(own, method))
            own.__kwdefaults__, own.__qualname__ = method.__kwdefaults__, f"{cls.__name__}.{name}"
