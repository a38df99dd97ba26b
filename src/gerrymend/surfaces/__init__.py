"""Discrimination surfaces: the unfairness of every half-plane of two attributes, over rounds."""

from gerrymend.surfaces.surface import (
    DiscriminationSurface,
    SurfaceRound,
    discrimination_surface,
)

__all__ = ["DiscriminationSurface", "SurfaceRound", "discrimination_surface"]
