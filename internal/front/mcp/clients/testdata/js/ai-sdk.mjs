import { createMCPClient } from "@ai-sdk/mcp";
import { of, scenario } from "./scenario.mjs";

await scenario(async (url, token) => {
  const client = await createMCPClient({ transport: { type: "http", url: url + "/mcp", headers: { Authorization: "Bearer " + token } } });
  const tools = await client.tools();
  return {
    names: async () => Object.keys(tools),
    call: async (name, args) => {
      const result = await tools[name].execute(args, { toolCallId: "1", messages: [] });
      return of(result.content, Boolean(result.isError));
    },
    close: () => client.close(),
  };
});
