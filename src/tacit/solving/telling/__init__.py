"""What a run tells, whatever the masks: counted before it starts, and kept in its record."""

from tacit.solving.telling.count import Telling, against, stamps_of
from tacit.solving.telling.run import telling

__all__ = ["Telling", "against", "stamps_of", "telling"]
