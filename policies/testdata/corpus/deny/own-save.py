# expect: blocked-path 6
import numpy as np
class X:
    save = load = 1
n = [np][0]
n.save('/tmp/x', 1)
