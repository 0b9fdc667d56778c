"""Runs and releases of the shipped mechanisms, recorded as a coalition sees them."""
