# expect: blocked-attribute 9
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: zopefoundation/AccessControl GHSA-8xv7-89vj-q48c
import statistics

view = {"m": statistics}
leaked = "{m.sys.modules[os].environ[SOLVER_TOKEN]}".format_map(view)
if leaked:
    print("PWNED")
