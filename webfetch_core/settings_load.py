"""Reading settings from files, environment and flags into :class:`~webfetch_core.settings.Settings`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import attrs

from .errors import ConfigError
from .settings import CONFIG_NAME, ENV_PREFIX, Settings, default_config

T = TypeVar("T")

# Variables with a meaning of their own: the seed's names, and the two that act before import.
_SPECIAL_ENV = {
    "WEBFETCH_PLUGINS": "allow_plugins",
    "WEBFETCH_BLOCK": "block_plugins",
    "WEBFETCH_HOME": "home",
    "WEBFETCH_CACHE_DB": "cache_db",
}
_NOT_SETTINGS = frozenset({"WEBFETCH_CONFIG", "WEBFETCH_PROVIDER", "WEBFETCH_DEBUG", "WEBFETCH_MODEL_PATH"})
_SECRET = "_TOKEN"
"""Ends the name of a server's secret (WEBFETCH_MCP_TOKEN), which that server reads by itself."""
_MAPPINGS: tuple[Any, ...] = (Mapping, dict)  # what get_origin(Mapping[str, X]) may be
NOT_FROM_A_FOLDER = re.compile(
    r"net\.|plugins\.serve_\w+\.|plugins\.[^.]+\."
    r"(?!use_(?:bi|cross)encoder\Z)\w*(?:base_url|proxy|biencoder|crossencoder)\Z"
)
"""What opens private hosts, lets others in, says where keys are sent, or which model's files are read. A
folder that somebody else wrote, a checkout say, must not decide that for whoever searches in it."""
_PROVIDER_MODES = {"multi": "fuse", "fallback": "fallback"}


def load(
    environ: Mapping[str, str], cwd: Path | None, config: Path | None, overrides: Mapping[str, Any]
) -> Settings:
    """Merge the layers, lowest first, and structure the result."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for path in _files(environ, cwd, config):
        found_here = config is None and cwd is not None and path == cwd / CONFIG_NAME
        for key, value in _flatten(_read(path)):
            if found_here and NOT_FROM_A_FOLDER.match(key):
                raise ConfigError(
                    f"{key}: a file that only lies in the working directory may not set this [file {path}]",
                    fix=f"set it in {default_config(environ)} or in the environment, or name the file: "
                    f"--config {CONFIG_NAME}",
                )
            values[key], origins[key] = value, f"file {path}"
    for key, value, name in _from_environ(environ):
        values[key], origins[key] = value, f"env {name}"
    for key, value in overrides.items():
        values[key], origins[key] = value, "flag"
    settings = structure(Settings, _nest(values), origins=origins)
    return attrs.evolve(settings, origins=origins)


def _files(environ: Mapping[str, str], cwd: Path | None, config: Path | None) -> list[Path]:
    named = config or (Path(environ["WEBFETCH_CONFIG"]) if environ.get("WEBFETCH_CONFIG") else None)
    if named is not None:
        if not _is_file(named):
            raise ConfigError(f"settings file {named} does not exist", fix="give the path of a TOML file")
        return [named]
    usual = [default_config(environ), *([] if cwd is None else [cwd / CONFIG_NAME])]
    return [path for path in usual if _is_file(path)]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # the home of somebody else, as under sudo: what may not be looked into is not ours
        return False


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))  # Windows editors write a BOM
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(f"settings file {path} cannot be read: {exc}") from exc
    except tomllib.TOMLDecodeError as exc:
        raise ConfigError(f"settings file {path} is not valid TOML: {exc}") from exc
    except RecursionError:
        raise ConfigError(f"settings file {path} is not valid TOML: it is nested too deeply") from None


def _flatten(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        dotted = f"{prefix}{key}"
        if isinstance(value, dict) and value:
            yield from _flatten(value, f"{dotted}.")
        else:
            yield dotted, value


def _nest(values: Mapping[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for dotted, value in values.items():
        *parents, last = dotted.split(".")
        here = nested
        for parent in parents:
            step = here.setdefault(parent, {})
            if not isinstance(step, dict):
                raise ConfigError(f"{dotted}: {parent} is a value, not a table")
            here = step
        if value != {} or not isinstance(here.get(last), dict):  # an empty table takes nothing away
            here[last] = value
    return nested


def _from_environ(environ: Mapping[str, str]) -> Iterator[tuple[str, Any, str]]:
    for name in sorted(environ):
        if not name.startswith(ENV_PREFIX) or name in _NOT_SETTINGS or name.endswith(_SECRET):
            continue
        raw = environ[name]
        key = _SPECIAL_ENV.get(name) or name.removeprefix(ENV_PREFIX).lower().replace("__", ".")
        if raw == "" and name not in ("WEBFETCH_PLUGINS",):
            continue  # an empty variable is an unset one; an empty allow-list means "no plugin"
        yield key, parse_value(key, raw), name
    provider = environ.get("WEBFETCH_PROVIDER", "").strip()
    if provider in _PROVIDER_MODES:
        yield "search_mode", _PROVIDER_MODES[provider], "WEBFETCH_PROVIDER"
    elif provider:
        yield "search", [provider], "WEBFETCH_PROVIDER"


def parse_value(key: str, raw: str) -> Any:
    """Read what a variable or a flag says by the type of its setting.

    Lists are written with commas or as TOML; a plugin's own values are read as TOML, else as text.
    What does not fit the type is returned as it stands, for :func:`structure` to refuse.
    """
    kind = _field_type(key)
    if kind is None or (kind is not str and raw.lstrip().startswith("[")):
        try:
            return tomllib.loads(f"v = {raw}")["v"]
        except tomllib.TOMLDecodeError:
            return raw
    if kind is str:
        return raw
    if kind is bool:
        word = raw.strip().lower()
        if word in ("1", "true", "yes", "on"):
            return True
        if word in ("0", "false", "no", "off"):
            return False
        return raw
    if kind in (int, float):
        try:
            return kind(raw)
        except ValueError:
            return raw
    if raw.strip() == "auto":
        return "auto"
    items = [part.strip() for part in raw.split(",") if part.strip()]
    if any(int in get_args(k) for k in (kind, *get_args(kind))):
        return [int(item) if item.isascii() and item.isdigit() and len(item) < 20 else item for item in items]
    return items


def _field_type(dotted: str) -> Any:
    cls: Any = Settings
    for part in dotted.split("."):
        if not attrs.has(cls):
            return None
        hints = get_type_hints(cls)
        if part not in hints:
            return None
        cls = hints[part]
    return cls


# ---- structuring ---------------------------------------------------------------------------------


def structure(
    cls: type[T], table: Mapping[str, Any], *, path: str = "", origins: Mapping[str, str] | None = None
) -> T:
    """Make ``cls`` of a table, strictly: unknown keys and wrong types fail with the key's path.

    Raises:
        ConfigError: one message with every fault found.
    """
    problems = list(_unknown(cls, table, path))
    if not problems:
        try:
            made: T = _converter().structure(table, cls)
            return made
        except Exception as exc:
            problems = list(_explain(exc, path))
    told = [p + _told_by(p, origins or {}) for p in problems]
    raise ConfigError("; ".join(told), fix="correct it where it was set, or remove it there")


def _told_by(problem: str, origins: Mapping[str, str]) -> str:
    key = problem.split(":", 1)[0]
    told = [origin for name, origin in origins.items() if f"{name}.".startswith(f"{key}.")]
    return f" [{', '.join(dict.fromkeys(told))}]" if told else ""


def _unknown(cls: type, table: Mapping[str, Any], path: str) -> Iterator[str]:
    hints = {k: v for k, v in get_type_hints(cls).items() if k != "origins"}
    for key, value in table.items():
        where = f"{path}.{key}" if path else key
        if key not in hints:
            near = get_close_matches(key, hints, n=1)
            yield f"{where}: unknown setting" + (f", did you mean {near[0]}?" if near else "")
        elif attrs.has(hints[key]):
            if isinstance(value, Mapping):
                yield from _unknown(hints[key], value, where)
            else:
                yield f"{where}: expected a table, got {value!r}"


def _converter() -> Any:
    from cattrs import Converter

    made = Converter(detailed_validation=True)

    def strict(kind: type, name: str) -> None:
        def hook(value: Any, _: type) -> Any:
            if kind is float and isinstance(value, int) and not isinstance(value, bool):
                return float(value)
            if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
                raise TypeError(f"expected {name}, got {value!r}")
            return value

        made.register_structure_hook(kind, hook)

    for kind, name in ((bool, "true or false"), (int, "a whole number"), (float, "a number"), (str, "text")):
        strict(kind, name)

    def is_list(hint: Any) -> bool:
        return get_origin(hint) is tuple

    def list_hook(value: Any, hint: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"expected a list, got {value!r}")
        inner = get_args(hint)[0]
        return tuple(made.structure(item, inner) for item in value)

    def is_choice(hint: Any) -> bool:
        return any(get_origin(a) is tuple for a in get_args(hint))

    def choice_hook(value: Any, hint: Any) -> Any:
        if value is None or value == "auto":
            return value
        if isinstance(value, str):
            raise TypeError(f'expected "auto" or a list of names, got {value!r}')
        listed = next(a for a in get_args(hint) if get_origin(a) is tuple)
        return made.structure(value, listed)

    def table_hook(value: Any, _: Any) -> Any:
        if not isinstance(value, Mapping):
            raise TypeError(f"expected a table, got {value!r}")
        return dict(value)

    made.register_structure_hook_func(is_list, list_hook)
    made.register_structure_hook_func(is_choice, choice_hook)
    made.register_structure_hook_func(lambda hint: get_origin(hint) in _MAPPINGS, table_hook)
    return made


def _explain(exc: BaseException, path: str) -> Iterator[str]:
    """Turn cattrs' nested errors into ``key.path: what was expected``."""
    from cattrs import AttributeValidationNote, BaseValidationError

    if isinstance(exc, BaseValidationError):
        for inner in exc.exceptions:
            here = path
            for note in getattr(inner, "__notes__", ()):
                if isinstance(note, AttributeValidationNote):
                    here = f"{path}.{note.name}" if path else note.name
            yield from _explain(inner, here)
    else:
        text = str(exc.args[0]) if exc.args else type(exc).__name__
        named = _VALIDATED.match(text)
        if named:
            where = f"{path}.{named[1]}" if path else named[1]
            yield f"{where}: {_in_words(text[named.end() :])}"
        else:
            yield f"{path or 'settings'}: {text}"


# attrs' validators name the attribute in their text ("'limit' must be >= 1: 0"), not in a note.
_VALIDATED = re.compile(r"'(\w+)' (?=must )")
_ONE_OF = re.compile(r"must be in \((.*?),?\) \(got (.*)\)\Z", re.DOTALL)
_BOUND = re.compile(r"must be (<=|>=|<|>) (\S+): (.*)\Z", re.DOTALL)
_BOUNDS = {"<=": "at most", ">=": "at least", "<": "less than", ">": "more than"}


def _in_words(text: str) -> str:
    if one_of := _ONE_OF.match(text):
        return f"must be one of {one_of[1]}; got {one_of[2]}"
    if bound := _BOUND.match(text):
        return f"must be {_BOUNDS[bound[1]]} {bound[2]}; got {bound[3]}"
    return text
