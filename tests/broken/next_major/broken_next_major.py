"""A plugin of the next API major; it must not be imported."""

raise SystemExit(6)
