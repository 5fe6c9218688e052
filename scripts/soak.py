#!/usr/bin/env python3
"""Sends 2,000 requests in a row and looks at the gateway before and after. Run by `make soak`.

Fails when an answer is wrong, or when the resident memory, descriptors or processes of the gateway and its descendants grow
beyond noise between the 500th and the last request.
"""
import http.client
import json
import os
import sys
import urllib.parse

REQUESTS, SETTLED = 2000, 500
IDLE_RSS_MAX = 80 << 20         # the gateway's own, before any load
GROWTH_MAX = {"gateway_rss": 12 << 20, "gateway_fds": 8, "processes": 3, "tree_fds": 24}
PROGRAMS = ["import sympy as sp\nprint(sp.factor(12))\n", "print(6 * 7)\n", "import numpy as np\nprint(np.arange(4).sum())\n", "1/0\n"]
WANT = ["12\n", "42\n", "6\n", ""]


def children(pid: int) -> list[int]:
    found = [pid]
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as f:
                for child in f.read().split():
                    found += children(int(child))
    except OSError:
        pass
    return found


def fds(pid: int) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def rss(pid: int) -> int:
    with open(f"/proc/{pid}/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def look(pid: int) -> dict:
    tree = children(pid)
    return {"gateway_rss": rss(pid), "gateway_fds": fds(pid), "processes": len(tree), "tree_fds": sum(fds(p) for p in tree)}


def main() -> int:
    pid, url = int(os.environ["GATEWAY_PID"]), urllib.parse.urlsplit(os.environ["GATEWAY_URL"])
    headers = {"Authorization": "Bearer " + os.environ["GATEWAY_TOKEN"], "Content-Type": "application/json"}
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
    idle, settled, wrong = look(pid), {}, 0
    print(f"idle: {idle}")
    for i in range(REQUESTS):
        k = i % len(PROGRAMS)
        connection.request("POST", "/solve", json.dumps({"code": PROGRAMS[k]}), headers)
        answer = json.load(connection.getresponse())
        wrong += answer.get("stdout") != WANT[k]
        if i == SETTLED:
            settled = look(pid)
            print(f"after {i}: {settled}")
    end = look(pid)
    print(f"after {REQUESTS}: {end}")
    faults = [f"{wrong} wrong answers"] if wrong else []
    if idle["gateway_rss"] > IDLE_RSS_MAX:
        faults.append(f"the idle gateway holds {idle['gateway_rss'] >> 20} MiB, at most {IDLE_RSS_MAX >> 20} are allowed")
    faults += [f"{key} grew from {settled[key]} to {end[key]}" for key, most in GROWTH_MAX.items() if end[key] - settled[key] > most]
    for fault in faults:
        print("FAULT:", fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
