# profile: solve, tool
# kind: attribute-walk
# expect-policy: allow
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: langflow-ai/langflow#13880
# note: a policy may reject .format on a non-literal receiver; a runtime guard must otherwise check the fields
import statistics

us = chr(95) * 2
field = ["m.sys.modules", "[os]", ".environ[SOLVER", chr(95), "TOKEN]"]
template = "{" + "".join(field) + "}"
if template.format(m=statistics):
    print("PWNED")
