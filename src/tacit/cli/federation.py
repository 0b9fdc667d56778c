"""`tacit federation`: write the manifest that all share, check it, go on without somebody or with a new key."""

from __future__ import annotations

import typer

from tacit.cli import federation_check, federation_new, federation_rekey, federation_without

app = typer.Typer(no_args_is_help=True, help="Agree on a run: write and check the manifest that all share.")
app.command("new")(federation_new.new)
app.command("check")(federation_check.check)
app.command("without")(federation_without.without_command)
app.command("rekey")(federation_rekey.rekey_command)
