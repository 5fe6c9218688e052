// The Worker in workerd, as Cloudflare runs it, against a real gateway and against
// what can stand between. GATEWAY_URL and the tokens come from the Go test that
// starts this one (TestWorker in cmd/gateway).
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, test } from "node:test";
import { Miniflare } from "miniflare";

const env = (name) => {
  const value = process.env[name];
  assert.ok(value, `${name} is not set: run this by go test -run TestWorker ./cmd/gateway`);
  return value;
};

const opened = [];
after(() => Promise.all(opened.map((close) => close())));

// A server that answers every request as handle does.
async function server(answer) {
  const listening = createServer(answer);
  await new Promise((ready) => listening.listen(0, "127.0.0.1", ready));
  opened.push(() => new Promise((closed) => {
    listening.closeAllConnections();
    listening.close(closed);
  }));
  return { url: `http://127.0.0.1:${listening.address().port}` };
}

const gateway = env("GATEWAY_URL");
const faulty = env("FAULTY_URL"); // its solver is at fault as a program asks for, and takes one at a time
const token = env("GATEWAY_TOKEN");

// What stands between, in the tests that set it.
let handle = (request, response) => response.end();
const between = await server((request, response) => handle(request, response));

// The Workers by name; all share one runtime.
const flare = new Miniflare({
  handleRuntimeStdio: (stdout, stderr) => { // they log faults, and these are wanted here
    stdout.resume();
    stderr.resume();
  },
  workers: Object.entries({
    plain: { SOLVER_URL: gateway, SOLVER_TOKEN: token },
    rated: { SOLVER_URL: gateway, SOLVER_TOKEN: env("RATED_TOKEN") }, // one request an hour
    stranger: { SOLVER_URL: gateway, SOLVER_TOKEN: "sluice_nobodys_token_at_all" },
    faulty: { SOLVER_URL: faulty, SOLVER_TOKEN: token },
    between: { SOLVER_URL: between.url, SOLVER_TOKEN: token },
    hasty: { SOLVER_URL: between.url, SOLVER_TOKEN: token, SOLVER_TIMEOUT: "300" },
  }).map(([name, bindings]) => ({
    name, bindings, compatibilityDate: "2026-07-01",
    modules: ["index.js", "sluice.js"].map((file) => ({ type: "ESModule", path: `dist/${file}` })),
  })),
});
opened.push(() => flare.dispose());

async function solve(code, name = "plain") {
  const worker = await flare.getWorker(name);
  const answer = await worker.fetch("http://worker/", { method: "POST", body: code });
  return { status: answer.status, retryAfter: answer.headers.get("retry-after"), result: await answer.json() };
}

test("a SymPy program is solved", async () => {
  const { status, result } = await solve("import sympy as sp\nx = sp.symbols('x')\nprint(sp.integrate(x**2, (x, 0, 3)))");
  assert.deepEqual([status, result], [200, { kind: "solved", stdout: "9\n", figure: null, note: null }]);
});

test("a figure comes along", async () => {
  const { result } = await solve("import plotly.graph_objects as go\ngo.Figure(go.Scatter(x=[1, 2], y=[3, 4]))");
  assert.equal(result.kind, "solved");
  assert.deepEqual(result.figure.data[0].y, [3, 4]);
});

test("a refusal says what and where", async () => {
  const { status, result } = await solve("import os\nprint(os.environ)");
  assert.deepEqual([status, result.kind], [200, "refused"]);
  assert.match(result.why, /line 1, column 8/);
});

test("a program that fails says how", async () => {
  const { result } = await solve("print('so far')\n1/0");
  assert.deepEqual([result.kind, result.reason, result.timedOut, result.stdout], ["failed", "error", false, "so far\n"]);
  assert.match(result.why, /ZeroDivisionError/);
  const unread = await solve("def");
  assert.deepEqual([unread.result.kind, unread.result.reason], ["failed", "syntax_error"]);
});

test("a time-out of the program is a failure of its own", async () => {
  const { status, result } = await solve("while True: pass");
  assert.deepEqual([status, result.kind, result.reason, result.timedOut], [200, "failed", "timeout", true]);
});

test("the token's rate is an overload", async () => {
  assert.equal((await solve("print(1)", "rated")).result.kind, "solved");
  const { status, retryAfter, result } = await solve("print(1)", "rated");
  assert.deepEqual([status, result.kind, result.status, result.attempts], [503, "overloaded", 429, 1]); // an hour is beyond its patience
  assert.equal(String(result.retryAfter), retryAfter);
  assert.ok(result.retryAfter > 60 && result.requestId);
});

test("a full solver is an overload, after the retries", async () => {
  const holding = new AbortController();
  const ask = (code, signal = null) => fetch(`${faulty}/solve`, {
    method: "POST", headers: { authorization: `Bearer ${token}` }, body: JSON.stringify({ code }), signal,
  });
  let held, refused = true;
  do { // until it holds the one slot
    if (refused) {
      refused = false;
      held = ask("wait", holding.signal).then(() => (refused = true), () => null);
    }
  } while ((await ask("work")).status !== 503 || refused);
  const { status, result } = await solve("work", "faulty");
  holding.abort();
  await held;
  assert.deepEqual([status, result.kind, result.status, result.attempts], [503, "overloaded", 503, 3]);
});

test("a retry waits as Retry-After says, and then solves", async () => {
  const begun = [];
  handle = (request, response) => {
    begun.push(performance.now());
    if (begun.length > 1) {
      forward(request, response);
      return;
    }
    response.writeHead(503, { "content-type": "application/json", "retry-after": "1" });
    response.end(JSON.stringify({ detail: "busy", request_id: "r", status: 503, title: "Service Unavailable" }));
  };
  const { result } = await solve("print(2)", "between");
  assert.deepEqual([result.kind, result.stdout, begun.length], ["solved", "2\n", 2]);
  assert.ok(begun[1] - begun[0] >= 990, `it waited ${begun[1] - begun[0]} ms`);
});

function forward(request, response) {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", async () => {
    const answer = await fetch(gateway + request.url, {
      method: request.method, headers: { authorization: request.headers.authorization }, body: Buffer.concat(chunks),
    });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") });
    response.end(await answer.text());
  });
}

test("a fault of the solver has its request id", async () => {
  const { status, result } = await solve("fail", "faulty");
  assert.deepEqual([status, result.kind, result.status], [502, "solver_fault", 500]);
  assert.ok(result.requestId);
  const { result: unknown } = await solve("print(1)", "stranger");
  assert.deepEqual([unknown.kind, unknown.status], ["solver_fault", 401]);
});

test("a fault of the edge is told apart, and not asked again", async (t) => {
  const json = { "content-type": "application/json" };
  for (const [name, status, headers, body] of [
    ["opaque", 500, { "content-type": "text/plain" }, "Internal Server Error"],
    ["a page", 502, { "content-type": "text/html" }, "<html>Bad Gateway</html>"],
    ["an overload of its own", 503, { "retry-after": "1" }, "Service Unavailable"],
    ["a limit of its own", 429, json, '{"error":"rate limited"}'],
    ["JSON without a request id", 500, json, '{"detail":"Internal Server Error"}'],
    ["a page in place of an answer", 200, { "content-type": "text/html" }, "<html>Log in</html>"],
    ["JSON of something else", 200, json, '{"ok":true}'],
    ["a redirect", 302, { location: `${gateway}/solve` }, ""],
  ]) {
    await t.test(name, async () => {
      let count = 0;
      handle = (_, response) => {
        count++;
        response.writeHead(status, headers).end(body);
      };
      const { status: told, result } = await solve("print(1)", "between");
      assert.deepEqual([told, result.kind, result.status, result.detail, count], [502, "edge_fault", status, body, 1]);
    });
  }
});

test("no answer is a fault of the edge", async () => {
  handle = () => {};
  const { result: late } = await solve("print(1)", "hasty");
  assert.deepEqual(late, { kind: "edge_fault", status: null, detail: "no answer in 300 ms" });
  handle = (request) => request.socket.destroy();
  const { result: cut } = await solve("print(1)", "between");
  assert.deepEqual([cut.kind, cut.status], ["edge_fault", null]);
});
