# expect: blocked-dunder 13
# kind: memory
# expect-policy: reject
# expect-sandbox: a guest that can write its own process memory must still have nothing of value in it
# source: own (numpy __array_interface__ takes a raw pointer)
# judge: policy-only
# note: stays inside the guest's own process; with the policy off it prints PWNED in any sandbox
import numpy as np

victim = (3, 3, 3)

class View:
    __array_interface__ = {
        "version": 3, "shape": (6,), "typestr": "<i8",
        "data": (id(victim), False),
    }

cells = np.asarray(View())
spare = 1234567
cells[3] = id(spare)
if victim[0] == spare:
    print("PWNED")
cells[3] = id(3)
