# expect: blocked-attribute 7, dunder-in-text 16, private-attribute 17
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in any caller frame: the guest code runs in a process that never held one
# source: CVE-2026-53753 (crawl4ai safe eval)
def climb():
    frame = me.gi_frame
    last = frame
    while frame is not None:
        last = frame
        frame = frame.f_back
    yield last

me = climb()
bottom = next(me)
grab = bottom.f_globals["__builtins__"]
table = grab if isinstance(grab, dict) else grab.__dict__
if table["__import__"]("os").environ.get("SOLVER_TOKEN"):
    print("PWNED")
