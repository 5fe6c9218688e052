# expect: blocked-attribute 10, blocked-path 10
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: own
# note: CPython 3.12 and older
import typing

Vector = typing.List[float]
if typing.contextlib.os.environ.get("SOLVER_TOKEN"):
    print("PWNED")
