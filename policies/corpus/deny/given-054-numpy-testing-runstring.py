# expect: blocked-attribute 9, partial-module 9
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: host files outside the read-only runtime image are not visible (no host /etc/hostname)
# source: own (numpy.testing.runstring is exec)
import numpy as np

scope = {}
np.testing.runstring("t = open('/etc/hostname').read()", scope)
if scope["t"].strip():
    print("PWNED")
