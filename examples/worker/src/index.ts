// The Worker: takes a program that a model wrote, has Sluice solve it, and answers
// with what became of it. The token is a secret of the Worker; no caller sees it.
import { type Result, solve } from "./sluice.js";

export interface Env {
  SOLVER_URL: string;
  /** `wrangler secret put SOLVER_TOKEN`; made by `gateway token new worker --scopes solve`. */
  SOLVER_TOKEN: string;
  /** Milliseconds for one attempt. Sluice's own limits should be lower: then it tells what was reached. */
  SOLVER_TIMEOUT?: string;
}

/** What a caller of the Worker is answered for each kind of result. */
const statuses: Record<Result["kind"], number> = {
  solved: 200,
  refused: 200,
  failed: 200,
  overloaded: 503,
  solver_fault: 502,
  edge_fault: 502,
};

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (request.method !== "POST") {
      return new Response("POST a program\n", { status: 405, headers: { allow: "POST" } });
    }
    const timeout = Number(env.SOLVER_TIMEOUT ?? "60000");
    const result = await solve(
      { url: env.SOLVER_URL, token: env.SOLVER_TOKEN, timeout, retries: 2, patience: 5000 },
      await request.text(),
    );
    const headers = new Headers({ "cache-control": "no-store" });
    if (result.kind === "overloaded") {
      headers.set("retry-after", String(result.retryAfter));
    }
    if (result.kind === "solver_fault" || result.kind === "edge_fault") {
      console.error(JSON.stringify(result)); // yours to see to; the request id is in Sluice's log
    }
    return Response.json(result, { status: statuses[result.kind], headers });
  },
};
