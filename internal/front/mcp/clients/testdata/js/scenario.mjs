// What every client has to see, whoever wrote it. connect(url, token) gives
// {names(), call(name, arguments) → {text, failed, figure}, close()}.
import { strict as assert } from "node:assert";

export async function scenario(connect) {
  const { GATEWAY_URL: url, SHORT_URL: short, GATEWAY_TOKEN: token } = process.env;
  const cell = "stateful_python_code_exec";
  const seen = {};

  const client = await connect(url, token);
  const names = await client.names();
  for (const name of [cell, "calculator", "python", "session_fork", "session_reset"]) assert.ok(names.includes(name), `${name} is not listed: ${names}`);
  seen.tools = names.length;

  await client.call("session_reset", {});
  assert.equal((await client.call(cell, { code: "kept = 41" })).failed, false);
  const pair = await client.call(cell, { code: "kept + 1" });
  assert.deepEqual([pair.text, pair.failed], ["42", false]);
  seen.pair = pair.text;

  const refused = await client.call(cell, { code: "import os" });
  assert.ok(refused.failed && refused.text.includes("hint: "), refused.text);
  seen.refusal = refused.text.split("\n").at(-1).trim().slice(0, 40);

  const drawn = await client.call(cell, { code: "import plotly.graph_objects as go\ngo.Figure(go.Scatter(x=[1, 2], y=[3, 4]))" });
  assert.equal(drawn.failed, false, drawn.text);
  assert.deepEqual(JSON.parse(drawn.figure).data[0].y, [3, 4]);
  seen.figure = "scatter";
  await client.close();

  const hurried = await connect(short, token);
  const late = await hurried.call(cell, { code: "while True:\n    pass" });
  assert.ok(late.failed && late.text.includes("timed out after"), late.text);
  seen.late = late.text.split("\n")[0];
  await hurried.close();
  console.log(JSON.stringify(seen));
  process.exit(0);
}

// of is what a tool's content says, in the protocol's own form.
export function of(content, failed) {
  const figure = content.find((c) => c.type === "resource" && c.resource.mimeType === "application/vnd.plotly.v1+json");
  return { text: content.find((c) => c.type === "text").text, failed, figure: figure?.resource.text };
}
