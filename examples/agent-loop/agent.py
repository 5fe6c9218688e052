#!/usr/bin/env python3
"""An agent loop: a model, the tools of a gateway, and the loop between them.

It speaks the Model Context Protocol (2026-07-28: every request stands alone) with nothing but Python's standard
library. The model here is a script, so that the loop runs without a key; put your own in place of `Scripted`.

    GATEWAY_URL=http://127.0.0.1:7860 GATEWAY_TOKEN=$(cat .token) python3 agent.py
"""

import json
import os
import urllib.request

VERSION = "2026-07-28"


class Tools:
    """The tools of a gateway."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.token, self.calls = url.rstrip("/") + "/mcp", token, 0

    def list(self) -> list[dict]:
        return self._ask("tools/list", {})["tools"]

    def call(self, name: str, arguments: dict) -> dict:
        return self._ask("tools/call", {"name": name, "arguments": arguments})

    def _ask(self, method: str, params: dict) -> dict:
        self.calls += 1
        meta = {"protocolVersion": VERSION, "clientCapabilities": {}, "clientInfo": {"name": "agent-loop", "version": "1"}}
        params["_meta"] = {f"io.modelcontextprotocol/{key}": value for key, value in meta.items()}
        headers = {
            "Authorization": f"Bearer {self.token}", "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": VERSION, "Mcp-Method": method,
        }
        if "name" in params:
            headers["Mcp-Name"] = params["name"]
        body = json.dumps({"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params}).encode()
        with urllib.request.urlopen(urllib.request.Request(self.url, body, headers), timeout=180) as answer:
            for line in answer:  # an event stream: comments while the cell runs, then one message
                if line.startswith(b"data: "):
                    message = json.loads(line[len(b"data: "):])
                    if "result" in message:
                        return message["result"]
                    if "error" in message:
                        raise RuntimeError(message["error"]["message"])
        raise RuntimeError("the answer ended before its result")


class Scripted:
    """Stands for a model: it is given the conversation and says what comes next, a tool call or the answer."""

    def next(self, tools: list[dict], conversation: list[dict]) -> dict:
        assert any(tool["name"] == "stateful_python_code_exec" for tool in tools)
        last = conversation[-1]
        if last["role"] == "user":
            return self._cell("n = 2**67 - 1\nn")
        if last["failed"] and "hint:" in last["content"]:  # a refusal says what to use instead: do so
            return self._cell("from sympy import factorint\nfactors = factorint(n)\n[factors, n == 193707721 * 761838257287]")
        if last["content"] == str(2**67 - 1):
            return self._cell("import subprocess\nsubprocess.run(['factor', str(n)], capture_output=True).stdout")
        return {"answer": "2**67 - 1 = 193707721 * 761838257287: " + last["content"]}

    @staticmethod
    def _cell(code: str) -> dict:
        return {"call": "stateful_python_code_exec", "arguments": {"code": code}}


def solve(model: Scripted, tools: Tools, task: str, most_calls: int = 8) -> str:
    """The loop itself: ask the model, do what it wants, tell it what came of that."""
    offered = tools.list()
    conversation = [{"role": "user", "content": task}]
    for number in range(1, most_calls + 1):
        said = model.next(offered, conversation)
        if "answer" in said:
            return said["answer"]
        result = tools.call(said["call"], said["arguments"])
        text, failed = result["content"][0]["text"], result.get("isError", False)
        print(f"call {number}: {said['arguments']['code']!r}\n{'refused or failed' if failed else 'ok'}: {text}\n")
        conversation.append({"role": "tool", "content": text, "failed": failed})
    raise RuntimeError(f"no answer after {most_calls} calls")


if __name__ == "__main__":
    gateway = Tools(os.environ.get("GATEWAY_URL", "http://127.0.0.1:7860"), os.environ["GATEWAY_TOKEN"])
    gateway.call("session_reset", {})
    print("answer:", solve(Scripted(), gateway, "Is 2**67 - 1 a prime? If not, what are its factors?"))
