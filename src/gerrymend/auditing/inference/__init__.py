"""Say how sure an audit is: chance, intervals, rows that were not searched, and disclosure."""

from gerrymend.auditing.inference.discovery import Discovery
from gerrymend.auditing.inference.held_out import HeldOut
from gerrymend.auditing.inference.intervals import GroupEstimate, Interval
from gerrymend.auditing.inference.permutation import permutation_test
from gerrymend.auditing.inference.permutation_result import PermutationTest
from gerrymend.auditing.inference.population import PopulationBound

__all__ = [
    "Discovery",
    "GroupEstimate",
    "HeldOut",
    "Interval",
    "PermutationTest",
    "PopulationBound",
    "permutation_test",
]
