"""The sections of the site: which pages stand together, each with a line about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    """A heading in the bar at the top, and the pages below it."""

    name: str
    title: str
    about: str
    pages: tuple[tuple[str, str], ...]


SECTIONS = (
    Section(
        "start",
        "Start",
        "From nothing to a first result.",
        (
            ("installation", "pip, uv, pipx, Windows, and machines without a network"),
            ("which-command", "from what you have and want to the command"),
            ("tutorial", "three agents by hand, then twenty with data, certificates, whole costs"),
            ("gallery", "notebooks with what they print, and scripts"),
            ("examples/first-steps", "six clinics and their mean waiting time"),
            ("examples/hospitals", "five sites, one logistic regression"),
            ("examples/grid", "who is exposed, and which links help"),
        ),
    ),
    Section(
        "guides",
        "Guides",
        "How to do one thing.",
        (
            ("how-to", "problem files, choosing σ, your own costs, scripts"),
            ("learning", "scikit-learn's regressions on records that stay at home"),
            ("records", "records that do not fit in memory: Parquet, Feather, folders, long CSV files"),
            ("dispatch", "the cheapest plan for a power grid, with demands and cost curves hidden"),
            ("peers", "organisations with a machine, a key and records of their own"),
            ("checklist", "five members exchange cards: a sheet to print and sign"),
            ("scale", "which engine when: NumPy, JAX, a graphics card"),
            ("running", "services, containers, monitoring, backup, what to do when"),
            ("reports", "reports to open in a browser, pictures, notebooks"),
            ("explore", "a page on which one corrupts agents and sees who learns what"),
        ),
    ),
    Section(
        "privacy",
        "Privacy",
        "What is hidden, from whom, and how sure that is.",
        (
            ("data-protection", "what leaves the house, what does not, what to ask"),
            ("protection", "what to hide, and how"),
            ("differential-privacy", "noise in the answer itself, without a server"),
            ("private-peers", "noise in the answer among five peers, with a ledger"),
            ("certificates", "coalitions, cuts, σ, networks, ledgers"),
            ("audit", "attacks on what is shipped, and their verdicts"),
            ("compare", "other approaches on the same problem, attacked alike, and a race of algorithms"),
            ("liars", "thirty-six ways to lie, and what happens to each"),
            ("explanation", "the threat model, and what is not promised"),
            ("paper", "the paper, claim by claim"),
        ),
    ),
    Section(
        "look-up",
        "Reference",
        "Commands, fields, names, numbers.",
        (
            ("reference", "commands, files, exit codes, names, errors"),
            ("api/index", "every public class and function, from its docstring"),
            ("algorithms", "which one, and when"),
            ("glossary", "our words, and those that you may know"),
            ("benchmarks", "how fast, against what"),
            ("changelog", "what has changed"),
        ),
    ),
    Section(
        "develop",
        "Develop",
        "For whoever changes tacit, or builds on it.",
        (
            ("contributing", "setting up, tests, commits"),
            ("architecture", "the code on one page"),
            ("new-algorithm", "a skeleton to copy"),
        ),
    ),
)


def section_page(section: Section) -> str:
    """Return a section's own page: its pages with their lines, and the table of contents for the theme."""
    listed = "\n".join(f"- {{doc}}`/{page}`: {line}" for page, line in section.pages)
    entries = "\n".join(page for page, _ in section.pages)
    return f"# {section.title}\n\n{section.about}\n\n{listed}\n\n:::{{toctree}}\n:hidden:\n\n{entries}\n:::\n"
