"""One problem, every approach to privacy: what each gives, what it takes, and what it gives away."""

from tacit.comparing.approaches import approaches
from tacit.comparing.compare import compare
from tacit.comparing.comparison import ComparedRow, Comparison
from tacit.comparing.recovery import Recovery

__all__ = ["ComparedRow", "Comparison", "Recovery", "approaches", "compare"]
