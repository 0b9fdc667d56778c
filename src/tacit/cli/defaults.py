"""Numbers that help shows. They stand here so that help loads nothing; a test compares them with what holds."""

TOLERANCE = 1e-9
MAX_ROUNDS = 100_000
PATIENCE = 86_400.0  # seconds
SILENCE = 15.0  # seconds
DELTA = 1.35
