# expect: blocked-keyword 6
import functools
u = chr(95) * 2
def f(): pass
def w(): pass
print(functools.update_wrapper(w, f, assigned=(u + 'globals' + u,)))
