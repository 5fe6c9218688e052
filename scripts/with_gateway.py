#!/usr/bin/env python3
"""Runs a command beside a private gateway: with_gateway.py [--cpus 0,1] [gateway flags] -- COMMAND ...

The gateway listens on a free loopback port with a random token; the command finds them in GATEWAY_URL, GATEWAY_TOKEN and
GATEWAY_PID. --cpus binds the gateway and all that it starts to those processors, the command not. The gateway's log goes to .build/gateway.log and is shown when it does not become ready. Exit status: the command's.
"""
import json
import os
import pathlib
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
READY_SECONDS = 120


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_ready(url: str, gateway: subprocess.Popen) -> bool:
    end = time.monotonic() + READY_SECONDS
    while time.monotonic() < end and gateway.poll() is None:
        try:
            with urllib.request.urlopen(url + "/readyz", timeout=2) as answer:
                if json.load(answer) == {"status": "ready"}:
                    return True
        except (urllib.error.URLError, OSError, ValueError):
            pass
        time.sleep(0.05)
    return False


def wait_proved(log: pathlib.Path, gateway: subprocess.Popen) -> None:
    """Waits for the part of the policy's corpus that is judged after the start: it would be measured as load."""
    end = time.monotonic() + READY_SECONDS
    while time.monotonic() < end and gateway.poll() is None:
        text = log.read_text(errors="replace")
        if '"left_for_later":true' not in text or "the whole corpus was judged" in text or "taken out of force" in text:
            return
        time.sleep(0.1)


def main() -> int:
    if "--" not in sys.argv:
        print(__doc__, file=sys.stderr)
        return 2
    cut = sys.argv.index("--")
    flags, command = sys.argv[1:cut], sys.argv[cut + 1:]
    cpus = None
    if flags[:1] == ["--cpus"]:
        cpus, flags = {int(cpu) for cpu in flags[1].split(",")}, flags[2:]
    url, token = f"http://127.0.0.1:{free_port()}", secrets.token_hex(24)
    log_path = ROOT / ".build" / "gateway.log"
    log_path.parent.mkdir(exist_ok=True)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("SOLVER_TOKEN", "SLUICE_"))}
    with open(log_path, "wb") as log:
        gateway = subprocess.Popen(
            [ROOT / "bin" / "gateway", "serve", "--config", ROOT / "config.yaml", "--listen", url.removeprefix("http://"),
             "--admin-listen", "", *flags],
            env=env | {"SOLVER_TOKEN": token}, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
            preexec_fn=(lambda: os.sched_setaffinity(0, cpus)) if cpus else None)
    try:
        if not wait_ready(url, gateway):
            print(log_path.read_text(errors="replace")[-4000:], file=sys.stderr)
            print("the private gateway did not become ready; its log is above", file=sys.stderr)
            return 1
        wait_proved(log_path, gateway)
        return subprocess.call(command, env=env | {"GATEWAY_URL": url, "GATEWAY_TOKEN": token, "GATEWAY_PID": str(gateway.pid)})
    finally:
        gateway.send_signal(signal.SIGTERM)
        try:
            gateway.wait(40)
        except subprocess.TimeoutExpired:
            gateway.kill()


if __name__ == "__main__":
    sys.exit(main())
