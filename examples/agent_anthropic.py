"""An agent that searches the web, with Anthropic's Messages API.

pip install anthropic && export ANTHROPIC_API_KEY=...
python examples/agent_anthropic.py "who keeps the lighthouse of Tarn now?"
"""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Any

from webfetch_core import ToolBox, Webfetch, system_note, to_anthropic

MODEL = "claude-opus-5-5"
TURNS = 12
"""A model that has not answered by then is going round in circles."""
CACHED = {"cache_control": {"type": "ephemeral"}}


def answer(question: str, client: Any, box: ToolBox, now: datetime) -> str:
    """Let the model search and read until it answers. ``client`` is an ``anthropic.Anthropic``."""
    *tools, last = box.tools()
    # The tools come first in the prompt and never change: their mark makes all turns of all days cheaper.
    offered = [*(to_anthropic(tool) for tool in tools), to_anthropic(last, cache=True)]
    # Today's date: without it, models take the end of their training for today, and search for what was.
    system = [{"type": "text", "text": system_note(now)}]
    messages: list[dict[str, Any]] = [{"role": "user", "content": question}]
    for _ in range(TURNS):
        reply = client.messages.create(
            model=MODEL, max_tokens=4_000, system=system, tools=offered, messages=messages
        )
        messages.append({"role": "assistant", "content": reply.content})
        calls = [block for block in reply.content if block.type == "tool_use"]
        if not calls:
            return "".join(block.text for block in reply.content if block.type == "text")
        results = []
        for call in calls:
            print(f"{call.name} {call.input}", file=sys.stderr)
            done = box.call(call.name, call.input)  # never raises: a failure is a text that says what to do
            results.append(
                {
                    "type": "tool_result",
                    "tool_use_id": call.id,
                    "content": done.text,
                    "is_error": done.is_error,
                }
            )
        # The mark of what is cached moves on with the conversation; four of them are allowed.
        for message in messages:
            if message["role"] == "user" and not isinstance(message["content"], str):
                message["content"][-1].pop("cache_control", None)
        results[-1].update(CACHED)
        messages.append({"role": "user", "content": results})
    return f"No answer after {TURNS} turns."


def main(arguments: list[str]) -> int:
    """Answer the question that the arguments are."""
    if not arguments:
        print('usage: python examples/agent_anthropic.py "QUESTION"', file=sys.stderr)
        return 2
    import anthropic

    with Webfetch() as wf:  # the user's own settings, all installed plugins
        print(answer(" ".join(arguments), anthropic.Anthropic(), ToolBox(wf), datetime.now()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
