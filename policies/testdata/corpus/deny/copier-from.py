# expect: blocked-keyword 6
from functools import update_wrapper as g
u = chr(95) * 2
def f(): pass
def w(): pass
print(g(w, f, (u + 'globals' + u,)))
