# expect: blocked-name 7
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: run-llama/llama_index#22184
def dig(thing, *parts):
    return getattr(thing, "__" + "".join(parts) + "__")

base = dig(dig((), "cl", "ass"), "ba", "se")
for cls in dig(base, "subclas", "ses")():
    if dig(cls, "na", "me") == "_wrap_close":
        if dig(dig(cls, "in", "it"), "glo", "bals")["environ"].get("SOLVER_TOKEN"):
            print("PWNED")
