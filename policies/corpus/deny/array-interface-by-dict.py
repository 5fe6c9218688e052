# expect: blocked-dunder 5, class-making 5
# kind: memory
import numpy as np

Raw = type("Raw", (), dict(__array_interface__={"data": (1, False), "shape": (1,), "typestr": "<i8", "version": 3}))
print(np.asarray(Raw()))
