"""Discrimination surfaces: the unfairness of every half-plane of two attributes, over rounds."""

from gerrymend.surfaces.measuring import discrimination_surface
from gerrymend.surfaces.surface import DiscriminationSurface, SurfaceRound

__all__ = ["DiscriminationSurface", "SurfaceRound", "discrimination_surface"]
