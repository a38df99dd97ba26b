"""Data to try things on, made here."""

from gerrymend.datasets.synthetic import make_gerrymandered, make_intersectional

__all__ = ["make_gerrymandered", "make_intersectional"]
