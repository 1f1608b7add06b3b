"""Lines that meet: the grids that tables are drawn with."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define

from .records import Rule
from .tables import MAX_COLUMNS

NEAR = 3.0
"""Points by which lines that meet may miss each other."""
MAX_RULES = 3_000
"""More lines in one direction are a drawing."""
MAX_CELLS = 20_000


@define(slots=True, kw_only=True, eq=False)
class Grid:
    xs: list[float]
    ys: list[float]
    across: list[Rule]
    down: list[Rule]


def merged(rules: Sequence[Rule]) -> list[Rule]:
    """Join pieces of one line: dashes, cell borders drawn one by one, doubled lines."""
    if len(rules) > MAX_RULES:
        return []
    found: list[Rule] = []
    at: list[float] = []
    for rule in sorted(rules):
        if at and rule.at - at[-1] <= 1.5:
            at.append(rule.at)
            found.append(Rule(at[0], rule.start, rule.end))
        else:
            at = [rule.at]
            found.append(rule)
    joined: list[Rule] = []
    for rule in sorted(found):
        last = joined[-1] if joined else None
        if last is not None and last.at == rule.at and rule.start <= last.end + NEAR:
            joined[-1] = Rule(last.at, last.start, max(last.end, rule.end))
        else:
            joined.append(rule)
    return joined


def grids_of(across: Sequence[Rule], down: Sequence[Rule]) -> list[Grid]:
    """Groups of lines that meet, each with at least two in either direction."""
    home = list(range(len(across) + len(down)))

    def root(i: int) -> int:
        while home[i] != i:
            home[i] = home[home[i]]
            i = home[i]
        return i

    for j, upright in enumerate(down):
        for i, level in enumerate(across):
            if (
                level.start - NEAR <= upright.at <= level.end + NEAR
                and upright.start - NEAR <= level.at <= upright.end + NEAR
            ):
                home[root(i)] = root(len(across) + j)
    groups: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for i, level in enumerate(across):
        groups.setdefault(root(i), ([], []))[0].append(level)
    for j, upright in enumerate(down):
        groups.setdefault(root(len(across) + j), ([], []))[1].append(upright)
    found = []
    for level_rules, upright_rules in groups.values():
        if len(level_rules) < 2 or not upright_rules:
            continue
        xs, ys = _clustered([r.at for r in upright_rules]), _clustered([r.at for r in level_rules])
        # Open sides: level lines that reach beyond the outermost upright ones.
        left, right = min(r.start for r in level_rules), max(r.end for r in level_rules)
        if left < xs[0] - 10:
            xs.insert(0, left)
            upright_rules.append(Rule(left, ys[0], ys[-1]))
        if right > xs[-1] + 10:
            xs.append(right)
            upright_rules.append(Rule(right, ys[0], ys[-1]))
        if (
            len(xs) >= 3
            and len(ys) >= 2
            and len(xs) <= MAX_COLUMNS + 1
            and (len(xs) - 1) * (len(ys) - 1) <= MAX_CELLS
        ):
            found.append(Grid(xs=xs, ys=ys, across=level_rules, down=upright_rules))
    return sorted(found, key=lambda g: (g.xs[-1] - g.xs[0]) * (g.ys[-1] - g.ys[0]))


def _clustered(values: Sequence[float]) -> list[float]:
    groups: list[list[float]] = []
    for value in sorted(values):
        if groups and value - groups[-1][-1] <= NEAR:
            groups[-1].append(value)
        else:
            groups.append([value])
    return [sum(group) / len(group) for group in groups]
