"""The command line."""

from netdyno.cli.app import cli, main

__all__ = ["cli", "main"]
