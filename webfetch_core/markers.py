"""The names by which hosts and plugins find each other. Imports pluggy and nothing else."""

from __future__ import annotations

import pluggy

PROJECT = "webfetch"
"""The pluggy project name."""

API_MAJOR = 1
"""The major version of the plugin API; it is part of the entry-point group's name."""

GROUP_PREFIX = "webfetch.v"

GROUP = f"{GROUP_PREFIX}{API_MAJOR}"
"""The entry-point group that this core loads. Other majors are listed, never imported."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Decorator for a plugin's implementation of a webfetch hook."""
