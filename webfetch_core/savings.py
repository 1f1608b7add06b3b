"""The report of savings of one ``Webfetch``: its counters, and whether a newer version is out."""

from __future__ import annotations

from . import __version__
from .errors import BadQuery, WebfetchError
from .pipeline.parts import Parts, keeps_nothing
from .pipeline.receipts import Assumptions, SavingsReport, receipt
from .runtime.host import Host
from .runtime.update_check import UPDATE_CHECK_S, Latest, is_newer, process_wide


def savings_report(host: Host, parts: Parts, **assumptions: float | None) -> SavingsReport:
    """The report; see ``Webfetch.savings_report``. An assumption that is None is at its default."""
    try:
        assumed = Assumptions(**{name: value for name, value in assumptions.items() if value is not None})
    except ValueError as exc:
        raise BadQuery(str(exc)) from None
    parts.settle()
    latest = _latest(host) if host.settings.update_check else Latest()
    newer = is_newer(latest.version, __version__)
    return SavingsReport(
        session=receipt(parts.counters.session(), assumed),
        lifetime=receipt(parts.counters.lifetime(), assumed),
        assumptions=assumed,
        kept=not keeps_nothing(host),
        update=f"webfetch {latest.version} is out; this is {__version__}" if newer else "",
        update_problem=latest.problem,
    )


def _latest(host: Host) -> Latest:
    try:
        http = host.http_client().bound()
    except WebfetchError as exc:
        return Latest(problem=f"{exc.kind}: {exc.message}")
    return process_wide().latest(http, host.deadline(UPDATE_CHECK_S).at)
