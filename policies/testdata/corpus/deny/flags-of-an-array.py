# expect: blocked-attribute 6
# kind: memory
import numpy as np

a = np.frombuffer(b"abc", dtype=np.uint8)
a.setflags(write=True)
