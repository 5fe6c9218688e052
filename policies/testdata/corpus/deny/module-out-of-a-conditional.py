# expect: blocked-path 6
# kind: attribute-walk
import numpy as np
import math

print((np if math.pi else math).load("/tmp/x.npy"))
