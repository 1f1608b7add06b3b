"""How long a cold `webfetch-mcp` takes to its first answers: the handshake, the list of tools, a search.

    python evals/mcp_start.py [--runs 11]

Every run is a process of its own over the plugins of this environment, as a client starts it. `local`
searches the project's own documentation with an empty data folder; `cached` asks the same in a new process
that finds the answer in the cache of an earlier one. Times are medians, from the start of the process to the
answer's arrival; `cpu` is what the process used in all, which a busy machine changes little.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from common import ROOT, finish, median

QUERY = "which addresses are refused by the guard against server-side request forgery"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "eval", "version": "0"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
SEARCH = {
    "jsonrpc": "2.0",
    "id": 3,
    "method": "tools/call",
    "params": {"name": "web_search", "arguments": {"query": QUERY}},
}


def cpu(pid: int) -> float:
    """Seconds of processor time that a process has used; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(home: Path) -> dict[str, float]:
    """One process: seconds to each answer, and whether the last one was of the cache."""
    command = [
        sys.executable, "-m", "webfetch_core", "serve", "mcp",
        "--set", "search=local", "--set", f"plugins.search_local.here={json.dumps([str(ROOT / 'docs')])}",
    ]  # fmt: skip
    environ = {k: v for k, v in os.environ.items() if not k.startswith("WEBFETCH_")}
    environ |= {"WEBFETCH_HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    started = time.perf_counter()
    process = subprocess.Popen(
        command,
        env=environ,
        cwd=home,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin and process.stdout

    def ask(*messages: dict[str, Any]) -> dict[str, Any]:
        assert process.stdin and process.stdout
        process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
        process.stdin.flush()
        while True:
            line = process.stdout.readline()
            if not line:
                raise SystemExit("the server ended before it answered")
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == messages[-1]["id"]:
                return answer

    found: dict[str, float] = {}
    ask(HELLO)
    found["initialize"] = time.perf_counter() - started
    found["cpu_initialize"] = cpu(process.pid)
    ask(READY, LIST)
    found["tools_list"] = time.perf_counter() - started
    result = ask(SEARCH)["result"]
    found["search"] = time.perf_counter() - started
    text = result["content"][0]["text"]
    if result["isError"] or "[Source:" not in text:
        raise SystemExit(f"the search found nothing: {text[:400]}")
    found["cached"] = float(text.startswith("[cache:"))
    process.stdin.close()
    process.stdout.read()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    found["cpu"] = usage.ru_utime + usage.ru_stime
    process.stdout.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=11)
    args = parser.parse_args()
    rows: dict[str, list[dict[str, float]]] = {"local": [], "cached": []}
    with tempfile.TemporaryDirectory() as folder:
        warm = Path(folder) / "warm"
        warm.mkdir()
        run(warm)  # byte code and disk cache are warm, as they are for a user; and the answer is in the cache
        for number in range(args.runs):
            cold = Path(folder) / f"cold-{number}"
            cold.mkdir()
            rows["local"].append(run(cold))
            rows["cached"].append(run(warm))
    if any(row["cached"] for row in rows["local"]) or not all(row["cached"] for row in rows["cached"]):
        raise SystemExit("what was to be cached was not, or the other way round")
    every = rows["local"] + rows["cached"]
    figures: dict[str, Any] = {
        "runs": args.runs,
        "initialize_s": round(median([row["initialize"] for row in every]), 3),
        "tools_list_s": round(median([row["tools_list"] for row in every]), 3),
        "search_local_s": round(median([row["search"] for row in rows["local"]]), 3),
        "search_cached_s": round(median([row["search"] for row in rows["cached"]]), 3),
        "cpu_initialize_s": round(median([row["cpu_initialize"] for row in every]), 3),
        "cpu_local_s": round(median([row["cpu"] for row in rows["local"]]), 3),
        "cpu_cached_s": round(median([row["cpu"] for row in rows["cached"]]), 3),
    }
    for name, value in figures.items():
        print(f"  {name:16} {value:7}")
    finish("mcp_start", figures)


if __name__ == "__main__":
    main()
