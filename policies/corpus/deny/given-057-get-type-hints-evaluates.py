# expect: dunder-in-text 8, blocked-attribute 11, blocked-path 11
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: own (typing.get_type_hints evaluates annotation strings)
import typing

def f(x: "__import__('os').environ.get('SOLVER_TOKEN') and int"):
    return x

if typing.get_type_hints(f)["x"] is int:
    print("PWNED")
