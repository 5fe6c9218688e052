"""An executor plugin without Go: a reverse Polish calculator on grpcio. make builds what it imports.

The server parses; a program runs in a child of its own (this file with --run), which is what can be ended at a limit."""
import base64, collections, ctypes, datetime, hashlib, json, operator, os, queue, resource, signal, subprocess, sys, threading, time
LIBC = ctypes.CDLL(None)
if sys.argv[1:2] == ["--run"]:  # the child: the words on standard input, limits as arguments
    LIBC.prctl(1, 9)  # dies with the server
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]),) * 2)
    stack, hoard, OPERATORS = [], [], {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv}
    try:
        for word in sys.stdin.read().split():
            while word in ("loop", "flood", "hoard"):
                if word == "flood": print("spam " * 100, flush=True)
                if word == "hoard": hoard.append("x" * (1 << 20))
            if word in "+-*/":
                b, a = stack.pop(), stack.pop()
                stack.append(OPERATORS[word](a, b))
            elif word == "print": print(stack[-1], flush=True)
            else: stack.append(int(word))
    except MemoryError: os._exit(9)
    except (ArithmeticError, IndexError) as e: os.write(2, f"{type(e).__name__}: {e}".encode()); os._exit(8)
    if stack: os.write(2, str(stack[-1]).encode())
    os._exit(0)
os.environ.update(GRPC_ENABLE_FORK_SUPPORT="0", GRPC_VERBOSITY="NONE")  # the log is JSON, and children are spawned, not forked
import grpc
from concurrent import futures
import executor_pb2 as pb, executor_pb2_grpc as rpc
HERE, AT_ONCE, MIB = os.path.abspath(__file__), 4, 1 << 20
SCHEMA = {"type": "object", "additionalProperties": False, "required": ["schema", "language", "grammar", "code", "ast"], "properties": {
    "schema": {"const": "rpnast/1"}, "language": {"const": "rpn"}, "grammar": {"type": "string"}, "code": {"type": "object", "properties": {"sha256": {"type": "string"}, "bytes": {"type": "integer"}}},
    "ast": {"type": "object", "additionalProperties": False, "required": ["words"], "properties": {"words": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}}}}}}
SAMPLES = [("ok", "6 7 * print", b"42\n", "42", []), ("syntax_error", "6 seven *", b"", "", []), ("runtime_error", "1 0 /", b"", "", []), ("forever", "1 loop", b"", "", []),
    ("flood", "flood", b"", "", []), ("alloc", "hoard", b"", "", []), ("canary", "4711 print", b"", "", ["4711"]), ("large", " ".join(map(str, range(100000, 125000))), b"", "", [])]
LACKS = {k: "a program reaches nothing outside its child" for k in ("effect", "probe", "spawn")}
class Executor(rpc.ExecutorServicer):
    def __init__(self): self.draining, self.inflight, self.waiting, self.slots, self.results, self.out, self.begun, self.lock = False, 0, 0, AT_ONCE, collections.Counter(), 0, time.time(), threading.Lock()
    def Describe(self, request, context):
        samples = [pb.Sample(kind=k, code=c.encode(), want_stdout=o, want_value=v, want_in_tree=t) for k, c, o, v, t in SAMPLES if "samples" in request.host_features]
        return pb.DescribeResponse(name="rpn", version="0.1.0", contract_minor=1, sdk_version="python/0.1", features=["cancel.soft"],
            languages=[pb.Language(id="rpn", version="1", grammar="1", tree_schema="rpnast/1", tree_schema_json=json.dumps(SCHEMA).encode(), samples=samples, lacks=LACKS)],
            tools=[pb.Tool(name="rpn", language="rpn", description="Evaluates reverse Polish notation.", source_argument="code", parameters_schema_json=b'{"type":"object","properties":{"code":{"type":"string"}}}')],
            capacity=pb.Capacity(max_concurrent=AT_ONCE, max_source_bytes=MIB, max_tree_bytes=4 * MIB))
    def Configure(self, request, context):
        if request.config_json not in (b"", b"{}"): context.abort(grpc.StatusCode.INVALID_ARGUMENT, "this plugin takes no settings")
        return pb.ConfigureResponse()
    def Health(self, request, context): return pb.HealthResponse(state="DRAINING" if self.draining else "READY")
    def Drain(self, request, context):
        self.draining = True
        return pb.DrainResponse(inflight=self.inflight)
    def Stats(self, request, context):
        with self.lock: return pb.StatsResponse(uptime_ms=int((time.time() - self.begun) * 1000), inflight=self.inflight, waiting_verdict=self.waiting, submissions=self.inflight + sum(self.results.values()),
            results=self.results, output_bytes=self.out, cpu_us=int(sum(os.times()[:4]) * 1e6))
    def count(self, **by):
        with self.lock:
            for name, n in by.items(): setattr(self, name, getattr(self, name) + n)
    def Submit(self, requests, context):
        first = next(requests, None)
        if first is None or first.WhichOneof("kind") != "source": context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the first message is not a source")
        self.count(inflight=1)
        said, status = queue.Queue(), "INVALID"
        threading.Thread(target=self.listen, args=(requests, said), daemon=True).start()
        context.add_callback(lambda: said.put("gone"))
        try:
            for message in self.serve(first.source, said):
                if message == "disorder": break
                if message.WhichOneof("kind") == "result": status = pb.Result.Status.Name(message.result.status)
                yield message
            else: return
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "message out of order")
        except GeneratorExit: status = "CANCELLED"; raise
        finally:
            self.count(inflight=-1)
            with self.lock: self.results[status] += 1
    def listen(self, requests, said):
        try:
            for message in requests: said.put(message)
        except Exception: said.put("gone")
    def serve(self, src, said):
        done = lambda status, **more: pb.PluginMessage(result=pb.Result(status=status, **more))
        with self.lock: full, self.slots = self.slots <= 0, self.slots - (self.slots > 0)
        try:
            if self.draining or full: yield done("OVERLOADED"); return
            words, places = src.code.decode("utf-8", "replace").split(), {}
            for i, word in enumerate(words):
                if not (word in "+-*/" or word in ("print", "loop", "flood", "hoard") or (word.isascii() and word.isdigit() and len(word) < 1000)):
                    yield done("COMPILE_ERROR", problem=pb.Problem(type="SyntaxError", message=f"no such word: {word[:40]!r}", line=1)); return
                if len(places.setdefault(word, [])) < 16: places[word].append(f"1:{i}:1:{i + 1}")
            tree = json.dumps({"schema": "rpnast/1", "language": "rpn", "grammar": "1", "ast": {"words": places}, "code": {"sha256": hashlib.sha256(src.code).hexdigest(), "bytes": len(src.code)}}, sort_keys=True).encode()
            if len(src.code) > MIB or len(tree) > min(src.max_tree_bytes or 4 * MIB, 4 * MIB): yield done("TREE_TOO_LARGE"); return
            digest, parts = hashlib.sha256(tree).digest(), [tree[i:i + (1 << 18)] for i in range(0, len(tree), 1 << 18)]
            if not said.empty() and isinstance(said.queue[0], pb.HostMessage) and said.queue[0].WhichOneof("kind") != "cancel": yield "disorder"; return
            for i, part in enumerate(parts):
                last = i == len(parts) - 1
                yield pb.PluginMessage(tree=pb.TreePart(data=part, trailer=pb.TreeTrailer(tree_schema="rpnast/1", source_sha256=hashlib.sha256(src.code).digest(), tree_sha256=digest, tree_bytes=len(tree), nodes=len(words), depth=1) if last else None))
            self.count(waiting=1)
            try: answer = said.get(timeout=(src.verdict_wait_ms or 30000) / 1000)
            except queue.Empty: answer = "gone"
            finally: self.count(waiting=-1)
            if answer == "gone" or answer.WhichOneof("kind") == "cancel": yield done("CANCELLED"); return
            if answer.WhichOneof("kind") != "verdict": yield "disorder"; return
            if answer.verdict.tree_sha256 != digest: yield done("VERDICT_MISMATCH"); return
            if answer.verdict.WhichOneof("decision") != "approve": yield done("DENIED"); return
            yield from self.run(words, answer.verdict.approve.limits, said, done)
        finally:
            if not full: self.count(slots=1)
    def run(self, words, limits, said, done):
        child = subprocess.Popen([sys.executable, "-I", HERE, "--run", str((limits.memory_bytes or 512 * MIB) + 64 * MIB)], stdin=-1, stdout=-1, stderr=-1, env={"LANG": "C.UTF-8"})
        chunks, began, kept, omitted, status = queue.Queue(8), time.time(), 0, 0, None
        threading.Thread(target=lambda: ([chunks.put(c) for c in iter(lambda: child.stdout.read1(32768), b"")], chunks.put(None)), daemon=True).start()
        threading.Thread(target=lambda: (child.stdin.write(" ".join(words).encode()), child.stdin.close()), daemon=True).start()
        keep, ceiling, end = limits.stdout_bytes or 64 * MIB, limits.output_ceiling_bytes or 1 << 62, began + (limits.wall_ms or 30000) / 1000
        while True:
            try: chunk = chunks.get(timeout=0.01)
            except queue.Empty: chunk = b""
            if chunk is None: break
            if chunk and kept < keep:
                yield pb.PluginMessage(output=pb.Output(stream="STDOUT", data=chunk[:keep - kept])); self.count(out=len(chunk[:keep - kept]))
            took = min(len(chunk), keep - kept); kept += took; omitted += len(chunk) - took
            status = status or ("WALL_LIMIT" if time.time() > end else "OUTPUT_LIMIT" if kept + omitted > ceiling else "CANCELLED" if not said.empty() else None)
            if status: child.kill(); break
        words_left, code = child.stderr.read().decode() if not status else "", child.wait()
        more = dict(stdout_bytes=kept + omitted, stdout_omitted=omitted, truncated=omitted > 0, usage=pb.Usage(wall_us=int((time.time() - began) * 1e6)))
        if status or code in (9, -9, 1): yield done(status or "MEMORY_LIMIT", **more)
        elif code == 8: yield done("RUNTIME_ERROR", problem=pb.Problem(type=words_left.split(":")[0], message=words_left.partition(": ")[2], line=1), **more)
        else: yield done("OK", value=words_left, has_value=bool(words_left), **more)
def certificate():
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization as ser
    from cryptography.hazmat.primitives.asymmetric import ec
    key, name, now = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")]), datetime.datetime.now(datetime.timezone.utc)
    cert = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1).not_valid_before(now - datetime.timedelta(minutes=5)).not_valid_after(now + datetime.timedelta(days=3650))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), False).add_extension(x509.BasicConstraints(True, None), True).sign(key, hashes.SHA256()))
    return key.private_bytes(ser.Encoding.PEM, ser.PrivateFormat.PKCS8, ser.NoEncryption()), cert.public_bytes(ser.Encoding.PEM), cert.public_bytes(ser.Encoding.DER)
def main():
    if os.environ.get("GATEWAY_EXECUTOR_PLUGIN") != "gateway.executor.v1": sys.exit("this is a plugin of a Sluice gateway, which starts it itself")
    if "1" not in os.environ.get("PLUGIN_PROTOCOL_VERSIONS", "1").split(","): sys.exit("no version of the contract in common: this plugin speaks 1")
    LIBC.prctl(1, 9); handshake = os.dup(1); os.dup2(2, 1); os.set_inheritable(3, False)  # dies with its parent; what is printed goes to the log
    threading.Thread(target=lambda: (os.read(3, 1), os._exit(1)), daemon=True).start()  # and with the guard pipe
    executor, over = Executor(), threading.Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN); signal.signal(signal.SIGTERM, lambda *_: setattr(executor, "draining", True))
    server = grpc.server(futures.ThreadPoolExecutor(64), options=[("grpc.max_receive_message_length", 4 * MIB)])
    rpc.add_ExecutorServicer_to_server(executor, server)
    fixed = lambda name, method, do: server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, {method: grpc.unary_unary_rpc_method_handler(do)}),))
    fixed("grpc.health.v1.Health", "Check", lambda *_: b"\x08\x01"); fixed("plugin.GRPCController", "Shutdown", lambda *_: (over.set(), b"")[1])
    key, cert, der = certificate()
    path = os.path.join(os.environ["PLUGIN_UNIX_SOCKET_DIR"], "rpn")
    server.add_secure_port("unix:" + path, grpc.ssl_server_credentials([(key, cert)], os.environ["PLUGIN_CLIENT_CERT"].encode(), True))
    server.start(); os.write(handshake, f"1|1|unix|{path}|grpc|{base64.b64encode(der).decode().rstrip('=')}\n".encode())
    while not over.wait(3600): pass
    server.stop(0.2).wait(); os.path.exists(path) and os.unlink(path); os._exit(0)
main()
