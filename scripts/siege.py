#!/usr/bin/env python3
"""Lays siege to a gateway whose policy admits everything and looks how others fare: run by `make siege`.

For SECONDS (20), at once and without end: programs that fork, that write 64 MB/s and that allocate 10 GB. Meanwhile /healthz is
asked every 50 ms and SymPy programs are sent. Fails when /healthz takes 250 ms or more (MOST_MS), when a SymPy program does not
complete, or when the gateway is not well afterwards.
"""
import http.client
import json
import os
import sys
import threading
import time
import urllib.parse

SECONDS = float(os.environ.get("SECONDS_OF_SIEGE", "20"))
MOST_MS = float(os.environ.get("MOST_MS", "250"))
URL = urllib.parse.urlsplit(os.environ["GATEWAY_URL"])
HEADERS = {"Authorization": "Bearer " + os.environ["GATEWAY_TOKEN"], "Content-Type": "application/json"}
HOSTILE = {
    "forks": "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass\n",
    "flood": "import os, time\nblock = b'spam' * (1 << 18)\nwhile True:\n    os.write(1, block)\n    time.sleep(1 / 64)\n",
    "memory": "kept = []\nfor _ in range(640):\n    kept.append(bytearray(b'1' * (16 << 20)))\n",
    "spin": "while True:\n    pass\n",
}
SYMPY = "import sympy as sp\nx = sp.Symbol('x')\nprint(sp.factor(x**2 - 1), sp.factorint(360))\n"
WANT = "(x - 1)*(x + 1) {2: 3, 3: 2, 5: 1}\n"


def ask(method: str, path: str, body=None) -> tuple[float, int, bytes]:
    begin = time.monotonic()
    connection = http.client.HTTPConnection(URL.hostname, URL.port, timeout=90)
    connection.request(method, path, None if body is None else json.dumps(body), HEADERS)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return (time.monotonic() - begin) * 1000, answer.status, text


class Siege:
    def __init__(self):
        self.end = time.monotonic() + SECONDS
        self.health, self.solved, self.wrong, self.ended = [], [], [], {}
        self.lock = threading.Lock()

    def attack(self, name: str) -> None:
        while time.monotonic() < self.end:
            _, code, text = ask("POST", "/solve", {"code": HOSTILE[name], "timeout": 3})
            status = json.loads(text).get("status", code)
            with self.lock:
                kinds = self.ended.setdefault(name, {})
                kinds[status] = kinds.get(status, 0) + 1

    def watch(self) -> None:
        while time.monotonic() < self.end:
            self.health.append(ask("GET", "/healthz")[0])
            time.sleep(0.05)

    def others(self) -> None:
        while time.monotonic() < self.end:
            took, code, text = ask("POST", "/solve", {"code": SYMPY})
            good = code == 200 and json.loads(text)["stdout"] == WANT
            with self.lock:
                (self.solved if good else self.wrong).append(took if good else (code, text[:200]))


def main() -> int:
    siege = Siege()
    work = [threading.Thread(target=siege.attack, args=(name,)) for name in HOSTILE]
    work += [threading.Thread(target=siege.watch), *(threading.Thread(target=siege.others) for _ in range(2))]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    health, solved = sorted(siege.health), sorted(siege.solved)
    after = json.loads(ask("POST", "/solve", {"code": "print(6 * 7)\n"})[2])
    print(f"hostile programs ended as {siege.ended}")
    print(f"healthz: {len(health)} times, p50 {health[len(health) // 2]:.1f} ms, p99 {health[len(health) * 99 // 100]:.1f} ms, most {health[-1]:.1f} ms")
    if solved:
        print(f"SymPy: {len(solved)} completed, p50 {solved[len(solved) // 2]:.0f} ms, most {solved[-1]:.0f} ms; {len(siege.wrong)} not {siege.wrong[:3]}")
    good = health[-1] < MOST_MS and solved and not siege.wrong and after.get("stdout") == "42\n"
    print("held" if good else "FAILED")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
