"""Say how sure an audit is: chance, intervals, rows that were not searched, and disclosure."""

from gerrymend.auditing.inference.generalisation import Generalisation
from gerrymend.auditing.inference.held_out import HeldOut
from gerrymend.auditing.inference.intervals import GroupEstimate, Interval, simultaneous_intervals
from gerrymend.auditing.inference.permutation import PermutationTest, permutation_test

__all__ = [
    "Generalisation",
    "GroupEstimate",
    "HeldOut",
    "Interval",
    "PermutationTest",
    "permutation_test",
    "simultaneous_intervals",
]
