# expect: unchecked-resize 7
# kind: memory
import numpy as np

a = np.arange(10)
b = a[2:]
a.resize(1, refcheck=False)
print(b)
