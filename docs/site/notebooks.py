"""Run the notebooks of examples/ and keep what they print: python docs/site/notebooks.py [name …].

Needs nbclient and ipykernel (extra `docs`), and kaleido with Chromium for the pictures.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def execute(path: Path) -> None:
    """Run one notebook in a kernel of its own and write it back, without what changes from run to run."""
    book = nbformat.read(path, as_version=4)
    NotebookClient(book, timeout=300, kernel_name="python3", record_timing=False).execute()
    for cell in book.cells:
        cell.metadata = {}
    book.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    nbformat.write(book, path)
    print(f"Ran {path.name}: {path.stat().st_size // 1024} KiB.")


if __name__ == "__main__":
    for path in sorted(EXAMPLES.glob("*.ipynb")):
        if not sys.argv[1:] or path.stem in sys.argv[1:]:
            execute(path)
