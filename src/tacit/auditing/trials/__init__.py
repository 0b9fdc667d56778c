"""Attacks on whole runs, and games between two worlds."""
