"""Tables of the command line."""

from rich.console import Console

from tacit.cli.tables import table


def test_brackets_in_names_and_commands_are_no_markup(capsys):
    rows = table("agent", "remedy")
    rows.add_row("[red]north[/red]", "pip install 'tacit[flower]'")
    Console(width=80).print(rows)
    out = capsys.readouterr().out
    assert "[red]north[/red]" in out
    assert "'tacit[flower]'" in out
