"""The documents are true: what they print runs, what they link to exists, what they cite is there.

A Markdown file is a story in one temporary folder, read from top to bottom:

    ```python    run, in one module per file
    ```console   every line that starts with `$ tacit ` is run; `# exit code N` says what to expect. In this process:
                 that the console script does the same is tested in tests/cli, and in the story of docs/peers.md
    ```toml      written to the folder if its first line is a comment with a file name, as `# hospital.toml`
    ```text      after a python or console block: what that block must have printed; … stands for anything
    ```sh        for people: not run

`docs/peers.md` and `docs/running.md` are stories of several people with a folder each: `north$ tacit …` is typed in the
folder `north`, in a shell that stays open, and what different people type in one block happens at the same time.

Ports that a document prints, 127.0.0.1:74…, are replaced by free ones.
"""

import ast
import contextlib
import os
import pkgutil
import re
import runpy
import shlex
import socket
import subprocess
import sys
import threading
import tomllib
import types
import warnings
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from typer.main import get_command

import tacit
from tacit.algorithms import ALGORITHMS
from tacit.cli import app, main
from tacit.costs import Family
from tacit.federation.manifest import Manifest
from tacit.federation.sections import Earlier, Masks, Member, Model, Repeat, Stop
from tacit.solving.cost_files import FAMILIES, CostsSection
from tacit.solving.problem_file import FileContents, GraphSection, PrivacySection
from tacit.solving.record import Phase1, Phase2, RunRecord
from tacit.solving.sections import Stopping
from tacit.tables import Column, Dictionary

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted(path for path in (ROOT / "examples").iterdir() if path.suffix in (".py", ".toml"))
LANGUAGES = {"python", "console", "toml", "text", "sh", "json", "diff"}
TACIT = Path(sys.executable).parent / "tacit"

PEERS = ROOT / "docs" / "peers.md"
STORIES = [
    PEERS,
    ROOT / "docs" / "running.md",
    ROOT / "docs" / "private-peers.md",
]  # of several people, with a test of their own
PLAIN = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}

each_document = pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    language: str
    text: str
    line: int


def blocks(path):
    """Return the fenced blocks of a Markdown file, in order; indented fences belong to lists."""
    found, fence, start, held = [], None, 0, []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        opening = re.match(r"\s*(```+)(.*)", line)
        if fence is None and opening:
            fence, start, held = opening.groups(), number, []
        elif fence is not None and line.strip() == fence[0]:
            found.append(Block(language=fence[1].strip(), text="\n".join(held) + "\n", line=start))
            fence = None
        elif fence is not None:
            held.append(line)
    assert fence is None, f"{path.name}: the block of line {start} is never closed"
    return found


def prose(path):
    """Return a Markdown file without its fenced blocks."""
    return re.sub(r"^\s*```.*?^\s*```\s*$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


class Shell:
    """One folder in which `tacit …` is typed: in this process, which has imported everything already."""

    def __init__(self, monkeypatch, capsys):
        self.monkeypatch, self.capsys = monkeypatch, capsys
        for name in ("COLUMNS", "NO_COLOR"):
            monkeypatch.setenv(name, PLAIN[name])

    def run(self, line):
        """Run one `$ tacit …` line, check its exit code, and return what it printed."""
        command, _, comment = line.removeprefix("$ ").partition("#")
        expected = re.search(r"exit code (\d+)", comment)
        self.monkeypatch.setattr(sys, "argv", shlex.split(command))
        code = 0
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)  # ours, which people see; all others are errors
            self.monkeypatch.setattr(warnings, "showwarning", shown_as_usual)
            try:
                main()
            except SystemExit as end:
                code = end.code or 0
        printed = "".join(self.capsys.readouterr())
        assert code == int(expected[1] if expected else 0), f"{line}\n{printed}"
        return printed


def shown_as_usual(message, category, filename, lineno, file=None, line=None):
    """Write a warning as Python does by itself: pytest keeps them to itself."""
    sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))


def looks_like(expected, printed):
    """Tell whether *printed* is *expected*, where … stands for anything; spaces at line ends do not count."""
    tidy = ["\n".join(line.rstrip() for line in text.strip().splitlines()) for text in (expected, printed)]
    pattern = ".*".join(re.escape(part) for part in tidy[0].split("…"))
    return re.fullmatch(pattern, tidy[1], flags=re.DOTALL) is not None


class Ports:
    """Free ports in place of those that a document prints, as wide as they are."""

    pattern = re.compile(r"(?<=127\.0\.0\.1:)74\d\d\b|(?<=--metrics )74\d\d\b")

    def __init__(self, path):
        shown = sorted(set(self.pattern.findall(path.read_text(encoding="utf-8"))))
        self.free = dict(zip(shown, free_ports(len(shown)), strict=True))
        self.shown = {free: port for port, free in self.free.items()}

    def replaced(self, text):
        return self.pattern.sub(lambda match: self.free[match[0]], text)

    def restored(self, text):
        return re.sub(r"(?<=127\.0\.0\.1:)\d{4}\b", lambda match: self.shown.get(match[0], match[0]), text)


def free_ports(count):
    """Return ports of four digits that nobody listens on; the system gives none of these to outgoing connections.

    Every process begins somewhere else, so that several of them find different ones.
    """
    found, port = [], 5000 + 37 * os.getpid() % 5000
    while len(found) < count:
        port = 5000 + (port + 1) % 5000
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            found.append(str(port))
    return found


class Story:
    """The Python blocks of one document: a module, run piece by piece."""

    def __init__(self, path, monkeypatch, capsys):
        self.path, self.capsys, self.ports = path, capsys, Ports(path)
        self.module = types.ModuleType(f"document_{path.stem.replace('-', '_').lower()}")
        monkeypatch.setitem(sys.modules, self.module.__name__, self.module)  # dataclasses look their module up

    def run(self, block):
        source = "\n" * block.line + self.ports.replaced(block.text)  # so that a traceback names the right line
        exec(compile(source, self.path, "exec", dont_inherit=True), self.module.__dict__)  # noqa: S102
        return self.capsys.readouterr().out


class Terminal:
    """One person's shell in one folder; it stays open, so that jobs can be waited for and killed."""

    def __init__(self, folder):
        place = f"{TACIT.parent}{os.pathsep}{os.environ['PATH']}"
        self.shell = subprocess.Popen(
            ["bash", "--norc"], cwd=folder, env={**PLAIN, "PATH": place, "LC_ALL": "C", "PYTHONUTF8": "1"},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", bufsize=1,
        )  # fmt: skip
        self.shell.stdin.write("set -m\n")

    def type(self, line):
        self.shell.stdin.write(f"{{ {line}\n}} < /dev/null; printf '\\036%s\\n' $?\n")

    def answer(self):
        """Return what the next line printed, and its exit code."""
        printed = ""
        guard = threading.Timer(300.0, self.shell.kill)
        guard.start()
        try:
            while "\036" not in printed:
                more = self.shell.stdout.readline()
                assert more, f"the shell died: {printed}"
                printed += more
        finally:
            guard.cancel()
        printed, _, code = printed.partition("\036")
        return re.sub(r"^bash: line \d+: +\d+ Killed.*\n", "", printed, flags=re.MULTILINE), int(code)

    def close(self):
        with contextlib.suppress(BrokenPipeError):  # the shell is gone already
            self.type("kill -9 $(jobs -p); exit")
        self.shell.communicate(timeout=60)


@pytest.mark.skipif(sys.platform == "win32", reason="the story is told with a shell")
@pytest.mark.network
@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.name)
def test_people_in_folders_of_their_own(path, tmp_path, monkeypatch, capsys):
    """Every command of a story, as its people would type it: real processes, killed and started again."""
    monkeypatch.chdir(tmp_path)
    story, people, printed = Story(path, monkeypatch, capsys), {}, None
    try:
        for block in blocks(path):
            where = f"{path.name}, line {block.line}"
            if block.language == "python":
                printed = story.run(block)
            elif block.language == "console":
                typed = [re.fullmatch(r"(\w+)\$ (.+)", line) for line in block.text.splitlines()]
                assert all(typed), f"{where}: every line says in whose folder it is typed"
                for name, line in (match.groups() for match in typed):
                    people[name] = people.get(name) or Terminal(tmp_path / name)
                    people[name].type(story.ports.replaced(line))
                printed = ""
                for name, line in (match.groups() for match in typed):
                    said, code = people[name].answer()
                    expected = re.search(r"# exit code (\d+)", line)
                    assert code == int(expected[1] if expected else 0), f"{where}: {line}\n{said}"
                    printed += story.ports.restored(said)
            elif block.language == "text":
                assert looks_like(block.text, printed), f"{where}: printed instead\n{printed}"
            else:
                assert block.language == "sh", f"{where}: {block.language} is not part of a story"
    finally:
        for terminal in people.values():
            terminal.close()


def test_the_commands_of_the_readme_are_those_of_the_story():
    """They need five people, and are run in the story."""
    shown = next(block.text for block in blocks(ROOT / "README.md") if "tacit agent " in block.text)
    commands = [line.split("#")[0].strip() for line in shown.splitlines()]
    story = PEERS.read_text(encoding="utf-8")
    assert len(commands) == 5
    for command in commands:
        assert f"$ {command}" in story, f"docs/peers.md does not run {command}"


@pytest.mark.parametrize("path", [path for path in DOCUMENTS if path not in STORIES], ids=lambda path: path.name)
def test_every_block_runs_and_prints_what_it_says(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    story, shell, printed = Story(path, monkeypatch, capsys), Shell(monkeypatch, capsys), None
    for block in blocks(path):
        where = f"{path.name}, line {block.line}"
        if block.language == "python":
            printed = story.run(block)
        elif block.language == "console":
            lines = [line for line in block.text.splitlines() if line.startswith("$ ")]
            assert lines, f"{where}: a console block without a command"
            assert all(line.startswith("$ tacit ") for line in lines), f"{where}: only tacit's commands are run"
            printed = "".join(shell.run(story.ports.replaced(line)) for line in lines)
        elif block.language == "toml":
            named = re.match(r"# (\S+\.toml)\n", block.text)
            if named:
                (tmp_path / named[1]).write_text(block.text, encoding="utf-8")
        elif block.language == "text" and printed is not None:
            assert looks_like(block.text, printed), f"{where}: printed instead\n{printed}"
            printed = None
        else:
            printed = None


@each_document
def test_every_block_names_a_known_language(path):
    for block in blocks(path):
        assert block.language in LANGUAGES, f"{path.name}, line {block.line}: {block.language!r}"


@each_document
def test_every_relative_link_exists(path):
    targets = re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", prose(path))
    targets += re.findall(r'(?:src|srcset|href)="([^"]+)"', prose(path))
    for target in targets:
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name) if name else path
        assert file.exists(), f"{path.name} links to {target}, which is not there"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{path.name} links to {target}, and there is no such heading"


def anchors(path):
    """Return the anchors that headings get: lower case, spaces to hyphens, punctuation dropped."""
    headings = re.findall(r"^#+ (.+)$", prose(path), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each_document
def test_nothing_about_machines_or_workshops_is_printed(path):
    """No machine's folders, no package registry, nothing about how the work is organised."""
    folders = ("work", "home", "tmp", "root", "usr", "var", "opt", "Users")
    forbidden = [rf"(?<![\w.~<])/{folder}\b" for folder in folders]
    notes = ("DES" + "IGN", "STY" + "LE", "(?-i:PE" + "ERS)", "PROTO" + "COL", "the" + "ory")
    forbidden += [rf"\b{note}\.md\b" for note in notes]  # docs/peers.md is a page of ours, in small letters
    forbidden += [r"\bsha" + r"red/", r"\bpy" + r"pi\b", r"\b[A-Z]:\\"]
    forbidden += [r"(?<![\w&])#\d+\b", r"\bissue \d+", r"§"]
    text = path.read_text(encoding="utf-8")
    for pattern in forbidden:
        found = re.search(pattern, text, flags=re.IGNORECASE)
        assert found is None, f"{path.name} says {text[max(found.start() - 30, 0) : found.end() + 30]!r}"


def run_script(path, *arguments, monkeypatch):
    """Run a Python file as `python -W error path …` does, in this process, which has imported everything already."""
    monkeypatch.setattr(sys, "argv", [str(path), *map(str, arguments)])
    monkeypatch.syspath_prepend(str(path.parent))
    runpy.run_path(str(path), run_name="__main__")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_runs(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    if path.suffix == ".toml":
        Shell(monkeypatch, capsys).run(f"$ tacit solve {shlex.quote(str(path))}")
    else:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), f"{path.name} does not say what it is for"
        run_script(path, monkeypatch=monkeypatch)
        assert capsys.readouterr().out.strip()
    assert not list(tmp_path.iterdir()), "an example leaves files behind"


def test_an_example_runs_in_a_process_of_its_own(tmp_path):
    """As users start it, with nothing imported before."""
    done = subprocess.run(
        [sys.executable, "-W", "error", ROOT / "examples" / "median.py"],
        cwd=tmp_path, env=PLAIN, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_readme_starts_with_two_commands():
    first = blocks(ROOT / "README.md")[0]
    commands = [line.split("#")[0].strip() for line in first.text.splitlines() if line.strip()]
    assert commands == ["make demo", "make test"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in commands:
        assert re.search(rf"^{command.removeprefix('make ')}:", makefile, flags=re.MULTILINE)


def test_the_explanation_says_what_each_family_hides():
    page = (ROOT / "docs" / "explanation.md").read_text(encoding="utf-8")
    families = [getattr(tacit, name) for name in tacit.__all__]
    families = [kind for kind in families if isinstance(kind, type) and issubclass(kind, Family)]
    assert len(families) >= 7
    parts = {kind.__name__: kind.affine_part for kind in families if hasattr(kind, "affine_part")}
    parts["AbsoluteValue"] = tacit.AbsoluteValue([0.0]).affine_part
    for name, part in parts.items():
        assert f"`{name}`" in page
        for noun in (part.holds, *part.open):
            assert noun in page, f"docs/explanation.md does not say of {name}: {noun}"


def test_every_mechanism_is_shown():
    name = "docs/protection.md"
    page = (ROOT / name).read_text(encoding="utf-8")
    mechanisms = [public for public in tacit.__all__ if public.endswith("Masks")]
    assert len(mechanisms) >= 4
    for public in mechanisms:
        assert f"`{public}" in page, f"{name} does not mention {public}"


def test_every_algorithm_is_listed():
    page = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")
    for name, kind in ALGORITHMS.items():
        assert f"| `{name}` | `{kind.__name__}` |" in page, f"docs/algorithms.md does not list {name}"


def test_the_fit_of_the_readme_is_that_of_the_page_that_runs_it():
    shown = blocks(ROOT / "README.md")
    place = next(number for number, block in enumerate(shown) if block.text.startswith("tacit fit "))
    story = (ROOT / "docs" / "learning.md").read_text(encoding="utf-8")
    assert f"$ {shown[place].text}" in story
    assert shown[place + 1].text in story


@pytest.mark.parametrize("name", ["which-command.md", "checklist.md", "installation.md", "data-protection.md"])
def test_commands_in_running_text_exist_with_their_options(name):
    """What stands in a table is not run there; pages that it leads to run it."""
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    typed = re.findall(r"`tacit ((?!-)[^`]+)`", text)
    assert typed
    for line in typed:
        words, command = line.split(), get_command(app)
        while hasattr(command, "commands") and words and not words[0].startswith("-"):
            assert words[0] in command.commands, f"{name}: tacit {line}"
            command = command.commands[words.pop(0)]
        known = {spelled for option in command.params for spelled in option.opts}
        for word in words:
            assert not word.startswith("--") or word in known, f"{name}: tacit {line} has no option {word}"


def test_the_paper_page_names_only_tests_that_exist():
    page = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    cited = re.findall(r"`([\w/]+\.py)::(\w+)`", page)
    assert len(cited) >= 20
    for file, name in cited:
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert name in functions, f"docs/paper.md cites {file}::{name}, which does not exist"
    modules = re.findall(r"`(tacit(?:\.\w+)+)`", page)
    assert modules
    for dotted in modules:
        assert resolves(dotted), f"docs/paper.md names {dotted}, which does not exist"


def test_the_page_of_liars_names_only_tests_that_exist_and_as_many_as_it_says():
    page = (ROOT / "docs" / "liars.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \|.*\| `([\w/]+\.py)::(\w+)` \|$", page, flags=re.MULTILINE)
    assert [int(number) for number, _, _ in rows] == list(range(1, 37))
    for _, file, name in rows:
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert name in functions, f"docs/liars.md cites {file}::{name}, which does not exist"


def resolves(dotted):
    """Tell whether a dotted name leads to a module or to something in one."""
    try:
        pkgutil.resolve_name(dotted)
    except (ImportError, AttributeError):
        return False
    return True


@pytest.mark.parametrize("name", ["reference.md", "protection.md", "peers.md"])
def test_generated_parts_are_what_the_code_says(name, tmp_path, monkeypatch):
    """Names, commands, algorithms, combinations and errors are generated: `python docs/generate.py` repairs them."""
    page = ROOT / "docs" / name
    again = tmp_path / name
    assert "<!-- generated: " in page.read_text(encoding="utf-8")
    again.write_bytes(page.read_bytes())
    run_script(ROOT / "docs" / "generate.py", again, monkeypatch=monkeypatch)
    assert again.read_text(encoding="utf-8") == page.read_text(encoding="utf-8"), "run python docs/generate.py"


@pytest.mark.parametrize(
    "section",
    [
        FileContents,
        GraphSection,
        CostsSection,
        Dictionary,
        Column,
        PrivacySection,
        Stopping,
        RunRecord,
        Phase1,
        Phase2,
    ],
)
def test_the_reference_names_every_field(section):
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    for field in msgspec.structs.fields(section):
        named = f"`{field.name}`" in page or f"`[{field.name}]`" in page
        assert named, f"docs/reference.md does not name the field {field.name} of {section.__name__}"


@pytest.mark.parametrize("section", [Manifest, Member, Model, Masks, Stop, Earlier, Repeat])
def test_the_reference_names_every_field_of_the_manifest(section):
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    part = re.search(r"^## The manifest\n(.*?)^## ", page, flags=re.DOTALL | re.MULTILINE)[1]
    for field in msgspec.structs.fields(section):
        named = f"`{field.name}`" in part or f"`[{field.name}]`" in part
        assert named, f"docs/reference.md does not name the field {field.name} of {section.__name__}"


def test_the_reference_names_every_family_of_problem_files():
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    for name in FAMILIES:
        assert f"`{name}`" in page, f"docs/reference.md does not name the family {name}"


def test_the_layers_are_those_that_the_checks_enforce():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    present = "\n".join(layer for layer in layers if not layer.startswith("("))
    said = [block.text.strip() for block in blocks(ROOT / "CONTRIBUTING.md") if block.language == "text"]
    assert present in said, f"CONTRIBUTING.md should show these layers:\n{present}"


def test_drawings_are_what_the_script_draws(tmp_path, monkeypatch):
    pictures = ROOT / "docs" / "pictures"
    run_script(pictures / "draw.py", tmp_path, monkeypatch=monkeypatch)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["dashboard.svg", "phases.svg"]
    for drawn in tmp_path.iterdir():
        assert drawn.read_text() == (pictures / drawn.name).read_text()


@pytest.mark.browser  # they are drawn by Chromium
@pytest.mark.filterwarnings("ignore")
def test_pictures_of_data_say_what_is_computed_today(tmp_path, monkeypatch):
    """The same words and numbers; where a line lies to the pixel is the browser's business."""
    pytest.importorskip("kaleido")
    pictures = ROOT / "docs" / "pictures"
    run_script(pictures / "data.py", tmp_path, monkeypatch=monkeypatch)
    assert {p.name for p in tmp_path.iterdir()} | {"dashboard.svg", "phases.svg"} == {
        p.name for p in pictures.glob("*.svg")
    }
    for drawn in tmp_path.iterdir():
        one, other = (ElementTree.parse(folder / drawn.name).getroot() for folder in (tmp_path, pictures))  # noqa: S314
        for kind in ("text", "desc"):
            words = [["".join(n.itertext()) for n in each.iter(f"{{*}}{kind}")] for each in (one, other)]
            assert words[0] == words[1]
