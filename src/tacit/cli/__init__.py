"""The command line: one file per command; it parses, delegates and prints."""

from tacit.cli.main import app, main

__all__ = ["app", "main"]
