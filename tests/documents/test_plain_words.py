"""Short is good, mannered is not: phrases that readers stumbled over do not come back."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
STUMBLED_OVER = re.compile(
    r"\b(?:number|key|name|message|digest)s? that (?:is|are) none\b"  # "a number that is none"
    r"|\bNot that anybody knows\b"
    r"|\bleave the \w+(?: and the \S+)? away\b"  # "leave the redirections away"
    r"|= \S+ is none of\b"  # "level = 'affne' is none of"
)


@pytest.mark.parametrize("sentence", ["it sent a number that is none.", "leave the redirections and the `&` away"])
def test_the_guard_sees_them(sentence):
    assert STUMBLED_OVER.search(sentence)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_documents_are_plain(path):
    assert not STUMBLED_OVER.findall(path.read_text(encoding="utf-8"))


def test_messages_are_plain():
    assert not [path for path in SOURCES if STUMBLED_OVER.search(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("learning.md", ("site", "covariate", "odds ratio", "disclose")),
        ("dispatch.md", ("LMP", "balance", "unit")),
        ("glossary.md", ("site", "covariate", "odds ratio", "disclosed", "LMP", "balance", "unit")),
    ],
)
def test_pages_use_their_readers_words(page, words):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert [word for word in words if word not in text] == []
