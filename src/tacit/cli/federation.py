"""`tacit federation`: write the manifest that all members share, and check it before anything private is sent."""

from __future__ import annotations

import typer

from tacit.cli import federation_check, federation_new

app = typer.Typer(no_args_is_help=True, help="Agree on a run: write and check the manifest that all members share.")
app.command("new")(federation_new.new)
app.command("check")(federation_check.check)
