"""Settings of ``[plugins.cache_lmdb]``."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import ge


@frozen(kw_only=True)
class LmdbSettings:
    """Where the file is and how big it may get.

    Attributes:
        path: the file; empty means ``cache.lmdb`` in the plugin's data folder. Beside it lives
            ``<path>-lock``.
        max_bytes: the file never exceeds this; the rows used least recently make room.
        durable: a row survives a power cut once it is stored. Without it the last rows before
            the cut may be lost, never the file; a crash of the process loses nothing either way.
        log_length: changes remembered for each space.
        keep_spaces: spaces whose rows never make room for others.
        allow_network_path: open the file on a network file system all the same. It is safe only
            where one machine uses it, and the file system keeps locks and maps as a disk does.
    """

    path: str = ""
    max_bytes: int = field(default=2 << 30, validator=ge(1 << 20))
    durable: bool = True
    log_length: int = field(default=10_000, validator=ge(1))
    keep_spaces: tuple[str, ...] = ("stats", "findings")
    allow_network_path: bool = False
