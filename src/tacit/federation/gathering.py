"""The members' cards from their files: one of each member, the newest where one key has signed the next.

    read_cards(sorted(Path(".").glob("*.card")))

A folder in which cards are collected has the card of before and the next one after `tacit keygen --follows`. Which
is the newest, the signatures say: every key has signed the one that follows it. File names and times say nothing,
and where no signature leads from one card to the other, somebody has to say which is the member's.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

from tacit.errors import FileError, InputError
from tacit.federation.cards import Card, read_card
from tacit.federation.rotation import refuse_unsigned
from tacit.federation.sections import Member
from tacit.listing import conjoined
from tacit.runtimes.peers.identity import der

log = logging.getLogger("tacit.cards")


def read_cards(paths: Iterable[Path]) -> list[Card]:
    """Return the cards in files, one of each member; refuse two of which neither key has signed the other."""
    by_name: dict[str, dict[Path, Card]] = {}
    for path in paths:
        card = read_card(path)
        by_name.setdefault(card.name, {})[path] = card
    return [_newest(name, cards) for name, cards in by_name.items()]


def _newest(name: str, cards: dict[Path, Card]) -> Card:
    """Return the card at the end of a chain in which every key has signed the next."""
    followed = {path for path, card in cards.items() if any(_follows(after, card) for after in cards.values())}
    last = [path for path in cards if path not in followed]
    chain = _chain(cards, last[0]) if len(last) == 1 else []
    if len(chain) != len(cards):
        files = conjoined([str(path) for path in cards])
        raise FileError(
            f"{files}: there are two members called {name}, or two keys of one of which neither has signed the "
            "other. Move away the card that is not to take part."
        )
    if followed:
        log.info("of the cards of %s, %s has the newest key", name, last[0])
    return cards[last[0]]


def _chain(cards: dict[Path, Card], last: Path) -> list[Path]:
    """Return the cards that lead to the last one, from there back."""
    chain = [last]
    while before := [path for path in cards if path not in chain and _follows(cards[chain[-1]], cards[path])]:
        if len(before) > 1:  # the same card twice, under two names
            return []
        chain += before
    return chain


def _follows(after: Card, before: Card) -> bool:
    """Tell whether the key of one card has signed that of the other."""
    if not after.signed or der(after.certificate) == der(before.certificate):
        return False
    try:
        refuse_unsigned(after.name, _member(before), _member(after))
    except InputError:
        return False
    return True


def _member(card: Card) -> Member:
    return Member(card.address, card.certificate, card.signed)
