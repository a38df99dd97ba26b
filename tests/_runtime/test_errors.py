"""Errors that carry their argument: retold in other terms, and sent between processes."""

import pickle

import pytest

from gerrymend._runtime.errors import Argument, ArgumentError, ArgumentWarning
from gerrymend.training.not_converged import NotConvergedWarning

WHOLE = ArgumentError(
    Argument("y_pred", column="'a'"),
    "has no label; pass ",
    Argument("threshold", value="0.5"),
    ", or y_pred itself.",
    lead="In holdout: ",
)


def test_arguments_are_renamed_and_no_other_word():
    assert str(WHOLE) == "In holdout: Column 'a' of y_pred has no label; pass threshold=0.5, or " \
        "y_pred itself."  # fmt: skip
    names = {"y_pred": "--score s", "threshold": "--threshold", "holdout": "--holdout", "a": "b"}
    assert WHOLE.in_terms(names) == (
        "In holdout: Column 'a' of --score s has no label; pass --threshold=0.5, or y_pred itself."
    )
    whole_value = names | {"threshold=0.5": "--threshold 0.5"}
    assert "pass --threshold 0.5, or" in WHOLE.in_terms(whole_value)


@pytest.mark.parametrize("kind", [ValueError, TypeError, Exception])
def test_it_is_caught_as_before(kind):
    with pytest.raises(kind, match=r"pass threshold=0\.5"):
        raise WHOLE


@pytest.mark.parametrize("kind", [ArgumentError, ArgumentWarning])
def test_it_survives_the_way_between_processes(kind):
    told = kind("max_iter", ", or another gamma.", lead="Raise ")
    again = pickle.loads(pickle.dumps(told))
    assert type(again) is kind
    assert (again.argument, str(again)) == ("max_iter", "Raise max_iter, or another gamma.")
    assert again.in_terms({"max_iter": "--max-iter"}) == "Raise --max-iter, or another gamma."


def test_what_a_command_has_no_option_for_is_left_out():
    """Between processes too: a worker's warnings are retold by the command."""
    told = NotConvergedWarning(
        "max_iter",
        "It is off.",
        ("raise ", Argument("C"), " (now 10)"),
        ("raise ", Argument("max_iter")),
        ("set ", Argument("certify", value="True")),
    )
    again = pickle.loads(pickle.dumps(told))
    assert str(again) == "It is off. Raise C (now 10); or raise max_iter; or set certify=True."
    names = {"max_iter": "--max-iter"}
    assert again.in_terms(names) == "It is off. Raise --max-iter."
    both = again.in_terms(names | {"certify=True": "--certify"})
    assert both == "It is off. Raise --max-iter; or set --certify."
