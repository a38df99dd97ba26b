"""Datasets for examples and tests: synthetic ones, and fetchers of the paper's four."""

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
