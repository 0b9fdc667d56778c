"""Attacks, one per file. Each is given a view and public knowledge, and cannot import anything that holds a secret."""
