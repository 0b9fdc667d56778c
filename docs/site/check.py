"""Look at the built site: python docs/site/check.py FOLDER.

Every link inside it leads somewhere, to the very heading, and no page fetches anything from outside.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "srcset", "video": "src", "object": "data"}
"""What a browser loads by itself, by element; of <link>, only some kinds."""
LOADING = {"stylesheet", "preload", "prefetch", "modulepreload", "preconnect", "dns-prefetch", "icon"}


class Link(NamedTuple):
    """One reference of a page, and whether the browser follows it by itself."""

    target: str
    is_fetched: bool


class Reader(HTMLParser):
    """What a page links to, fetches and can be linked at."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[Link] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take one element in."""
        given = {name: value for name, value in attrs if value}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(Link(given["href"], is_fetched=False))
        if tag == "link" and LOADING & set(given.get("rel", "").split()):
            self.links.append(Link(given.get("href", ""), is_fetched=True))
        if FETCHED.get(tag) in given:
            self.links.append(Link(given[FETCHED[tag]], is_fetched=True))


def pages(folder: Path) -> list[Path]:
    """Return the pages; the theme keeps templates of its own among its files."""
    return [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.relative_to(folder).parts]


def faults(folder: Path) -> Iterator[str]:
    """Yield a sentence for everything that is wrong."""
    read = {path: Reader(path.read_text(encoding="utf-8")) for path in pages(folder)}
    for path, page in read.items():
        name = path.relative_to(folder).as_posix()
        for link in page.links:
            outside = re.match(r"(?:[a-z][a-z+.-]*:|//)", link.target)
            if outside and link.is_fetched and not link.target.startswith("data:"):
                yield f"{name} fetches {link.target} from outside"
            if outside:
                continue
            target, _, anchor = link.target.partition("#")
            file = (path.parent / unquote(target.partition("?")[0])).resolve() if target else path
            file = file / "index.html" if file.is_dir() else file
            if not file.exists():
                yield f"{name} links to {link.target}, which is not there"
            elif anchor and file in read and unquote(anchor) not in read[file].anchors:
                yield f"{name} links to {link.target}, and there is no such heading"
    for sheet in sorted(folder.rglob("*.css")):
        for address in re.findall(r"(?:url\(\s*['\"]?|@import\s+['\"])((?:https?:)?//[^'\")]+)", sheet.read_text()):
            yield f"{sheet.relative_to(folder).as_posix()} fetches {address} from outside"


def main(folder: Path) -> None:
    """Print all faults and exit with 1 if there are any."""
    sentences = sorted(set(faults(folder)))
    fine = f"{len(pages(folder))} pages; every link inside leads somewhere, and nothing is fetched from outside."
    print("\n".join(sentences) or fine)
    sys.exit(bool(sentences))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
