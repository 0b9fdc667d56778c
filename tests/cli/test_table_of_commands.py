"""Commands are loaded when they are called: what lists them must be what they say of themselves."""

import subprocess
import sys

import pytest

from tacit.cli.commands import COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_that_lists_a_command_is_the_first_of_its_own_help(name):
    home = COMMANDS[name]
    said = " ".join(home.load(name).help.split("\n\n")[0].split())
    assert said == home.line


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["certfy"]])
def test_listing_the_commands_loads_none_of_them(words):
    script = (
        "import sys; sys.argv[0] = 'tacit'\n"
        "from tacit.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = [name for name in ('numpy', 'scipy', 'networkx', 'tacit.solving') if name in sys.modules]\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", script, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
