# expect: blocked-keyword 5
from functools import wraps
u = chr(95) * 2
def f(): pass
@wraps(f, (u + 'globals' + u,))
def w(): pass
print(w)
