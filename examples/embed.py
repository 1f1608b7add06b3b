"""webfetch inside another program.

    python examples/embed.py "how high is the lighthouse of Tarn"

One ``Webfetch`` serves a whole program and all of its threads: make it once, close it at the end.
"""

from __future__ import annotations

import sys
from typing import TextIO

from webfetch_core import AllEnginesFailed, BadQuery, Settings, Webfetch
from webfetch_core.api import Event


def answer(wf: Webfetch, query: str, out: TextIO) -> int:
    """Write what webfetch finds for ``query``; return 0, or the reason as an exit code."""
    calls: list[str] = []

    def watch(event: Event) -> None:
        # Called in the threads where things happen: be quick, and touch nothing that is not thread-safe.
        if event.name == "call.finished":
            calls.append(f"{event.stage} {event.provider} {event.outcome} {event.elapsed_s:.2f} s")

    unsubscribe = wf.subscribe(watch)
    try:
        result = wf.search(query, deadline_s=6.0)
    except BadQuery as exc:
        out.write(f"bad query: {exc}\n")
        return 2
    except AllEnginesFailed as exc:
        # Not "nothing was found": nobody could be asked. Each engine has its own reason, with its fix.
        out.write(f"no engine answered: {exc.message}\n")
        for attempt in exc.attempts:
            out.write(f"  {attempt.provider}: {attempt.outcome}: {attempt.reason}\n")
        return 4
    finally:
        unsubscribe()

    if not result.hits:
        out.write("nothing was found\n")
        return 5
    out.write(wf.render(result, budget_tokens=600) + "\n")  # what a model is given
    best = result.hits[0]
    out.write(f"best page: {best.url} ({', '.join(sorted(best.engines))})\n")
    for page in result.failed_urls:
        out.write(f"left out: {page.url}: {page.kind}\n")
    out.write("".join(f"call: {line}\n" for line in sorted(calls)))
    return 0


def main(arguments: list[str]) -> int:
    """Answer the query that the arguments are, with the user's own settings and installed plugins."""
    if not arguments:
        print('usage: python examples/embed.py "QUERY"', file=sys.stderr)
        return 2
    with Webfetch(Settings.load()) as wf:
        return answer(wf, " ".join(arguments), sys.stdout)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
