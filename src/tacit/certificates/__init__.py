"""What is guaranteed against a coalition: Theorems 1 and 2, made from public parameters only."""

from tacit.certificates.certificate import Certificate, Component, certify
from tacit.certificates.every import certify_any

__all__ = ["Certificate", "Component", "certify", "certify_any"]
