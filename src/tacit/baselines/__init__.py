"""Other approaches to the same problem, each from its paper or by its own library; to be compared with."""

from tacit.baselines.approach import Approach, Demonstration, Overhearing
from tacit.baselines.masked import Masked

__all__ = ["Approach", "Demonstration", "Masked", "Overhearing"]
