// A client of Sluice's POST /solve. Each end that a request can have is a type of
// its own, so that a caller decides once what each means: a program that was
// refused is the model's affair, an overload is a matter of waiting, a fault of
// the solver or of what stands in front of it is yours.

/** The program ran to its end. */
export interface Solved {
  kind: "solved";
  stdout: string;
  /** The figure it made, as Plotly's JSON. */
  figure: Record<string, unknown> | null;
  /** What there is to say beside it: warnings, what was cut. */
  note: string | null;
}

/** The policy refused the program; nothing ran. `why` is written for the model. */
export interface Refused {
  kind: "refused";
  why: string;
}

/** The program does not parse, raised, or reached a limit. */
export interface Failed {
  kind: "failed";
  reason: "syntax_error" | "error" | "timeout" | "memory" | "output_limit" | "crash";
  timedOut: boolean;
  stdout: string;
  why: string;
}

/** No room in time, or the token's own limit; `attempts` were made. */
export interface Overloaded {
  kind: "overloaded";
  status: 429 | 503;
  attempts: number;
  /** Seconds after which it is worth asking again. */
  retryAfter: number;
  requestId: string;
}

/** Sluice answered with an error: its own fault, or a wrong token, route or body. */
export interface SolverFault {
  kind: "solver_fault";
  status: number;
  detail: string;
  requestId: string;
}

/** What answered was not Sluice, or nothing answered in time. */
export interface EdgeFault {
  kind: "edge_fault";
  /** null: there was no answer. */
  status: number | null;
  detail: string;
}

export type Result = Solved | Refused | Failed | Overloaded | SolverFault | EdgeFault;

export interface Options {
  /** Where Sluice is: "https://solver.example.org". */
  url: string;
  token: string;
  /** Milliseconds for one attempt, its whole answer included. */
  timeout: number;
  /** How often an overload is asked again. */
  retries: number;
  /** The longest wait before one of them, in milliseconds. */
  patience: number;
}

const reasons: readonly string[] = ["syntax_error", "error", "timeout", "memory", "output_limit", "crash"];

/** Has one program solved. It never throws for what a request can end in. */
export async function solve(options: Options, code: string): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    const result = await once(options, code, attempt);
    if (result.kind !== "overloaded" || attempt > options.retries) {
      return result;
    }
    const wait = result.retryAfter * 1000;
    if (wait > options.patience) {
      return result;
    }
    // A little later than asked, and not at the same moment as all the others.
    await new Promise((go) => setTimeout(go, wait * (1 + Math.random() / 4)));
  }
}

async function once(options: Options, code: string, attempts: number): Promise<Result> {
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(new URL("/solve", options.url), {
      method: "POST",
      headers: { authorization: `Bearer ${options.token}`, "content-type": "application/json" },
      body: JSON.stringify({ code }),
      redirect: "manual",
      signal: AbortSignal.timeout(options.timeout),
    });
    text = await answer.text();
  } catch (error) {
    const late = error instanceof Error && error.name === "TimeoutError";
    return { kind: "edge_fault", status: null, detail: late ? `no answer in ${options.timeout} ms` : "the connection failed" };
  }
  return read(answer, text, attempts);
}

function read(answer: Response, text: string, attempts: number): Result {
  const body = parse(text);
  if (body !== null && answer.status === 200) {
    return judged(body) ?? edge(answer.status, text);
  }
  const requestId = body?.["request_id"];
  if (body === null || typeof requestId !== "string") {
    return edge(answer.status, text);
  }
  if (answer.status === 429 || answer.status === 503) {
    const retryAfter = Number(answer.headers.get("retry-after") ?? "1");
    return { kind: "overloaded", status: answer.status, attempts, retryAfter: retryAfter > 0 ? retryAfter : 1, requestId };
  }
  return { kind: "solver_fault", status: answer.status, detail: words(body["detail"]), requestId };
}

/** The answer to a program that was judged; null: that is none. */
function judged(body: Record<string, unknown>): Solved | Refused | Failed | null {
  const { passed, status, stdout, stderr_summary: summary, plotly_json: figure } = body;
  if (typeof passed !== "boolean" || typeof status !== "string" || typeof stdout !== "string") {
    return null;
  }
  if (passed) {
    return { kind: "solved", stdout, figure: isObject(figure) ? figure : null, note: typeof summary === "string" ? summary : null };
  }
  if (status === "rejected") {
    return { kind: "refused", why: words(summary) };
  }
  if (!reasons.includes(status)) {
    return null;
  }
  return { kind: "failed", reason: status as Failed["reason"], timedOut: body["timed_out"] === true, stdout, why: words(summary) };
}

function edge(status: number, text: string): EdgeFault {
  return { kind: "edge_fault", status, detail: text.slice(0, 200) };
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function words(value: unknown): string {
  return typeof value === "string" ? value : "";
}
