"""What must be there before a provider is built: keys, modules, programs."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from attrs import frozen


@runtime_checkable
class Requirement(Protocol):
    """Something that must be there before a provider is built.

    One that depends on the plugin's settings also has ``with_settings(settings)``, which returns the
    requirement to ask for these settings.
    """

    def missing(self, environ: Mapping[str, str]) -> str | None:
        """Return what is missing and how to get it, or None when all is well."""
        ...


@frozen
class EnvKey:
    """An environment variable that holds a key, set and not blank unless it is ``optional``. Its value is
    never shown."""

    name: str
    optional: bool = False

    def missing(self, environ: Mapping[str, str]) -> str | None:
        if self.optional or environ.get(self.name, "").strip():
            return None
        return f"{self.name} is not set: set it to the key of your account"


@frozen
class Module:
    """An importable module; ``install`` is what ``pip install`` takes to get it."""

    name: str
    install: str = ""

    def missing(self, environ: Mapping[str, str]) -> str | None:
        try:
            found = importlib.util.find_spec(self.name) is not None
        except (ImportError, ValueError):
            found = False
        return None if found else f"module {self.name} is missing: pip install {self.install or self.name}"


@frozen
class Executable:
    """A program on the PATH; ``install`` says how to get it."""

    name: str
    install: str = ""

    def missing(self, environ: Mapping[str, str]) -> str | None:
        if shutil.which(self.name, path=environ.get("PATH")):
            return None
        return f"{self.name} is not on the PATH" + (f": {self.install}" if self.install else "")
