# expect: blocked-keyword 5
from functools import wraps, partial
u = chr(95) * 2
def f(): pass
g = partial(wraps, assigned=(u,))
print(g(f))
