"""A warm interpreter on a loopback socket, without any wall: what speed costs when safety is left out.

    python -I warm.py floor|fork|shared RUNTIME_DIR

floor   one process, a fresh namespace per program (nothing kept but what the libraries keep)
fork    one process that forks per program: a plain fork server
shared  one process, one namespace, never reset

All three import and warm what Sluice's own runtime does: the text of WARM_UP is read from the files in RUNTIME_DIR. A request is
four bytes of length and the program's text, an answer four bytes and JSON. The port is printed when the process is warm.
Run by `make bench`; never meant for programs that are not the benchmark's own.
"""
import ast
import contextlib
import gc
import io
import json
import os
import pathlib
import select
import socket
import struct
import sys
import warnings


def warm_up_texts(folder: str) -> list[str]:
    """Every string named WARM_UP in the runtime's files."""
    found = []
    for path in sorted(pathlib.Path(folder).glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "WARM_UP":
                found.append(ast.literal_eval(node.value))
    if not found:
        sys.exit("warm.py: no WARM_UP in " + folder)
    return found


class Figures:
    """Takes the place of showing a figure in a browser."""

    def __init__(self):
        self.last = None

    def install(self):
        import plotly.basedatatypes
        import plotly.io

        plotly.basedatatypes.BaseFigure.show = lambda figure, *a, **k: self.keep(figure)
        plotly.io.show = lambda figure, *a, **k: self.keep(figure)

    def keep(self, figure):
        self.last = figure.to_json()


def run(code: str, namespace: dict, figures: Figures) -> bytes:
    """Parses, compiles and runs a program; its answer as JSON."""
    figures.last, error, out = None, None, io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(ast.parse(code), "<program>", "exec"), namespace)
    except BaseException as fault:
        error = "%s: %s" % (type(fault).__name__, fault)
    return json.dumps({"stdout": out.getvalue(), "error": error, "figure": figures.last}).encode()


def read(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            return b""
        data += part
    return data


def reply(connection: socket.socket, answer: bytes):
    connection.sendall(struct.pack(">I", len(answer)) + answer)


class Server:
    """One loop over all connections."""

    def __init__(self, mode: str, figures: Figures):
        self.mode, self.figures, self.namespace = mode, figures, {"__name__": "__main__"}
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.connections = {}
        self.poll = select.poll()
        self.poll.register(self.listener, select.POLLIN)

    def serve(self):
        print(self.listener.getsockname()[1], flush=True)
        while True:
            for fd, _ in self.poll.poll():
                if fd == self.listener.fileno():
                    self.accept()
                else:
                    self.request(self.connections[fd])
            self.reap()

    def accept(self):
        connection, _ = self.listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connections[connection.fileno()] = connection
        self.poll.register(connection, select.POLLIN)

    def request(self, connection: socket.socket):
        head = read(connection, 4)
        if not head:
            self.poll.unregister(connection)
            del self.connections[connection.fileno()]
            connection.close()
            return
        code = read(connection, struct.unpack(">I", head)[0]).decode()
        getattr(self, self.mode)(connection, code)

    def floor(self, connection, code):
        from sympy.core.cache import clear_cache

        reply(connection, run(code, {"__name__": "__main__"}, self.figures))
        clear_cache()  # or the second run of a program would be a look-up

    def shared(self, connection, code):
        reply(connection, run(code, self.namespace, self.figures))

    def fork(self, connection, code):
        if os.fork() == 0:
            reply(connection, run(code, {"__name__": "__main__"}, self.figures))
            os._exit(0)

    def reap(self):
        while True:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    return
            except ChildProcessError:
                return


def main():
    mode, folder = sys.argv[1:]
    if mode not in ("floor", "fork", "shared"):
        sys.exit(__doc__)
    figures = Figures()
    figures.install()
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for text in warm_up_texts(folder):
            run_or_die(text)
    gc.collect()
    gc.freeze()
    Server(mode, figures).serve()


def run_or_die(text: str):
    exec(compile(text, "<warm>", "exec"), {"__name__": "warm"})


main()
