# expect: blocked-path 5
# kind: info-leak
import numpy as np

np.show_config()
print(np.get_include())
