"""The defaults that docstrings state are those of the code."""

import ast
import importlib
import inspect
import math
import re

import pytest

from gerrymend import LinearThresholds, SubgroupParityClassifier

MODULES = [
    "gerrymend",
    "gerrymend.datasets",
    "gerrymend.notions",
    "gerrymend.solvers",
    "gerrymend.subgroups",
]
PARAMETER = re.compile(r"^(\w+(?:, \w+)*) : (.+)$")
DEFAULT = re.compile(r"default=(.+)$")


def public_callables():
    """Classes, their public methods, and functions, by their full names."""
    found = {}
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in getattr(module, "__all__", vars(module)):
            thing = getattr(module, name)
            if not callable(thing) or name.startswith("_"):
                continue
            found[f"{module_name}.{name}"] = thing
            methods = inspect.getmembers(thing, callable) if inspect.isclass(thing) else []
            for method_name, method in methods:
                if not method_name.startswith("_"):
                    found[f"{module_name}.{name}.{method_name}"] = method
    return {
        name: thing
        for name, thing in found.items()
        if (getattr(thing, "__module__", None) or "").startswith("gerrymend")
    }


def documented(docstring):
    """Yield each parameter of a docstring of numpydoc's form, and what is said of its type."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?:\n\n\w[\w ]*\n-+\n|\Z)", docstring, re.S | re.M)
    for line in section[1].splitlines() if section else ():
        if match := PARAMETER.match(line):
            for name in match[1].split(", "):
                yield name, match[2]


def stated_defaults(docstring):
    for name, kind in documented(docstring):
        if default := DEFAULT.search(kind):
            yield name, default[1]
        elif kind.endswith("optional"):
            yield name, "None"


def value_of(stated):
    """The value of a literal, or of `inf`, which Python has no literal for."""
    return math.inf if stated == "inf" else ast.literal_eval(stated)


def contradictions(thing):
    """What a docstring says of defaults, and the signature contradicts."""
    all_stated = [*stated_defaults(inspect.getdoc(thing) or "")]
    parameters = inspect.signature(thing).parameters if all_stated else {}
    for name, stated in all_stated:
        if name not in parameters:
            yield f"{name} is documented, and no parameter"
            continue
        default = parameters[name].default
        if default is inspect.Parameter.empty or value_of(stated) != default:
            yield f"{name} is {default!r}, and documented as {stated}"


CALLABLES = public_callables()


def test_there_is_much_to_compare():
    stated = [
        name
        for name, thing in CALLABLES.items()
        if any(stated_defaults(inspect.getdoc(thing) or ""))
    ]
    assert {"gerrymend.audit", "gerrymend.SubgroupParityClassifier"} <= {*stated}
    assert len(stated) >= 20


@pytest.mark.parametrize("name", CALLABLES)
def test_defaults_are_as_documented(name):
    assert not [*contradictions(CALLABLES[name])]


def test_a_contradiction_is_seen():
    def guess(alpha=0.1, beta=None, gamma=3):
        """Guess.

        Parameters
        ----------
        alpha, gamma : float, default=3
        beta : float, optional
        delta : str, default="x"
        """

    assert [*contradictions(guess)] == [
        "alpha is 0.1, and documented as 3",
        "delta is documented, and no parameter",
    ]


def test_the_linear_class_of_a_fit_is_the_documented_one():
    words = re.search(
        r'"linear" is LinearThresholds\((\w+)=(\w+)\)', inspect.getdoc(SubgroupParityClassifier)
    )
    played = SubgroupParityClassifier()._subgroup_class()
    assert isinstance(played, LinearThresholds)
    assert getattr(played, words[1]) == ast.literal_eval(words[2])
