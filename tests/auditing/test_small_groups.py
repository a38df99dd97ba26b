"""One floor: one default, and both sides of a group have at least so many rows."""

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest

import gerrymend
from gerrymend import AuditReport, audit, audit_counts, pareto_frontier, prove
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE, identifies, may_be_described, too_few
from gerrymend.cli.audit_request import AuditRequest
from gerrymend.cli.training_request import TrainingRequest

SOURCE = Path(gerrymend.__file__).parent


def test_against_a_count_of_rows():
    for inside in range(31):
        outside = 30 - inside
        for floor in (1, 7, 15, 16):
            assert may_be_described(inside, 30, floor) == (min(inside, outside) >= floor)
            assert too_few(inside, floor) == (inside not in range(floor, 31))
            assert identifies(inside, floor) == (inside in range(1, floor))


@pytest.mark.parametrize(
    "entry", [audit, audit_counts, prove, pareto_frontier, AuditReport, AuditRequest,
              TrainingRequest]
)  # fmt: skip
def test_every_entry_has_the_one_default(entry):
    assert inspect.signature(entry).parameters["min_group_size"].default == MIN_GROUP_SIZE


def test_no_module_has_a_default_of_its_own():
    """A literal beside `min_group_size` would be a second default; None is another's."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.arguments):
                named = [*node.posonlyargs, *node.args]
                pairs = [
                    *zip(named[len(named) - len(node.defaults) :], node.defaults, strict=True),
                    *zip(node.kwonlyargs, node.kw_defaults, strict=True),
                ]
                found += [
                    path.name for name, default in pairs
                    if name.arg == "min_group_size" and isinstance(default, ast.Constant)
                    and default.value is not None
                ]  # fmt: skip
            elif isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Constant):
                if node.value.value is None:
                    continue
                found += [path.name] if getattr(node.target, "id", "") == "min_group_size" else []
    assert not found


def test_an_audit_describes_at_the_floor_and_not_below():
    decided = np.r_[np.ones(12, int), np.zeros(28, int)]
    race = np.repeat(["blue", "green"], [12, 28])
    for floor, described in ((12, True), (13, False)):
        report = audit([0] * 40, decided, sensitive_features={"race": race},
                       subgroups="marginals", min_group_size=floor)  # fmt: skip
        assert (report.worst is not None) == described
        assert report.withheld != described
