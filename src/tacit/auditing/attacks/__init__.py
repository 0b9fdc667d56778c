"""Attacks, one per file: functions of a view and of public knowledge, which cannot import a secret."""
