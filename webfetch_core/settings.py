"""Settings: TOML, then environment, then flags; each value knows where it came from.

A host builds ``Settings(...)`` and nothing is read from anywhere; ``Settings.load()`` is what the
command line does. Unknown keys fail with the path of the key.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from attrs import Attribute, Factory, field, frozen
from attrs.validators import ge, gt, in_, le

from .errors import ConfigError

Selection = Literal["auto"] | tuple[str, ...]
"""``auto`` takes every provider whose requirements hold; a list names providers, in order."""

CONFIG_NAME = "webfetch.toml"
ENV_PREFIX = "WEBFETCH_"
_DAY = 86_400.0


@frozen(kw_only=True)
class NetSettings:
    """The network. Hosts of ``allow_hosts`` may be private: names, addresses or CIDR ranges."""

    allow_hosts: tuple[str, ...] = ()
    ports: tuple[int, ...] = (80, 443, 8000, 8080, 8443)
    use_env_proxies: bool = False
    user_agent: str = ""
    per_host: int = field(default=4, validator=ge(1))


@frozen(kw_only=True)
class TtlSettings:
    """Lifetimes in seconds, by freshness class; resolved when a row is read."""

    realtime_s: float = field(default=900.0, validator=ge(0))
    recent_s: float = field(default=7 * _DAY, validator=ge(0))
    stable_s: float = field(default=90 * _DAY, validator=ge(0))
    ceiling_s: float = field(default=90 * _DAY, validator=ge(0))
    stale_factor: float = field(default=2.0, validator=ge(1))
    negative_s: float = field(default=300.0, validator=ge(0))


@frozen(kw_only=True)
class ChunkSettings:
    """Passages: ``chars`` at most each, ``overlap`` as a share of it."""

    chars: int = field(default=400, validator=ge(1))
    overlap: float = field(default=0.10, validator=[ge(0), le(0.5)])


@frozen(kw_only=True)
class RankingSettings:
    """The cascade: ``shortlist`` passages go to the cross-encoder, ``keep`` come out.

    ``lexical_weight`` is what the lexical scorer counts beside the bi-encoder's 1 where the two are fused.
    ``patience_s`` is what a ranker that can stop anywhere may take in a search, for the hundred passages that
    the scorers before like best; a sixteenth of it is for all others. What it did not come to, they rank.
    """

    keep: int = field(default=5, validator=ge(1))
    shortlist: int = field(default=30, validator=ge(1))
    use_biencoder: bool = True
    use_crossencoder: bool = True
    fusion: str = field(default="zscore", validator=in_(("rrf", "zscore")))
    lexical_weight: float = field(default=0.5, validator=[ge(0), le(10)])
    per_source: int = field(default=4, validator=ge(1))
    context: int = field(default=2, validator=ge(0))
    excerpt_chars: int = field(default=2_000, validator=ge(100))
    near_duplicate: float = field(default=0.85, validator=[gt(0), le(1)])
    patience_s: float = field(default=0.8, validator=gt(0))


@frozen(kw_only=True)
class BudgetSettings:
    """Characters of what is handed out (four to a token)."""

    tool: int = field(default=8_000, validator=ge(200))
    full: int = field(default=16_000, validator=ge(200))
    extraction: int = field(default=6_000, validator=ge(200))
    fetch: int = field(default=24_000, validator=ge(200))
    compressed: int = field(default=980, validator=ge(100))


@frozen(kw_only=True)
class RenderSettings:
    """How a result is written: one header per source or per chunk, host only or full URL."""

    merge_sources: bool = True
    header: str = field(default="host", validator=in_(("host", "url")))


def _names(_: Any, attribute: Attribute[Any], value: Any) -> None:
    """A host that writes ``search="ddg"`` means ``("ddg",)``; letters as names would only puzzle it."""
    if value == attribute.default:
        return
    if not isinstance(value, (tuple, list)) or not all(isinstance(name, str) for name in value):
        raise ConfigError(f"{attribute.name}: expected a list of names, got {value!r}")


@frozen(kw_only=True)
class Settings:
    """Everything a user can set. Every field has a default; see docs/operating.md."""

    search: Selection = field(default="auto", validator=_names)
    search_mode: str = field(default="fuse", validator=in_(("fuse", "fallback", "single")))
    fetch: Selection = field(default="auto", validator=_names)
    extract: Selection = field(default="auto", validator=_names)
    rank: Selection = field(default="auto", validator=_names)
    compress: Selection = field(default="auto", validator=_names)
    cache: Selection = field(default="auto", validator=_names)
    match: Selection = field(default="auto", validator=_names)
    freshness: Selection = field(default="auto", validator=_names)
    llm: Selection = field(default="auto", validator=_names)

    limit: int = field(default=10, validator=[ge(1), le(100)])
    deadline_s: float = field(default=8.0, validator=[gt(0), le(_DAY)])
    engine_timeout_s: float = field(default=4.0, validator=[gt(0), le(_DAY)])
    fetch_timeout_s: float = field(default=10.0, validator=[gt(0), le(_DAY)])
    fetch_workers: int = field(default=8, validator=ge(1))
    extract_workers: int = field(default=2, validator=ge(0))
    strict_plugins: bool = False
    findings: bool = True
    """Whether models may save what they found elsewhere, and whether that is served."""
    update_check: bool = False
    """Whether the report of savings asks the package index, once a process, for a newer version."""

    net: NetSettings = NetSettings()
    ttl: TtlSettings = TtlSettings()
    chunk: ChunkSettings = ChunkSettings()
    ranking: RankingSettings = RankingSettings()
    budget: BudgetSettings = BudgetSettings()
    render: RenderSettings = RenderSettings()

    home: str = ""
    """Where data lives; empty means the platform's user data folder."""
    cache_db: str = ""
    """Path of the cache file; empty means the cache plugin's own place under ``home``."""

    allow_plugins: tuple[str, ...] | None = field(default=None, validator=_names)
    """Only these plugins are imported; None means all."""
    block_plugins: tuple[str, ...] = field(default=(), validator=_names)
    """These plugins are never imported."""
    plugins: Mapping[str, Mapping[str, Any]] = Factory(dict)
    """The tables ``[plugins.<plugin>]``, as read; the catalog checks each against its class."""

    origins: Mapping[str, str] = field(factory=dict, eq=False, repr=False)
    """Where each value that is not a default came from, by dotted key. Not a setting."""

    def home_dir(self, environ: Mapping[str, str]) -> Path:
        """The data folder; not created here.

        Raises:
            ConfigError: it is in the home folder of a user whom this machine does not know.
        """
        if not self.home:
            return default_home(environ)
        try:
            return Path(self.home).expanduser()
        except RuntimeError as exc:
            raise ConfigError(
                f"home: there is no home folder for {self.home}", fix="write the whole path"
            ) from exc

    @classmethod
    def load(
        cls,
        environ: Mapping[str, str] | None = None,
        *,
        cwd: Path | None = None,
        config: Path | None = None,
        overrides: Mapping[str, Any] | None = None,
    ) -> Settings:
        """Read every layer: defaults, the user's file, ``webfetch.toml`` here, environment, overrides.

        Args:
            environ: the environment; the process's own by default.
            cwd: where ``webfetch.toml`` is looked for.
            config: read this file alone instead of the two usual ones.
            overrides: dotted keys and their values (flags); they win.

        Raises:
            ConfigError: with the path of the key, where it came from, and what would be right.
        """
        from . import settings_load

        return settings_load.load(
            os.environ if environ is None else environ, cwd or _here(), config, overrides or {}
        )


def _here() -> Path | None:
    try:
        return Path.cwd()
    except OSError:  # it was removed, or may not be looked into: there is no file of settings here
        return None


def in_home(value: str) -> Path:
    """A path with the home folder for ``~``; as it is written where there is no such home."""
    try:
        return Path(value).expanduser()
    except RuntimeError:
        return Path(value)


def default_home(environ: Mapping[str, str]) -> Path:
    """The platform's folder for a user's data."""
    if sys.platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or _home() / "AppData" / "Local") / "webfetch"
    if sys.platform == "darwin":
        return _home() / "Library" / "Application Support" / "webfetch"
    return (_whole(environ.get("XDG_DATA_HOME")) or _home() / ".local" / "share") / "webfetch"


def default_config(environ: Mapping[str, str]) -> Path:
    """The user's configuration file."""
    if sys.platform == "win32":
        return Path(environ.get("APPDATA") or _home() / "AppData" / "Roaming") / "webfetch" / CONFIG_NAME
    if sys.platform == "darwin":
        return default_home(environ) / CONFIG_NAME
    return (_whole(environ.get("XDG_CONFIG_HOME")) or _home() / ".config") / "webfetch" / CONFIG_NAME


def _home() -> Path:
    """The user's home folder. Where there is none, one in which nothing can be, so that what needs it says
    so and nothing lands in the working directory, which may be a stranger's."""
    with suppress(RuntimeError):
        if os.environ.get("HOME") != "" and (home := Path.home()).is_absolute():
            return home
    with suppress(ImportError, KeyError):
        import pwd

        if (home := Path(pwd.getpwuid(os.getuid()).pw_dir)).is_absolute():
            return home
    return Path(os.devnull)


def _whole(value: str | None) -> Path | None:
    """The folder of a variable of XDG, which says that one that is not absolute is to be ignored."""
    return Path(value) if value and Path(value).is_absolute() else None


__all__ = [
    "CONFIG_NAME",
    "BudgetSettings",
    "ChunkSettings",
    "ConfigError",
    "NetSettings",
    "RankingSettings",
    "RenderSettings",
    "Selection",
    "Settings",
    "TtlSettings",
    "default_config",
    "default_home",
]
