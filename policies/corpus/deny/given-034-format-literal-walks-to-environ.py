# expect: blocked-attribute 8, private-attribute 8
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: CVE-2023-41039; huggingface/smolagents#2271
import random

leaked = "{0._os.environ[SOLVER_TOKEN]}".format(random)
if leaked:
    print("PWNED")
