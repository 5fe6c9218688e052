#!/usr/bin/env python3
"""Works in 100 sessions from 20 clients, with cells that end badly and processes killed at random. Run by `make soak-sessions`.

For MINUTES (3). Each session holds its own name and a count; every answer is held to them. Cells are ended from inside (exit, a
bad address, an endless loop, too much memory, too much output) and, every EVERY (0.5) seconds, some process of a session or a waiting
child is killed from outside. Fails on an answer of another session, on a count that is not what the kept cells made, on a
cell that ended badly and was kept, and when processes, descriptors or control groups are left when all
sessions are closed.
"""
import collections
import http.client
import json
import os
import pathlib
import random
import re
import signal
import sys
import threading
import time
import urllib.parse

MINUTES, SESSIONS, CLIENTS = float(os.environ.get("MINUTES", "3")), 100, 20
EVERY = float(os.environ.get("EVERY", "0.5"))  # seconds between kills from outside
URL, PID = urllib.parse.urlsplit(os.environ["GATEWAY_URL"]), int(os.environ["GATEWAY_PID"])
HEADERS = {"Authorization": "Bearer " + os.environ["GATEWAY_TOKEN"], "Content-Type": "application/json"}
SEED = int(os.environ.get("SEED", time.time()))
GROWTH_MAX = {"processes": 3, "gateway descriptors": 8, "plugin descriptors": 12, "control groups": 24}
GOOD = {
    "count": "n += 1\nprint(me, n)",
    "sympy": "import sympy as sp\nsp.factor(sp.Symbol('x')**2 - 1)\nn += 1\nprint(me, n)",
    "numpy": "import numpy as np\na = np.arange(50_000) + n\nn += 1\nprint(me, n)",
    "error": "n += 1\nprint(me, n)\n1 / 0",
}
BAD = {
    "exit": "n = -1\nme = 'spoilt'\nimport os\nos._exit(3)",
    "address": "n = -2\nimport ctypes\nctypes.string_at(1)",
    "loop": "n = -3\nfrom itertools import count\nfrom collections import deque\ndeque(count(), maxlen=0)",
    "memory": "n = -4\nblocks = []\nwhile True:\n    blocks.append(bytearray(b'1' * (8 << 20)))",
    "flood": "n = -5\nwhile True:\n    print('spam ' * 10_000)",
    "socket": "n = -6\nimport socket\nsocket.socket()",
}


def tree(pid: int, depth: int = 0) -> list[tuple[int, int]]:
    found = [(pid, depth)]
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text().split():
                found += tree(int(child), depth + 1)
    except OSError:
        pass
    return found


def command(pid: int) -> str:
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode()
    except OSError:
        return ""


def plugin() -> int:
    return next(pid for pid, _ in tree(PID) if command(pid).endswith("python-exec"))


def interpreter() -> int:
    return next(pid for pid, _ in tree(plugin()) if "python" in command(pid).rsplit("/", 1)[-1] and not command(pid).endswith("python-exec"))


def groups() -> int:
    names = set()
    for pid, _ in tree(PID):
        try:
            names |= set(re.findall("sluice-python-[a-z0-9]+", pathlib.Path(f"/proc/{pid}/cgroup").read_text()))
        except OSError:
            pass
    return sum(len(dirs) for at, dirs, _ in os.walk("/sys/fs/cgroup") if os.path.basename(at) in names)


def look() -> dict[str, int]:
    return {"processes": len(tree(PID)), "gateway descriptors": len(os.listdir(f"/proc/{PID}/fd")),
            "plugin descriptors": len(os.listdir(f"/proc/{plugin()}/fd")), "control groups": groups()}


class Client(threading.Thread):
    """Has its share of the sessions; nobody else uses them."""

    def __init__(self, number: int, soak: "Soak"):
        super().__init__()
        self.random, self.soak, self.number = random.Random(SEED * 100 + number), soak, number
        self.http = http.client.HTTPConnection(URL.hostname, URL.port, timeout=180)
        self.sessions = [{"id": "", "me": f"c{number}s{k}e0", "epoch": 0, "n": 0} for k in range(SESSIONS // CLIENTS)]

    def call(self, method: str, path: str, body=None) -> tuple[int, dict]:
        while True:
            self.http.request(method, path, None if body is None else json.dumps(body), HEADERS)
            answer = self.http.getresponse()
            text = answer.read()
            got = json.loads(text) if text else {}
            if answer.status != 503 or "busy" not in got.get("detail", ""):
                return answer.status, got
            time.sleep(0.1)

    def cell(self, session: dict, code: str) -> tuple[int, dict]:
        begin = time.monotonic()
        code_, got = self.call("POST", "/v1/run", {"tool": "python", "code": code, "session_id": session["id"], "limits": {"wall_seconds": 2, "memory_bytes": 200 << 20}})
        self.soak.took.append(time.monotonic() - begin)
        return code_, got

    def begin(self, session: dict) -> None:
        """A fresh session in place of one that is gone."""
        for _ in range(200):
            if session["id"]:
                self.call("DELETE", "/v1/sessions/" + session["id"])
            code, got = self.call("POST", "/v1/sessions", {})
            session["id"] = got.get("session_id", "")
            session["epoch"] += 1
            session["me"] = re.sub("e.*", f"e{session['epoch']}", session["me"])
            self.soak.count("open", code, got.get("detail", ""), "")
            first = self.cell(session, f"me = '{session['me']}'\nn = 0\n")[1] if code == 201 else {}
            if first.get("status") == "completed" and first["session"]["state"] == "kept":
                session["n"] = 0
                return
            time.sleep(0.1)
        self.soak.fault("no session can be opened", code, got)

    def read(self, session: dict) -> None:
        """After a kill from outside: the session is its own, or it is gone."""
        code, got = self.cell(session, "print(me, n)")
        word = re.fullmatch(r"(\S+) (\d+)\n", got.get("stdout", ""))
        if code == 200 and got["status"] == "completed" and word:
            if word[1] != session["me"] or int(word[2]) not in (session["n"], session["n"] + 1):
                self.soak.fault("another state", dict(session), got["stdout"])
            session["n"] = int(word[2])
        else:
            self.begin(session)

    def step(self) -> None:
        session = self.random.choice(self.sessions)
        roll = self.random.random()
        if roll < 0.05:
            self.fork(session)
        elif roll < 0.25:
            self.bad(session, self.random.choice(list(BAD)))
        else:
            self.good(session, self.random.choice(list(GOOD)))

    def good(self, session: dict, name: str) -> None:
        code, got = self.cell(session, GOOD[name])
        state = got.get("session", {}).get("state")
        self.soak.count(name, code, got.get("status"), state)
        if code != 200 or state != "kept":
            self.read(session)
            return
        session["n"] += 1
        if got["stdout"] != f"{session['me']} {session['n']}\n":
            self.soak.fault("wrong answer", dict(session), name, got["status"], got["stdout"][:200], got["stderr"][-300:], got["error"], got["notes"])
            self.begin(session)

    def bad(self, session: dict, name: str) -> None:
        code, got = self.cell(session, BAD[name])
        state = got.get("session", {}).get("state")
        self.soak.count(name, code, got.get("status"), state)
        if state == "kept" and name != "memory":  # a MemoryError that was caught in time keeps nothing either
            self.soak.fault("a cell that ended badly was kept", name, got.get("status"))
        self.read(session)

    def fork(self, session: dict) -> None:
        code, got = self.call("POST", f"/v1/sessions/{session['id']}/fork", {})
        self.soak.count("fork", code, "", "")
        if code != 201:
            self.read(session)
            return
        other = dict(session, id=got["session_id"])
        code, got = self.cell(other, "n += 1000\nprint(me, n)")
        if code == 200 and got["session"]["state"] == "kept" and got["stdout"] != f"{session['me']} {session['n'] + 1000}\n":
            self.soak.fault("wrong answer of a fork", dict(session), got["status"], got["stdout"][:200], got["stderr"][-300:], got["error"], got["notes"])
        self.call("DELETE", "/v1/sessions/" + other["id"])

    def run(self) -> None:
        try:
            for session in self.sessions:
                self.begin(session)
            while time.monotonic() < self.soak.end:
                self.step()
            for session in self.sessions:
                self.call("DELETE", "/v1/sessions/" + session["id"])
            self.http.close()
        except Exception as error:  # a thread must not end unheard
            self.soak.fault("client", self.number, repr(error))


class Soak:
    def __init__(self):
        self.end = time.monotonic() + MINUTES * 60
        self.faults, self.took, self.kills, self.seen, self.lock = [], [], 0, collections.Counter(), threading.Lock()

    def fault(self, *what) -> None:
        with self.lock:
            self.faults.append(what)

    def count(self, *what) -> None:
        with self.lock:
            self.seen[what] += 1

    def kill(self) -> None:
        """Ends a process that is not the interpreter or its keeper of namespaces, which is its first child."""
        dice = random.Random(SEED)
        while time.monotonic() < self.end - 5:
            time.sleep(EVERY)
            try:
                below = [pid for pid, depth in tree(interpreter()) if depth]
                os.kill(dice.choice(below[1:]), signal.SIGKILL)
                self.kills += 1
            except (OSError, StopIteration, IndexError):
                pass


def main() -> int:
    soak = Soak()
    before = look()
    print(f"before: {before}, seed {SEED}", flush=True)
    clients = [Client(n, soak) for n in range(CLIENTS)]
    for thread in clients:
        thread.start()
    soak.kill()
    for thread in clients:
        thread.join()
    after, until = look(), time.monotonic() + 30
    while any(after[k] - before[k] > most for k, most in GROWTH_MAX.items()) and time.monotonic() < until:
        time.sleep(0.5)
        after = look()
    took = sorted(soak.took)
    for what, n in sorted(soak.seen.items(), key=str):
        print(f"{n:6} {what}")
    print(f"{len(took)} cells, p50 {took[len(took) // 2] * 1000:.0f} ms; {soak.kills} kills from outside; after: {after}")
    for k, most in GROWTH_MAX.items():
        if after[k] - before[k] > most:
            soak.fault(f"{k} grew", before[k], after[k])
    for fault in soak.faults[:20]:
        print("FAULT:", *fault, file=sys.stderr)
    print(f"{len(soak.faults)} faults")
    return 1 if soak.faults else 0


if __name__ == "__main__":
    sys.exit(main())
