"""Gather the pages of the site into one folder: python docs/site/gather.py FOLDER.

The pages are the Markdown files of the repository, as people read them on a code host. They move, so their relative
links are rewritten; a link to a file that is no page brings a copy of the file along.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

from api import api_pages
from sections import SECTIONS, section_page

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(
    r"(?P<before>\]\(|:link: |\{image\} |(?:src|srcset|href)=\")(?P<target>[^)\s\"#]+)(?P<anchor>#[^)\s\"]*)?"
)


def pages() -> dict[Path, str]:
    """Return every page of the repository with its place on the site."""
    placed = {path: path.name for path in sorted((ROOT / "docs").glob("*.md"))}
    placed |= {path: path.name for path in sorted((ROOT / "docs" / "site").glob("*.md"))}
    placed |= {path: f"examples/{path.name}" for path in sorted((ROOT / "examples").glob("*.ipynb"))}
    placed |= {ROOT / "README.md": "index.md"}  # what it says is on the first page of the site
    return placed | {ROOT / name: name.lower() for name in ("CONTRIBUTING.md", "CHANGELOG.md")}


def gather(folder: Path) -> None:
    """Write all pages, and the files that they link to, into *folder*."""
    shutil.rmtree(folder, ignore_errors=True)
    placed = pages()
    for path, place in placed.items():
        if path != ROOT / "README.md":
            text = path.read_text(encoding="utf-8")
            write(folder / place, moved(text, path, place, placed, folder))
    for name, text in [*api_pages(), *((f"{section.name}.md", section_page(section)) for section in SECTIONS)]:
        write(folder / name, text)


def moved(text: str, path: Path, place: str, placed: dict[Path, str], folder: Path) -> str:
    """Return a page whose relative links hold at its new place; code in it is left as it is."""

    def rewritten(match: re.Match[str]) -> str:
        target = match["target"]
        if re.match(r"[a-z]+:", target):
            return match[0]
        file = (path.parent / target).resolve()
        there = placed.get(file)
        if there is None:
            there = brought(file, folder)
        there = os.path.relpath(there, os.path.dirname(place) or ".")
        if match["before"] == ":link: ":  # of a card, which names documents without their suffix
            there = there.removesuffix(".md")
        return f"{match['before']}{there}{match['anchor'] or ''}"

    parts = re.split(r"(^\s*```.*?^\s*```\s*$)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if number % 2 else LINK.sub(rewritten, part) for number, part in enumerate(parts))


def brought(file: Path, folder: Path) -> str:
    """Copy a file that is no page, and return where it is now."""
    within = file.relative_to(ROOT).as_posix()
    there = f"files/{within}"
    (folder / there).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, folder / there)
    return there


def write(file: Path, text: str) -> None:
    """Write one page."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    gather(Path(sys.argv[1]).resolve())
