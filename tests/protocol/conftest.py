"""No tests are in the world that the members live in."""

collect_ignore = ["world.py"]
