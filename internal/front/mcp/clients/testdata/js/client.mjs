import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { of, scenario } from "./scenario.mjs";

await scenario(async (url, token) => {
  const client = new Client({ name: "client", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url + "/mcp"), { requestInit: { headers: { Authorization: "Bearer " + token } } }));
  return {
    names: async () => (await client.listTools()).tools.map((t) => t.name),
    call: async (name, args) => {
      const result = await client.callTool({ name, arguments: args });
      return of(result.content, Boolean(result.isError));
    },
    close: () => client.close(),
  };
});
