# profile: solve, tool
import functools
from functools import wraps
def d(f):
    @wraps(f)
    def w(*a):
        return f(*a)
    return w
def e(f):
    @functools.wraps(f)
    def w(*a):
        return f(*a)
    return w
@d
@e
def g(x):
    return x
print(g(1))
