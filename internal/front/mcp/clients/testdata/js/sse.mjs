import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { of, scenario } from "./scenario.mjs";

await scenario(async (url, token) => {
  const client = new Client({ name: "sse", version: "1" });
  const headers = { Authorization: "Bearer " + token };
  await client.connect(new SSEClientTransport(new URL(url + "/sse"), {
    requestInit: { headers }, eventSourceInit: { fetch: (at, init) => fetch(at, { ...init, headers: { ...init.headers, ...headers } }) },
  }));
  return {
    names: async () => (await client.listTools()).tools.map((t) => t.name),
    call: async (name, args) => {
      const result = await client.callTool({ name, arguments: args });
      return of(result.content, Boolean(result.isError));
    },
    close: () => client.close(),
  };
});
