"""Pages that are no content, though they look like it, and the other way round."""

from __future__ import annotations

from case_areas.fetch import run

__all__ = ["run"]
