"""Search over the user's own folders, as a webfetch plugin."""
