# expect: blocked-dunder 7, blocked-name 7, blocked-attribute 8
# kind: import
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: langchain-ai/langchain#5872
pieces = ["o", "s"]
module = __import__("".join(pieces))
if "SOLVER_TOKEN" in module.environ:
    print("PWNED")
