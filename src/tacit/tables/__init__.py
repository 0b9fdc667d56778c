"""Tables as people have them: one reader for CSV files, and the data dictionary that says what columns mean."""

from tacit.tables.dialect import Dialect, Reading
from tacit.tables.dictionary import Column, Dictionary, plain, read_dictionary
from tacit.tables.drafting import Draft, draft
from tacit.tables.matching import Comparison, Finding, Records, mapped, match, review
from tacit.tables.sheet import Sheet, read_sheet
from tacit.tables.unquestioned import read_unquestioned

__all__ = [
    "Column",
    "Comparison",
    "Dialect",
    "Dictionary",
    "Draft",
    "Finding",
    "Reading",
    "Records",
    "Sheet",
    "draft",
    "mapped",
    "match",
    "plain",
    "read_dictionary",
    "read_sheet",
    "read_unquestioned",
    "review",
]
