"""The table ``[plugins.search_local]``."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import ge

_DAY_TO_DAY = (
    ".md",
    ".markdown",
    ".html",
    ".htm",
    ".xhtml",
    ".txt",
    ".text",
    ".rst",
    ".adoc",
    ".org",
    ".pdf",
)
_BY_NAME = (
    "README",
    "LICENSE",
    "LICENCE",
    "COPYING",
    "NOTICE",
    "CHANGELOG",
    "CHANGES",
    "HISTORY",
    "NEWS",
    "AUTHORS",
    "CONTRIBUTORS",
    "CONTRIBUTING",
    "INSTALL",
    "SECURITY",
    "FAQ",
    "TODO",
)
_NEVER_CONTENT = (".*", "node_modules", "__pycache__", "site-packages", "venv", "*.egg-info")


@frozen(kw_only=True)
class LocalSettings:
    """Which files are indexed and which indexes are searched.

    Attributes:
        here: folders that are indexed for this run only, in memory; what ``--here PATH`` sets.
        indexes: names of the indexes to search; empty means all of them.
        extensions: endings of the files to index, with the dot, in any case.
        names: files without an ending that are indexed too, by their names in any case, if they are text.
        max_file_bytes: larger files are skipped and reported.
        max_files: a folder's files beyond this number are left out, and that is reported.
        exclude: names of files and folders to pass over, as glob patterns; a pattern with a slash
            is matched against the path inside the folder. A folder that holds a ``pyvenv.cfg``
            is passed over whatever its name.
        follow_symlinks: index what links point to, if that is inside of the folder too.
    """

    here: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()
    extensions: tuple[str, ...] = _DAY_TO_DAY
    names: tuple[str, ...] = _BY_NAME
    max_file_bytes: int = field(default=4 * 1024 * 1024, validator=ge(1))
    max_files: int = field(default=20_000, validator=ge(1))
    exclude: tuple[str, ...] = _NEVER_CONTENT
    follow_symlinks: bool = False
