# expect: blocked-keyword 5
import functools
m = [functools][0]
def f(): pass
print(m.wraps(f, assigned=('x',)))
