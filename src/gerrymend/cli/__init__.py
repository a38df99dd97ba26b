"""Command line, with one module a command."""

from gerrymend.cli.app import main, show_demo

__all__ = ["main", "show_demo"]
