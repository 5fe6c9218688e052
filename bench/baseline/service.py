"""A solver service that starts a fresh interpreter per request: the design that Sluice is measured against.

    SOLVER_TOKEN=… python -I service.py [SLOTS]

POST /solve {"code": …} with a bearer token. The text is looked over by its syntax tree, then `python -I` is started anew, imports
SymPy, NumPy and Plotly, takes the text on its standard input and runs it under rlimits. SLOTS programs run at once (default: one
per processor), others wait. The port is printed when it listens. Written for `make bench` from the described behaviour of such a
service; it is a measuring stick and no product.
"""
import ast
import hmac
import http.server
import json
import os
import resource
import subprocess
import sys
import threading

WALL_SECONDS, CPU_SECONDS, ADDRESS_SPACE = 30, 30, 4 << 30
BLOCKED_MODULES = {"os", "sys", "subprocess", "socket", "shutil", "pathlib", "ctypes", "importlib", "multiprocessing", "threading"}
BLOCKED_CALLS = {"eval", "exec", "compile", "open", "input", "__import__", "getattr", "setattr", "globals", "locals"}

CHILD = r"""
import contextlib, io, json, sys
import numpy, plotly.graph_objects, plotly.io, sympy
shown = []
import plotly.basedatatypes
plotly.basedatatypes.BaseFigure.show = lambda figure, *a, **k: shown.append(figure)
code, out, error = sys.stdin.read(), io.StringIO(), None
names = {"__name__": "__main__"}
try:
    with contextlib.redirect_stdout(out):
        exec(compile(code, "<solution>", "exec"), names)
except BaseException as fault:
    error = "%s: %s" % (type(fault).__name__, fault)
figure = json.loads(shown[-1].to_json()) if shown else None
json.dump({"stdout": out.getvalue(), "error": error, "plotly_json": figure}, sys.stdout)
"""


def refusal(code: str) -> str | None:
    """Why the text may not run, by its imports and the names that it calls."""
    for node in ast.walk(ast.parse(code)):
        roots = []
        if isinstance(node, ast.Import):
            roots = [alias.name.split(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            roots = [(node.module or "").split(".")[0]]
        for root in roots:
            if root in BLOCKED_MODULES:
                return "import of %s is blocked" % root
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BLOCKED_CALLS:
            return "call of %s is blocked" % node.func.id
    return None


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def answer(status: str, stdout: str = "", summary: str | None = None, figure=None) -> dict:
    return {"passed": status == "completed", "status": status, "timed_out": status == "timeout", "stdout": stdout,
            "stderr_summary": summary, "plotly_json": figure}


def solve(code: str, slots: threading.Semaphore) -> dict:
    try:
        why = refusal(code)
    except SyntaxError as fault:
        return answer("syntax_error", summary=str(fault))
    if why:
        return answer("rejected", summary=why)
    with slots:
        try:
            done = subprocess.run([sys.executable, "-I", "-c", CHILD], input=code, capture_output=True, text=True,
                                  timeout=WALL_SECONDS, preexec_fn=limits)
        except subprocess.TimeoutExpired:
            return answer("timeout")
    if done.returncode != 0:
        return answer("crash", summary=done.stderr[-2000:])
    said = json.loads(done.stdout)
    return answer("error" if said["error"] else "completed", said["stdout"], said["error"], said["plotly_json"])


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # head and body leave in one piece

    def do_POST(self):
        if not hmac.compare_digest(self.headers.get("Authorization", ""), "Bearer " + self.server.token):
            self.close_connection = True
            return self.send(401, {"detail": "a bearer token is needed"})
        if self.path != "/solve":
            return self.send(404, {"detail": "no such route"})
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send(200, solve(body["code"], self.server.slots))

    def send(self, status: int, body: dict):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def log_message(self, *_):
        pass


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.token = os.environ.pop("SOLVER_TOKEN")
    server.slots = threading.Semaphore(int(sys.argv[1]) if len(sys.argv) > 1 else os.cpu_count())
    print(server.server_address[1], flush=True)
    server.serve_forever()


main()
