"""Parameters have the defaults that the docstrings state."""

import inspect
import re

import numpy as np
import pytest

from test_docstrings import ESTIMATORS, FUNCTIONS, PUBLIC, documented, sections


def stated_defaults(name):
    """The defaults in a docstring, as values; parameters "as in `Other`" have those of the other."""
    for block in re.split(r"^(?=[\w*])", sections(name).get("Parameters", ""), flags=re.MULTILINE)[1:]:
        head = block.splitlines()[0]
        names = documented(head)
        literal = re.search(r"default=(.*)$", head)
        other = re.search(r"as in `(\w+)`", block, flags=re.IGNORECASE)
        if literal:
            # 2⁻¹⁵ is 2**-15 in the usual notation.
            powers = re.sub(r"(\d)([⁻⁰¹²³⁴-⁹]+)", r"\1**(\2)", literal[1])
            value = eval(powers.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")), {"__builtins__": {}})
            yield from ((parameter, value) for parameter in names)
        elif other and other[1] in ESTIMATORS:
            defaults = inspect.signature(PUBLIC[other[1]]).parameters
            yield from ((parameter, defaults[parameter].default) for parameter in names)


@pytest.mark.parametrize("name", sorted(FUNCTIONS | ESTIMATORS))
def test_the_defaults_are_those_that_the_docstring_states(name):
    thing = PUBLIC[name]
    if name in ESTIMATORS:
        defaults = thing().get_params(deep=False)
    else:
        defaults = {key: parameter.default for key, parameter in inspect.signature(thing).parameters.items()}
    for parameter, stated in stated_defaults(name):
        default = defaults[parameter]
        if isinstance(stated, tuple) and ... in stated:
            assert (min(default), max(default)) == (stated[0], stated[-1]), parameter
        else:
            assert default == stated, parameter
            assert (default is True) == (stated is True), parameter


@pytest.mark.parametrize("name", sorted(name for name in ESTIMATORS if name.endswith("CV")))
def test_default_alphas_are_evenly_spaced_on_a_logarithmic_scale(name):
    exponents = np.log(np.sort(inspect.signature(PUBLIC[name]).parameters["alphas"].default))
    np.testing.assert_allclose(np.diff(exponents), exponents[1] - exponents[0])
