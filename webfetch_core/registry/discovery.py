"""Entry points to candidates: what is installed, read from metadata alone. Nothing is imported here.

``importlib.metadata.entry_points()`` parses every distribution in one unguarded pass; one broken
or half-removed package would hide all plugins. Each distribution is therefore read on its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import Distribution, EntryPoint, distributions

from attrs import field, frozen

from ..markers import GROUP, GROUP_PREFIX

CORE_DIST = "webfetch-core"


@frozen(kw_only=True)
class Candidate:
    """An entry point of a webfetch group, before import. ``problem`` says why it must not be imported."""

    name: str
    value: str
    group: str = GROUP
    dist: str = ""
    version: str = ""
    problem: str = ""
    entry_point: EntryPoint | None = field(default=None, repr=False, eq=False)


def discover(core_version: str, path: Sequence[str] | None = None) -> tuple[Candidate, ...]:
    """Return every plugin on ``path`` (``sys.path`` by default), by name.

    The same distribution seen twice (an editable install, a ``lib64`` link) counts once, as the
    first on the path is the one that Python would import. Entry points of another API major and
    distributions that need another core are returned with their ``problem``.
    """
    found: list[Candidate] = []
    seen: set[str] = set()
    for dist in _distributions(path):
        try:
            found.extend(_of(dist, seen, core_version))
        except Exception as exc:
            # Only a distribution that names one of our groups gets here: worth a line of its own.
            name = _dist_name(dist) or "unknown"
            found.append(
                Candidate(
                    name=name,
                    value="",
                    dist=name,
                    problem=f"its metadata cannot be read: {type(exc).__name__}: {exc}",
                )
            )
    return _mark_name_clashes(sorted(found, key=lambda c: (c.name, c.dist)))


def _distributions(path: Sequence[str] | None) -> Iterator[Distribution]:
    try:
        yield from distributions() if path is None else distributions(path=list(path))
    except OSError:  # a folder of the path vanished or cannot be listed
        return


def _of(dist: Distribution, seen: set[str], core_version: str) -> Iterator[Candidate]:
    try:
        text = dist.read_text("entry_points.txt") or ""
    except (OSError, UnicodeDecodeError):
        return
    if GROUP_PREFIX not in text:  # the cheap test that spares parsing of everything that is not ours
        return
    name = _dist_name(dist)
    if not name or _normal(name) in seen:
        return
    seen.add(_normal(name))
    version = dist.version or ""
    problem = core_problem(dist.requires or (), core_version)
    for ep in dist.entry_points:
        if ep.group == GROUP:
            yield Candidate(
                name=ep.name, value=ep.value, dist=name, version=version, problem=problem, entry_point=ep
            )
        elif re.fullmatch(re.escape(GROUP_PREFIX) + r"\d+", ep.group):
            newer = int(ep.group.removeprefix(GROUP_PREFIX)) > int(GROUP.removeprefix(GROUP_PREFIX))
            yield Candidate(
                name=ep.name,
                value=ep.value,
                group=ep.group,
                dist=name,
                version=version,
                problem=f"it is written for {ep.group}; this core ({core_version}) serves {GROUP}: "
                + ("upgrade webfetch-core" if newer else "upgrade the plugin"),
            )


def _dist_name(dist: Distribution) -> str:
    try:
        return dist.metadata["Name"] or ""
    except Exception:
        return ""


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _mark_name_clashes(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Two distributions that use one plugin name: both are refused, each naming the other."""
    from attrs import evolve

    rows = list(candidates)
    dists: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        dists.setdefault((row.group, row.name), set()).add(row.dist)

    def clash(row: Candidate) -> Candidate:
        owners = sorted(dists[row.group, row.name])
        if len(owners) == 1:
            return row
        return evolve(
            row,
            problem=f"the plugin name {row.name!r} is used by {' and '.join(owners)}: uninstall one of them",
        )

    return tuple(clash(row) for row in rows)


# ---- a distribution's own bound on the core -------------------------------------------------------

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*\(?([^;)]*)\)?\s*(?:;.*)?\Z")
_CLAUSE = re.compile(r"(~=|==|!=|<=|>=|<|>)\s*v?(\d+(?:\.\d+)*)(\.\*)?\Z")


def core_problem(requires: Iterable[str], core_version: str) -> str:
    """Why a distribution's requirements do not admit this core, or an empty string.

    Compares release numbers only, which is what bounds on the core consist of; a clause of any
    other form is taken as satisfied, since pip has the last word on it.
    """
    for requirement in requires:
        match = _REQUIREMENT.match(requirement)
        if (
            match
            and _normal(match[1]) == CORE_DIST
            and not all(
                _admits(clause.strip(), core_version) for clause in match[2].split(",") if clause.strip()
            )
        ):
            return f"it needs {CORE_DIST}{match[2].strip()}, found {core_version}"
    return ""


def _release(version: str) -> tuple[int, ...]:
    match = re.match(r"v?(\d+(?:\.\d+)*)", version)
    return tuple(int(part) for part in match[1].split(".")) if match else ()


def _admits(clause: str, version: str) -> bool:
    match = _CLAUSE.match(clause)
    if not match:
        return True
    operator, number, wildcard = match.groups()
    want, have = _release(number), _release(version)
    prefix = want[:-1] if operator == "~=" else want
    width = max(len(want), len(have))
    want_full, have_full = want + (0,) * (width - len(want)), have + (0,) * (width - len(have))
    same = have_full[: len(prefix)] == prefix if (wildcard or operator == "~=") else have_full == want_full
    return {
        "==": same,
        "!=": not same,
        ">=": have_full >= want_full,
        "<=": have_full <= want_full,
        ">": have_full > want_full,
        "<": have_full < want_full,
        "~=": same and have_full >= want_full,
    }[operator]
