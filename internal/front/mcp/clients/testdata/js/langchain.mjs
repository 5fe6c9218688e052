import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { scenario } from "./scenario.mjs";

await scenario(async (url, token) => {
  const client = new MultiServerMCPClient({
    mcpServers: { sluice: { transport: "http", url: url + "/mcp", headers: { Authorization: "Bearer " + token } } },
  });
  const tools = await client.getTools();
  return {
    names: async () => tools.map((t) => t.name),
    call: async (name, args) => {
      try {
        const tool = tools.find((t) => t.name === name);
        const message = await tool.invoke({ type: "tool_call", id: "1", name, args });
        return unpacked(message);
      } catch (error) {
        return { text: error.message, failed: true }; // this client throws what isError says
      }
    },
    close: () => client.close(),
  };
});

// This client packs a text and the structured content beside it into one JSON text.
function unpacked(message) {
  const blocks = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
  let text = blocks.find((c) => c.type === "text").text;
  let figure = [...blocks, ...(message.artifact ?? [])].find((c) => c.resource)?.resource.text;
  if (text.startsWith('{"type":"text"')) {
    const packed = JSON.parse(text);
    text = packed.text;
    figure ??= JSON.stringify(packed.structuredContent.figures[0]);
  }
  return { text, failed: message.status === "error", figure };
}
