# expect: blocked-path 8
# kind: attribute-walk
import numpy as np

first = np
second = first
third, _ = second, 0
print(third.load("/tmp/x.npy"))
