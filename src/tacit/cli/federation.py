"""`tacit federation`: write the manifest that all share, check it, take newcomers in, go on without somebody."""

from __future__ import annotations

import typer

from tacit.cli import federation_check, federation_new, federation_with, federation_without

app = typer.Typer(no_args_is_help=True, help="Agree on a run: write and check the manifest that all share.")
app.command("new")(federation_new.new)
app.command("check")(federation_check.check)
app.command("with")(federation_with.with_command)
app.command("without")(federation_without.without_command)
