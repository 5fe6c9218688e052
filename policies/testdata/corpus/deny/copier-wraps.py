# expect: blocked-keyword 5
import functools
u = chr(95) * 2
def f(): pass
@functools.wraps(f, updated=(u + 'globals' + u,))
def w(): pass
print(w)
