"""Records that stay where they are: files and databases, read in batches as often as they are needed."""

from tacit.records.address import DatabaseAddress, is_address
from tacit.records.dataset import Batch, Dataset, Gathered
from tacit.records.opening import is_dataset, open_source
from tacit.records.passing import RecordSource

__all__ = [
    "Batch",
    "DatabaseAddress",
    "Dataset",
    "Gathered",
    "RecordSource",
    "is_address",
    "is_dataset",
    "open_source",
]
