# expect: private-attribute 6, dunder-in-text 8, blocked-attribute 9
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: huggingface/smolagents#1551
root = "".__class__.__mro__[-1]
guard = [c for c in root.__subclasses__() if c.__name__ == "catch_warnings"][0]
maker = guard()._module.__builtins__["__import__"]
if maker("os").environ.get("SOLVER_TOKEN"):
    print("PWNED")
