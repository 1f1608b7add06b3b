"""Fixtures for the whole tree, and the runner of outside cases (``pytest --cases AREA``)."""

from __future__ import annotations

pytest_plugins = ["webfetch_core.testing.plugin"]
