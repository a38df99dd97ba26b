"""Data to try things on: made here, or the paper's four datasets, fetched."""

from gerrymend.datasets.paper import fetch_adult, fetch_communities, fetch_law_school, fetch_student
from gerrymend.datasets.synthetic import make_benchmark, make_gerrymandered, make_intersectional

__all__ = [
    "fetch_adult",
    "fetch_communities",
    "fetch_law_school",
    "fetch_student",
    "make_benchmark",
    "make_gerrymandered",
    "make_intersectional",
]
