"""An agent that searches the web, with a model on your own machine: any server that speaks OpenAI's Chat
Completions (Ollama, llama.cpp, vLLM, LM Studio). Only the standard library is used.

    python examples/agent_local.py http://127.0.0.1:11434/v1 qwen3 "who keeps the lighthouse of Tarn now?"
"""

from __future__ import annotations

import json
import sys
from datetime import datetime
from typing import Any
from urllib.request import Request, urlopen

from webfetch_core import ToolBox, Webfetch, system_note, to_openai_chat

TURNS = 12
"""A model that has not answered by then is going round in circles."""


def answer(question: str, base_url: str, model: str, box: ToolBox, now: datetime) -> str:
    """Let the model search and read until it answers."""
    messages: list[dict[str, Any]] = [
        # Today's date: without it, models take the end of their training for today.
        {"role": "system", "content": system_note(now)},
        {"role": "user", "content": question},
    ]
    # Small contexts fill up quickly: status and savings_report are for people, and left out here.
    tools = [to_openai_chat(tool) for tool in box.tools() if tool.name in ("web_search", "fetch_url")]
    for _ in range(TURNS):
        message = _post(base_url, {"model": model, "messages": messages, "tools": tools})["choices"][0][
            "message"
        ]
        messages.append(message)
        calls = message.get("tool_calls") or []
        if not calls:
            return str(message["content"])
        for call in calls:
            name, arguments = call["function"]["name"], call["function"]["arguments"]
            print(f"{name} {arguments}", file=sys.stderr)
            # Small models send "10" for 10 and one string for a list: that is understood.
            text = box.handle(name, arguments)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return f"No answer after {TURNS} turns."


def _post(base_url: str, body: dict[str, Any]) -> Any:
    headers = {"Content-Type": "application/json", "Authorization": "Bearer none"}
    request = Request(f"{base_url.rstrip('/')}/chat/completions", json.dumps(body).encode(), headers)
    with urlopen(request, timeout=300) as reply:
        return json.load(reply)


def main(arguments: list[str]) -> int:
    """Answer the question that the last arguments are."""
    if len(arguments) < 3:
        print('usage: python examples/agent_local.py BASE_URL MODEL "QUESTION"', file=sys.stderr)
        return 2
    base_url, model, *words = arguments
    with Webfetch() as wf:  # the user's own settings, all installed plugins
        print(answer(" ".join(words), base_url, model, ToolBox(wf), datetime.now()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
