// `gateway mcp` over standard input and output: the pipeline in its own process, then carried to a gateway that runs.
import { strict as assert } from "node:assert";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const { GATEWAY, CONFIG, GATEWAY_URL, SOLVER_TOKEN, PATH } = process.env;
const cell = "stateful_python_code_exec";
for (const args of [["mcp", "--config", CONFIG], ["mcp", "--config", CONFIG, "--url", GATEWAY_URL]]) {
  const client = new Client({ name: "stdio", version: "1" });
  await client.connect(new StdioClientTransport({ command: GATEWAY, args, env: { PATH, SOLVER_TOKEN } }));
  assert.ok((await client.listTools()).tools.some((t) => t.name === cell));
  await client.callTool({ name: cell, arguments: { code: "kept = 41" } });
  assert.equal((await client.callTool({ name: cell, arguments: { code: "kept + 1" } })).content[0].text, "42");
  const refused = await client.callTool({ name: cell, arguments: { code: "import os" } });
  assert.ok(refused.isError && refused.content[0].text.includes("hint: "));
  const stop = new AbortController();
  const running = client.callTool({ name: cell, arguments: { code: "while True:\n    pass" } }, undefined, {
    signal: stop.signal, onprogress: () => stop.abort("enough"), // it runs: let it be
  });
  await assert.rejects(running);
  assert.equal((await client.callTool({ name: cell, arguments: { code: "kept", wait: 60 } })).content[0].text, "41");
  await client.close();
}
console.log("both ways");
process.exit(0);
