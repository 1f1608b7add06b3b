"""Where a browser is, found without importing playwright or starting anything."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from .settings import FetchBrowserSettings

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
"""What a Chromium is called on a PATH."""

FIX = (
    "install one with `playwright install chromium` or your system's package manager "
    "(`apt install chromium`), or set plugins.fetch_browser.executable_path"
)

_OWN_FOLDERS = {
    "linux": "~/.cache/ms-playwright",
    "darwin": "~/Library/Caches/ms-playwright",
    "win32": "~/AppData/Local/ms-playwright",
}


@frozen
class Chromium:
    """The requirement: a browser that can be started."""

    executable_path: str = ""

    def with_settings(self, settings: FetchBrowserSettings | None) -> Chromium:
        """The same for a browser that the settings name."""
        return Chromium(settings.executable_path) if settings is not None else self

    def missing(self, environ: Mapping[str, str]) -> str | None:
        """Return what is missing and how to get it, or None."""
        if find(self.executable_path, environ) is not None:
            return None
        if self.executable_path:
            return (
                f"plugins.fetch_browser.executable_path is {self.executable_path!r}, which is no program: "
                "name a Chromium there, or leave it empty"
            )
        return f"no Chromium was found: {FIX}"


def find(executable_path: str, environ: Mapping[str, str]) -> str | None:
    """Return the program to start; "" for playwright's own; None when there is none.

    Args:
        executable_path: the operator's choice, or empty. It alone is looked at when it is given.
        environ: ``PATH``, ``HOME`` and ``PLAYWRIGHT_BROWSERS_PATH`` are read.
    """
    if executable_path:
        return shutil.which(str(Path(executable_path).expanduser()), path=environ.get("PATH"))
    if own_is_installed(environ):
        return ""
    found = (shutil.which(name, path=environ.get("PATH", "")) for name in NAMES)
    return next((path for path in found if path), None)


def own_is_installed(environ: Mapping[str, str]) -> bool:
    """Whether ``playwright install chromium`` has been run for the playwright that is installed."""
    spec = importlib.util.find_spec("playwright")
    if spec is None or not spec.submodule_search_locations:
        return False
    package = Path(next(iter(spec.submodule_search_locations))) / "driver" / "package"
    try:
        listed = json.loads((package / "browsers.json").read_text(encoding="utf-8"))["browsers"]
        revision = next(str(b["revision"]) for b in listed if b["name"] == "chromium-headless-shell")
    except (OSError, ValueError, LookupError, TypeError, StopIteration):
        return False
    return (
        _folder(environ, package) / f"chromium_headless_shell-{revision}" / "INSTALLATION_COMPLETE"
    ).is_file()


def _folder(environ: Mapping[str, str], package: Path) -> Path:
    named = environ.get("PLAYWRIGHT_BROWSERS_PATH", "")
    if named == "0":
        return package / ".local-browsers"
    if named:
        return Path(named)
    home = environ.get("HOME") or environ.get("USERPROFILE") or "~"
    cache = environ.get("XDG_CACHE_HOME") if sys.platform == "linux" else None
    if cache:
        return Path(cache) / "ms-playwright"
    place = _OWN_FOLDERS.get(sys.platform, _OWN_FOLDERS["linux"])
    return Path(place.replace("~", home, 1)).expanduser()
