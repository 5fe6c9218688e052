# expect: blocked-import 6
# kind: import
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: huggingface/smolagents#2094
import ctypes

libc = ctypes.CDLL(None)
libc.getenv.restype = ctypes.c_char_p
if libc.getenv(b"SOLVER_TOKEN"):
    print("PWNED")
