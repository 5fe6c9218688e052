import { MCPServerStreamableHttp } from "@openai/agents";
import { of, scenario } from "./scenario.mjs";

await scenario(async (url, token) => {
  const server = new MCPServerStreamableHttp({ url: url + "/mcp", requestInit: { headers: { Authorization: "Bearer " + token } } });
  await server.connect();
  return {
    names: async () => (await server.listTools()).map((t) => t.name),
    call: async (name, args) => {
      const content = await server.callTool(name, args);
      const text = content.find((c) => c.type === "text").text;
      return of(content, /^refused by|timed out after/.test(text)); // this client hands on the content alone
    },
    close: () => server.close(),
  };
});
