"""`tacit federation`: write and check the manifest that all share; newcomers, leavers and new keys."""

from __future__ import annotations

import typer

from tacit.cli import federation_check, federation_new, federation_rekey, federation_with, federation_without

app = typer.Typer(no_args_is_help=True, help="Agree on a run: write and check the manifest that all share.")
app.command("new")(federation_new.new)
app.command("check")(federation_check.check)
app.command("with")(federation_with.with_command)
app.command("without")(federation_without.without_command)
app.command("rekey")(federation_rekey.rekey_command)
