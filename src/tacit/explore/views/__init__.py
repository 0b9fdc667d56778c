"""The page itself, with NiceGUI: thin, and without a thought of its own."""
