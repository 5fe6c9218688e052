# profile: solve, tool
# kind: cpu
# expect-policy: allow
# expect-sandbox: CPU limit enforced from outside
# source: own
# detect: no response within the limit
# check: cage
import re

pattern = re.compile(r"^(\w+\s?)*$")
print(pattern.match("word " * 12 + "w" * 24 + "!"))
