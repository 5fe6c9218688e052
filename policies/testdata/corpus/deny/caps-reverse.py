# expect: blocked-path 6
import numpy as np
def f():
    global h, g, e, d, c, b, a
    h = g; g = e; e = d; d = c; c = b; b = a; a = np
    return h.load('x')
print(f())
