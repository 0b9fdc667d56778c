"""What a coalition has to go on: its view of a run, and what everybody knows."""
