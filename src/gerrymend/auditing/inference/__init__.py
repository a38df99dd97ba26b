"""What chance, and rows that were not searched, have to say about an audit."""

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
