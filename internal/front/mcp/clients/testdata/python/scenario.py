"""The clients' scenario with Python's own client, as PyPI has it."""

import asyncio
import json
import os

import httpx2
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

CELL = "stateful_python_code_exec"


async def main() -> None:
    headers = {"Authorization": "Bearer " + os.environ["GATEWAY_TOKEN"]}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        async with streamable_http_client(os.environ["GATEWAY_URL"] + "/mcp", http_client=http) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                await session.initialize()
                names = [tool.name for tool in (await session.list_tools()).tools]
                assert CELL in names, names
                for code, text, failed in [("kept = 41", "None", False), ("kept + 1", "42", False), ("import os", "hint: ", True)]:
                    result = await session.call_tool(CELL, {"code": code})
                    assert text in result.content[0].text and bool(result.is_error) == failed, (code, result)
                drawn = await session.call_tool(CELL, {"code": "import plotly.graph_objects as go\ngo.Figure(go.Scatter(x=[1, 2], y=[3, 4]))"})
                figure = next(c for c in drawn.content if c.type == "resource")
                assert json.loads(figure.resource.text)["data"][0]["y"] == [3, 4], drawn
        async with streamable_http_client(os.environ["SHORT_URL"] + "/mcp", http_client=http) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                await session.initialize()
                late = await session.call_tool(CELL, {"code": "while True:\n    pass"})
                assert late.is_error and "timed out after" in late.content[0].text, late
    print(json.dumps({"tools": len(names), "late": late.content[0].text}))


asyncio.run(main())
